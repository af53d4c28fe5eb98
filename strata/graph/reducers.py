"""How a field of the state takes in what several writers give it at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar, cast, get_args, get_origin, get_type_hints, overload

import msgspec

from strata.graph.arguments import called
from strata.graph.texts import text_of

if TYPE_CHECKING:
    from strata.graph.state import State

T = TypeVar("T")

Reducer: TypeAlias = Callable[[Any, Any], Any]


class ReducedField:
    """What `reduced` leaves in a class body until the class is made: the reducer and the field that msgspec is to see."""

    __slots__ = ("field", "fn")

    def __init__(self, fn: Reducer, field: Any) -> None:
        self.fn, self.field = fn, field


@overload
def reduced(fn: Callable[[T, T], T], /, *, name: str | None = None) -> T: ...
@overload
def reduced(fn: Callable[[T, T], T], /, *, default: T, name: str | None = None) -> T: ...
@overload
def reduced(fn: Callable[[T, T], T], /, *, default_factory: Callable[[], T], name: str | None = None) -> T: ...
def reduced(
    fn: Callable[[Any, Any], Any], /, *, default: Any = msgspec.NODEFAULT, default_factory: Any = msgspec.NODEFAULT, name: str | None = None
) -> Any:
    """A field of a state whose writes are merged by `fn(old, new)` where several nodes write it in one superstep.

        class Research(State):
            notes: list[str] = reduced(operator.add, default_factory=list)

    Args:
        fn: sync and pure; takes the old value and the written one, gives the new value.
        default, default_factory, name: as in `msgspec.field`; without a default the field is required.

    Raises:
        TypeError: `fn` or `default_factory` cannot be called, both defaults were given, or the name is no text.
    """
    if not callable(fn):
        raise TypeError(f"reduced() takes the function that merges two values, not {fn!r}; write the default as default= or default_factory=")
    if default_factory is not msgspec.NODEFAULT:
        called(default_factory, "the default_factory= of a reduced field")
    if name is not None:
        text_of(name, "the name= of a reduced field")
    defaults = {key: value for key, value in (("default", default), ("default_factory", default_factory)) if value is not msgspec.NODEFAULT}
    return ReducedField(fn, msgspec.field(**defaults, name=name))


def reducers_of(state: type[State]) -> Mapping[str, Reducer]:
    """The reducers of a state type by field (Python names, in field order); fields without one are not in it.

    A field has one if it was declared with `reduced`, or as `Annotated[T, fn]`; `reduced` wins where both stand.
    """
    found = {**_annotated_reducers(state), **state.__strata_reducers__}
    return MappingProxyType({name: found[name] for name in state.__struct_fields__ if name in found})


def _annotated_reducers(state: type[State]) -> dict[str, Reducer]:
    found: dict[str, Reducer] = {}
    for name, hint in get_type_hints(state, include_extras=True).items():
        if get_origin(hint) is Annotated:
            for mark in get_args(hint)[1:]:
                if callable(mark) and not isinstance(mark, type):
                    found[name] = cast("Reducer", mark)
    return found
