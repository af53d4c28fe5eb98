"""From a name in a module to what it means there, through imports."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Collection, Iterator
from importlib import import_module
from types import ModuleType
from typing import Any, Final, TypeAlias

import libcst as cst

from strata.codegen.allowed import is_own, may_import
from strata.codegen.bindings import Alternatives, Assigned, Binding, Import, Star, Unclear
from strata.codegen.faults import Fault, NotRead, not_read
from strata.codegen.modules import Modules, SourceModule
from strata.codegen.values import Frame, Hidden, ModuleRef, SourceFunction, ToolDecorator
from strata.rules import codes

_CONTEXTS: Final = frozenset({"ToolContext", "Context"})

Made: TypeAlias = Callable[[Binding, SourceModule], Any]
"""Makes what a class, an assignment or a type alias binds."""


class NotThere(NotRead):
    """The module is known, and has no such name."""


class Names:
    """What the names of all modules mean, each found out once.

    Attributes:
        warnings: what works for checkers alone.
    """

    def __init__(self, modules: Modules, trusted: Collection[str], make: Made) -> None:
        self._modules, self._trusted, self._make = modules, trusted, make
        self._known: dict[tuple[str, str, int], Any] = {}
        self._unknown: dict[tuple[str, str, int], NotRead] = {}
        self._asked: set[tuple[str, str, int]] = set()
        self.warnings: list[Fault] = []

    def lookup(self, name: str, node: cst.CSTNode, frame: Frame) -> Any:
        """What a name means where it stands.

        Raises:
            NotRead: it is not known, or means nothing that could be told.
        """
        for names in (frame.variables, frame.body):
            if name in names:
                return self._shown(names[name], name, node, frame)
        binding = frame.module.bindings.of(name, before=frame.before)
        for star in frame.module.bindings.stars_after(binding, before=frame.before):
            if self.gives(star, name, frame.module):
                self._for_checkers(star, name, node, frame)
                return self.member(star.module, name, star.node, frame.module)
        if binding is not None:
            self._for_checkers(binding, name, node, frame)
            return self._meaning(binding, frame.module)
        if frame.before is None and name in frame.made:
            return self._shown(frame.made[name], name, node, frame)
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise self._unresolved(name, node, frame)

    def _shown(self, found: Any, name: str, node: cst.CSTNode, frame: Frame) -> Any:
        if isinstance(found, Hidden):
            raise not_read(f"'{name}' means {found.by} here", frame.module, node, hint="give the type, or the field, another name")
        return found

    def member(self, module: str, name: str, node: cst.CSTNode, importer: SourceModule) -> Any:
        """What a module gives under a name: something that it binds, or a module inside it.

        Raises:
            NotRead: it cannot be told; `NotThere`: there is no such name.
        """
        if is_own(module) and name == "strata_tool":
            return ToolDecorator()
        if may_import(module, self._trusted):
            return self._real_member(module, name, node, importer)
        source = self._modules.module(module)
        if source is not None and self.binds(source, name):
            return self.lookup(name, node, Frame(source))
        if self._modules.has(f"{module}.{name}"):
            return ModuleRef(f"{module}.{name}")
        if source is None and not self._modules.has(module):
            raise self._foreign(module, name, node, importer)
        text = f"module '{module}' has no '{name}'" if source is None or not source.bindings.makes_names else f"'{name}' is made by '{module}'"
        raise NotThere(Fault(code=codes.TOOL_UNRESOLVED, text=text, module=importer, node=node))

    def binds(self, source: SourceModule, name: str) -> bool:
        """Whether a module has a name, by a star if need be."""
        return source.bindings.of(name, before=None) is not None or any(self.gives(star, name, source) for star in source.bindings.stars)

    def gives(self, star: Star, name: str, importer: SourceModule) -> bool:
        """Whether a name comes by a star; that of a module that is not looked into gives none."""
        return name in self._given_by(star, importer)

    def _meaning(self, binding: Binding, module: SourceModule) -> Any:
        key = module.name, binding.name, binding.order
        if key in self._unknown:
            raise self._unknown[key]
        if key not in self._known:
            if key in self._asked:
                raise not_read(f"'{binding.name}' is made of itself", module, binding.node)
            self._asked.add(key)
            try:
                self._known[key] = self._bound(binding, module)
            except NotRead as error:
                self._unknown[key] = error
                raise
            finally:
                self._asked.discard(key)
        return self._known[key]

    def _bound(self, binding: Binding, module: SourceModule) -> Any:
        match binding.bound:
            case Import(target, name):
                return self._import(target, name, binding.node, module)
            case Alternatives(alternatives):
                return self._first_there(alternatives, module)
            case Unclear(why):
                raise not_read(f"what '{binding.name}' is cannot be told: {why}", module, binding.node)
            case cst.FunctionDef() as function:
                return SourceFunction(f"the function '{binding.name}'", module, function)
            case Assigned() | cst.ClassDef() | cst.TypeAlias():
                return self._make(binding, module)

    def _import(self, target: str, name: str | None, node: cst.CSTNode, module: SourceModule) -> Any:
        if name is None:
            return ModuleRef(target)
        if target == module.name and self._modules.has(f"{target}.{name}"):  # a package asks itself for its module
            return ModuleRef(f"{target}.{name}")
        return self.member(target, name, node, module)

    def _first_there(self, alternatives: tuple[Binding, ...], module: SourceModule) -> Any:
        *first, last = alternatives
        for binding in first:
            try:
                return self._bound(binding, module)
            except NotThere:
                continue
        return self._bound(last, module)

    def _given_by(self, star: Star, importer: SourceModule) -> Collection[str]:
        """The names of `from module import *`; none of a module that is not looked into."""
        if may_import(star.module, self._trusted):
            real = self._imported(star.module, star.node, importer)
            return frozenset(getattr(real, "__all__", [name for name in dir(real) if not name.startswith("_")]))
        source = self._modules.module(star.module)
        return () if source is None else frozenset(self._public(source))

    def _public(self, source: SourceModule) -> Iterator[str]:
        if source.bindings.of("__all__", before=None) is not None:
            yield from self.lookup("__all__", source.tree, Frame(source))
            return
        yield from (binding.name for binding in source.bindings.all if not binding.name.startswith("_"))
        for star in source.bindings.stars:
            yield from (name for name in self._given_by(star, source) if not name.startswith("_"))

    def _real_member(self, module: str, name: str, node: cst.CSTNode, importer: SourceModule) -> Any:
        real = self._imported(module, node, importer)
        if hasattr(real, name):
            found = getattr(real, name)
            return ModuleRef(found.__name__) if isinstance(found, ModuleType) else found
        inner = f"{module}.{name}"
        try:
            import_module(inner)
        except ImportError:
            raise NotThere(Fault(code=codes.TOOL_UNRESOLVED, text=f"module '{module}' has no '{name}'", module=importer, node=node)) from None
        return ModuleRef(inner)

    def _imported(self, module: str, node: cst.CSTNode, importer: SourceModule) -> Any:
        try:
            return import_module(module)
        except ModuleNotFoundError as error:
            raise NotThere(Fault(code=codes.TOOL_UNRESOLVED, text=f"there is no module '{error.name}'", module=importer, node=node)) from None
        except Exception as error:  # of whatever kind: a trusted package does as it likes
            text = f"importing '{module}' raised {type(error).__name__}: {error}"
            raise not_read(text, importer, node, code=codes.TOOL_UNRESOLVED) from error

    def _for_checkers(self, binding: Binding | Star, name: str, node: cst.CSTNode, frame: Frame) -> None:
        """Tell of a name that a running program will not find. The context of a call is known by its name alone."""
        if not binding.for_checkers or frame.for_checkers or frame.module.bindings.makes_names or _is_context(binding):
            return
        text = f"'{name}' is bound for type checkers only"
        if frame.before is not None:
            raise not_read(f"{text}, and asked for as the module is imported", frame.module, node, code=codes.TOOL_UNRESOLVED)
        self.warnings.append(
            Fault(
                code=codes.TOOL_FOR_CHECKERS,
                severity="warning",
                text=f"{text}: a running program will not find it",
                module=frame.module,
                node=node,
                hint="import it outside of `if TYPE_CHECKING:`",
            )
        )

    def _unresolved(self, name: str, node: cst.CSTNode, frame: Frame) -> NotRead:
        if frame.module.bindings.of(name, before=None) is not None:
            text = f"'{name}' is asked for above the line that binds it"
            return not_read(text, frame.module, node, code=codes.TOOL_UNRESOLVED, hint="move it below that line")
        unseen = [star.module for star in frame.module.bindings.stars if not self._given_by(star, frame.module)]
        hint = f"it may come from `from {unseen[0]} import *`: import it by its name" if unseen else None
        return not_read(f"'{name}' is bound nowhere in '{frame.module.name}'", frame.module, node, code=codes.TOOL_UNRESOLVED, hint=hint)

    def _foreign(self, module: str, name: str, node: cst.CSTNode, importer: SourceModule) -> NotRead:
        package = module.partition(".")[0]
        if self._modules.has(package):
            return not_read(f"there is no module '{module}'", importer, node, code=codes.TOOL_UNRESOLVED)
        return not_read(
            f"'{name}' comes from '{module}', which is not among the sources and is not imported to be read",
            importer,
            node,
            code=codes.TOOL_FOREIGN,
            hint=f'if importing it does no harm, say trusted-imports = ["{package}"] under [tool.strata] in pyproject.toml',
        )


def _is_context(binding: Binding | Star) -> bool:
    return isinstance(binding, Binding) and isinstance(binding.bound, Import) and is_own(binding.bound.module) and binding.name in _CONTEXTS
