"""What stands around the body of a class: decorators, bases, options, type parameters."""

from __future__ import annotations

import dataclasses
import enum
import functools
import typing
from collections.abc import Callable, Collection
from typing import Any, Final, NamedTuple, Protocol, TypedDict, TypeVar, cast

import libcst as cst
import msgspec
import typing_extensions

from strata.codegen.allowed import is_trusted
from strata.codegen.faults import each, not_read, tried
from strata.codegen.origins import Kind, Origins
from strata.codegen.values import Frame, ModuleRef, Opaque

_DECORATORS: Final[frozenset[Any]] = frozenset(
    {
        *(dataclasses.dataclass, enum.unique, functools.total_ordering),
        *(typing.final, typing_extensions.final, typing.runtime_checkable, typing_extensions.runtime_checkable),
    }
)
_CALLED_DECORATORS: Final[frozenset[Any]] = frozenset({dataclasses.dataclass, enum.verify})

_TYPED_DICTS: Final[tuple[Any, ...]] = (TypedDict, typing_extensions.TypedDict)
_NAMED_TUPLES: Final[tuple[Any, ...]] = (NamedTuple, typing_extensions.NamedTuple)


class Evaluates(Protocol):
    """What is asked of expressions."""

    def value(self, node: cst.BaseExpression, frame: Frame) -> Any:
        """What an expression gives."""
        ...

    def annotation(self, node: cst.BaseExpression, frame: Frame) -> Any:
        """What an annotation means."""
        ...

    def default(self, node: cst.BaseExpression, frame: Frame) -> Any:
        """The value of a default."""
        ...

    def head(self, node: cst.BaseExpression, frame: Frame) -> Any:
        """What an annotation begins with: `ClassVar` of `ClassVar[int]`; None where that cannot be told."""
        ...


class Headers:
    """Evaluates them."""

    def __init__(self, evaluates: Evaluates, origins: Origins, trusted: Collection[str]) -> None:
        self._evaluates, self._origins, self._trusted = evaluates, origins, trusted

    def variables(self, node: cst.ClassDef | cst.TypeAlias, frame: Frame) -> dict[str, Any]:
        """The type parameters of `class Page[T: int]`, or of `type Pages[T]`.

        Raises:
            NotRead: a bound cannot be told.
        """
        if node.type_parameters is None:
            return {}
        return {parameter.param.name.value: self._variable(parameter.param, frame.postponed()) for parameter in node.type_parameters.params}

    def bases(self, node: cst.ClassDef, frame: Frame) -> tuple[Any, ...]:
        """The bases as they are written.

        Raises:
            NotRead: one cannot be told, or would change the class by code of its own.
        """
        if any(base.star for base in node.bases):
            raise not_read(f"the bases of '{node.name.value}' can only be told by running it", frame.module, node)
        return tuple(each(node.bases, lambda base: self._base(base.value, frame)))

    def options(self, node: cst.ClassDef, frame: Frame) -> dict[str, Any]:
        """`class Order(Struct, frozen=True)`.

        Raises:
            NotRead: one is a function, or cannot be told.
        """
        options: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.keyword is None or keyword.keyword.value == "metaclass":
                raise not_read(f"what makes class '{node.name.value}' can only be told by running it", frame.module, keyword)
            options[keyword.keyword.value] = value = self._evaluates.value(keyword.value, frame)
            if isinstance(value, Opaque):
                raise not_read(f"{value.what} would be called for '{keyword.keyword.value}', and is not run", frame.module, keyword)
        return options

    def decorator(self, decorator: cst.Decorator, frame: Frame) -> Callable[[Any], Any]:
        """What a decorator does to a class.

        Raises:
            NotRead: only running it tells.
        """
        call = decorator.decorator if isinstance(decorator.decorator, cst.Call) else None
        fn = self._evaluates.value(decorator.decorator if call is None else call.func, frame)
        known = _DECORATORS if call is None else _CALLED_DECORATORS
        if isinstance(fn, Opaque | ModuleRef) or not (fn in known or is_trusted(str(getattr(fn, "__module__", "")), self._trusted)):
            name = frame.module.code(decorator.decorator)
            raise not_read(f"what the decorator '{name}' makes of the class can only be told by running it", frame.module, decorator)
        if call is None:
            return cast("Callable[[Any], Any]", fn)
        args = [self._evaluates.value(argument.value, frame) for argument in call.args if argument.keyword is None]
        kwargs = {argument.keyword.value: self._evaluates.value(argument.value, frame) for argument in call.args if argument.keyword is not None}
        return tried(lambda: cast("Callable[[Any], Any]", fn(*args, **kwargs)), decorator, frame.module)

    def _variable(self, parameter: cst.TypeVar | cst.TypeVarTuple | cst.ParamSpec, frame: Frame) -> Any:
        make = cast("Callable[..., Any]", TypeVar)  # mypy wants the name of a variable twice
        match parameter:
            case cst.TypeVar(name=name, bound=None):
                return make(name.value)
            case cst.TypeVar(name=name, bound=cst.Tuple(elements=elements)):
                return make(name.value, *(self._evaluates.annotation(element.value, frame) for element in elements))
            case cst.TypeVar(name=name, bound=cst.BaseExpression() as bound):
                return make(name.value, bound=self._evaluates.annotation(bound, frame))
            case _:
                raise not_read(f"'{parameter.name.value}' stands for more than a type, of which there is no schema", frame.module, parameter)

    def _base(self, node: cst.BaseExpression, frame: Frame) -> Any:
        base = self._evaluates.value(node, frame)
        if isinstance(base, Opaque | ModuleRef):
            raise not_read(f"'{frame.module.code(node)}' is no class", frame.module, node)
        origin = self._origins.of(base)
        if origin is not None and "__init_subclass__" in origin.body.methods:
            raise not_read(f"'__init_subclass__' of '{origin.node.name.value}' may change the class, and is not run", frame.module, node)
        return base


def kind_of(bases: tuple[Any, ...]) -> Kind:
    """Which kind of class these bases make."""
    origins = [typing.get_origin(base) or base for base in bases]
    if any(base in _NAMED_TUPLES for base in origins):
        return "named tuple"
    if any(base in _TYPED_DICTS or typing_extensions.is_typeddict(base) for base in origins):
        return "typed dict"
    if any(isinstance(base, type) and issubclass(base, enum.Enum) for base in origins):
        return "enum"
    if any(isinstance(base, type) and issubclass(base, msgspec.Struct) for base in origins):
        return "struct"
    return "other"
