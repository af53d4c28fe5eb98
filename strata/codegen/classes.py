"""Classes made again from their source: real ones, with the same fields and none of the methods."""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass, replace
from typing import Any, ClassVar, Final, Generic, cast, get_origin

import libcst as cst
import msgspec

from strata.codegen.class_bodies import Member, Part, body_of, name_of
from strata.codegen.class_headers import Evaluates, Headers, kind_of
from strata.codegen.expressions import text_of
from strata.codegen.faults import Fault, NotRead, each, not_read, tried
from strata.codegen.origins import Kind, Origin, Origins
from strata.codegen.reaching import classes_in
from strata.codegen.stubs import as_compiled
from strata.codegen.values import Frame, Hidden, ModuleRef, Opaque, SourceFunction
from strata.graph.meanings import has_fields

_CONSTRUCTING: Final = ("__new__", "__init__", "__post_init__", "__attrs_pre_init__", "__attrs_post_init__")
_MAKING_MEMBERS: Final = ("__new__", "__init__", "_generate_next_value_")


@dataclass(frozen=True, slots=True)
class _Open:
    """An annotation that is still to be read."""

    name: str
    node: cst.BaseExpression
    frame: Frame


class Classes:
    """The classes of all modules, each made once.

    A class is made before its annotations are read, since they may speak of the class itself; `finish` reads them.
    """

    def __init__(self, evaluates: Evaluates, trusted: Collection[str]) -> None:
        self._evaluates, self._origins = evaluates, Origins()
        self._headers = Headers(evaluates, self._origins, trusted)
        self._made: dict[cst.ClassDef, type[Any]] = {}
        self._unfinished: deque[tuple[type[Any], list[_Open]]] = deque()
        self._unread: dict[type[Any], tuple[Fault, ...]] = {}

    def made(self, node: cst.ClassDef, frame: Frame, qualified_name: str) -> type[Any]:
        """The class, with annotations that may still be open.

        Raises:
            NotRead: its bases, options, defaults or members cannot be told.
        """
        if node not in self._made:
            self._made[node] = self._make(node, frame, qualified_name)
        return self._made[node]

    def finish(self) -> list[Fault]:
        """Read the annotations of all classes that were made, and of those that they name; the faults are what cannot be read."""
        faults: list[Fault] = []
        while self._unfinished:
            cls, annotations = self._unfinished.popleft()  # in the order in which they were made: bases go first
            try:
                self._annotate(cls, annotations)
            except NotRead as error:
                self._unread[cls] = error.faults
                faults.extend(error.faults)
            else:
                self._inherit_faults(cls)
        return faults

    def _inherit_faults(self, cls: type[Any]) -> None:
        """Of bases that could not be read, which of a TypedDict are not among those that Python knows."""
        origin = self._origins.of(cls)
        inherited = [fault for base in (() if origin is None else origin.bases) for fault in self._unread.get(get_origin(base) or base, ())]
        if inherited:
            self._unread[cls] = tuple(inherited)

    def faults_within(self, annotations: Iterable[Any]) -> list[Fault]:
        """What could not be read of the classes that annotations speak of: they stand there with fields of any type."""
        if not self._unread:
            return []
        return [fault for cls in classes_in(annotations) for fault in self._unread.get(cls, ())]

    def is_rebuilt(self, value: Any) -> bool:
        """Whether it is a class that was made here, generic ones with their arguments too."""
        return self._origins.of(value) is not None

    def attribute(self, cls: type[Any], name: str, node: cst.CSTNode, frame: Frame) -> Any:
        """What the body of such a class, or of a base, binds to a name.

        Raises:
            NotRead: nothing that could be told.
        """
        for base, origin in self._origins.lineage(cls):
            match origin.body.part(name):
                case cst.ClassDef() as inner:
                    return self.made(inner, origin.frame, f"{base.__qualname__}.{name}")
                case Member(value=cst.BaseExpression() as value, annotation=annotation) if annotation is None or origin.kind == "other":
                    return self._evaluates.value(value, replace(origin.frame, body=self._namespace(base, origin)))
                case None:
                    continue
                case _:
                    break
        raise not_read(f"'{cls.__name__}.{name}' can only be told by running it", frame.module, node)

    def instance(self, cls: Any, args: Sequence[Any], kwargs: Mapping[str, Any], node: cst.CSTNode, frame: Frame) -> Any:
        """An instance of such a class, or what stands for one that has no fields.

        Raises:
            NotRead: its own code would make it, and a schema might look at it.
        """
        lineage = [origin for _, origin in self._origins.lineage(cls)]
        name = lineage[0].node.name.value
        if has_fields(get_origin(cls) or cls):
            if running := [method for method in _CONSTRUCTING for origin in lineage if method in origin.body.methods]:
                raise not_read(f"'{name}' is made by its own '{running[0]}', which is not run", frame.module, node)
            return cls(*args, **kwargs)
        if issubclass(cls, str | msgspec.Meta) or any("documentation" in origin.frame.module.code(origin.node) for origin in lineage):
            raise not_read(f"what this '{name}' says can only be told by running it", frame.module, node)
        return Opaque(f"an instance of '{name}'")

    def variables(self, node: cst.ClassDef | cst.TypeAlias, frame: Frame) -> dict[str, Any]:
        """The type parameters of a class, or of an alias."""
        return self._headers.variables(node, frame)

    # Making one

    def _make(self, node: cst.ClassDef, outer: Frame, qualified_name: str) -> type[Any]:
        variables = self._headers.variables(node, outer)
        frame = replace(outer, variables=variables, body={}, made={})
        body = body_of(node, frame.module)
        decorators = [self._headers.decorator(decorator, frame) for decorator in reversed(node.decorators)]
        bases, options = self._headers.bases(node, frame), self._headers.options(node, frame)
        origin = Origin(node, body, frame, kind_of(bases), bases)
        annotations: list[_Open] = []
        fill = self._members(origin) if origin.kind == "enum" else self._fields(origin, qualified_name, annotations)

        def execute(namespace: Any) -> None:
            namespace["__module__"], namespace["__qualname__"] = frame.module.name, qualified_name
            if body.docstring is not None:
                namespace["__doc__"] = as_compiled(body.docstring)
            fill(namespace)

        if variables:
            bases = (*bases, cast("Any", Generic)[tuple(variables.values())])
        cls: type[Any] = tried(lambda: _decorated(types.new_class(node.name.value, bases, options, execute), decorators), node, frame.module)
        self._origins.add(cls, origin)
        if has_fields(cls):
            self._unfinished.append((cls, annotations))
        return cls

    def _fields(self, origin: Origin, qualified_name: str, annotations: list[_Open]) -> Callable[[Any], None]:
        """Defaults, and in place of annotations what only says which of them make fields."""
        seen: dict[str, Any] = {}
        marks: dict[str, Any] = {}
        values: dict[str, Any] = {}

        def read(part: Part) -> None:
            frame = replace(origin.frame, body=dict(seen))
            match part:
                case Member(annotation=None, value=cst.BaseExpression() as value):
                    seen[part.name] = self._attribute(value, frame)
                case Member(annotation=cst.BaseExpression() as annotation, value=value):
                    marks[part.name] = mark = self._mark(annotation, origin.kind, frame)
                    if get_origin(mark) is not ClassVar and not isinstance(mark, str):
                        annotations.append(_Open(part.name, annotation, frame))
                    if value is not None:
                        values[part.name] = seen[part.name] = self._evaluates.default(value, frame)
                case cst.ClassDef():
                    seen[part.name.value] = self.made(part, origin.frame, f"{qualified_name}.{part.name.value}")
                case _:
                    seen[name_of(part)] = Opaque(f"the method '{name_of(part)}'")

        each(origin.body.parts, read)

        def fill(namespace: Any) -> None:
            namespace.update(values)
            namespace["__annotations__"] = marks

        return fill

    def _members(self, origin: Origin) -> Callable[[Any], None]:
        """Those of an enum, evaluated in its own namespace: `B = A`, `auto()`."""
        module = origin.frame.module
        if making := [method for method in _MAKING_MEMBERS if method in origin.body.methods]:
            raise not_read(f"the members of '{origin.node.name.value}' are made by its '{making[0]}', which is not run", module, origin.node)

        def fill(namespace: Any) -> None:
            for member in origin.body.members:
                if member.value is None:
                    continue
                value = self._evaluates.value(member.value, replace(origin.frame, body=dict(namespace)))
                if isinstance(value, SourceFunction) or isinstance(member.value, cst.Lambda):
                    continue  # functions are methods, and no members
                if isinstance(value, Opaque | ModuleRef):
                    raise not_read(f"the value of '{member.name}' can only be told by running it", module, member.node)
                namespace[member.name] = value

        return fill

    def _attribute(self, node: cst.BaseExpression, frame: Frame) -> Any:
        """What is no field need not be understood, unless somebody asks for it."""
        try:
            return self._evaluates.value(node, frame)
        except NotRead:
            return Hidden("what the class assigns to it")

    def _mark(self, annotation: cst.BaseExpression, kind: Kind, frame: Frame) -> Any:
        """`ClassVar`, `InitVar` or `KW_ONLY` as msgspec and dataclasses find them, else Any."""
        text = text_of(annotation)
        if text is None and frame.module.bindings.postpones_annotations:
            text = frame.module.code(annotation)
        if kind == "struct" and text is not None and not text.startswith(("ClassVar", "typing.ClassVar")):
            return Any  # msgspec knows no other name in an annotation that is text
        match self._evaluates.head(annotation, frame):
            case head if head is ClassVar:
                return ClassVar[Any]
            case head if head is InitVar:
                return InitVar[Any]
            case head:
                return KW_ONLY if head is KW_ONLY else Any

    # Its annotations

    def _annotate(self, cls: type[Any], annotations: list[_Open]) -> None:
        origin = self._origins.of(cls)
        made = {} if origin is None else self._namespace(cls, origin)
        found = each(annotations, lambda item: self._evaluates.annotation(item.node, replace(item.frame, made=made).as_annotation()))
        inherited = _annotations_of(origin.bases) if origin is not None and origin.kind == "typed dict" else {}
        own = {item.name: value for item, value in zip(annotations, found, strict=True)}
        cls.__annotations__ = {**cls.__annotations__, **inherited, **own}

    def _namespace(self, cls: type[Any], origin: Origin) -> dict[str, Any]:
        """What the names of the body mean once the class is there, which is when annotations in text are read."""
        found: dict[str, Any] = {}
        for part in origin.body.parts:
            match part:
                case cst.ClassDef():
                    found[part.name.value] = self.made(part, origin.frame, f"{cls.__qualname__}.{part.name.value}")
                case cst.FunctionDef():
                    found[part.name.value] = Opaque(f"the method '{part.name.value}'")
                case Member(annotation=None, value=cst.BaseExpression() as value):
                    found[part.name] = self._attribute(value, replace(origin.frame, body=dict(found)))
                case Member() if part.name in vars(cls):
                    there: Any = vars(cls)[part.name]
                    found[part.name] = Hidden("the field of that name") if hasattr(there, "__get__") else there
                case _:
                    pass
        return found


def _decorated(cls: Any, decorators: Iterable[Callable[[Any], Any]]) -> Any:
    for decorator in decorators:
        cls = decorator(cls)
    return cls


def _annotations_of(bases: Iterable[Any]) -> dict[str, Any]:
    """A TypedDict copies those of its bases when it is made, which was before they were read."""
    found: dict[str, Any] = {}
    for base in bases:
        found |= getattr(get_origin(base) or base, "__annotations__", {})
    return found
