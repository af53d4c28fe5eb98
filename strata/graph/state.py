"""The state of a run: a frozen value that nodes take and give back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, Protocol, TypeVar, dataclass_transform

import msgspec

from strata.graph.reducers import ReducedField, Reducer, reduced

__all__ = ["State", "StateMeta", "SupportsReplace", "did_you_mean", "reduced", "replace_hint"]

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)

RESERVED = frozenset({"replace", "write"})


class SupportsReplace(Protocol[P, R_co]):
    """Anything whose checker knows a typed `__replace__`: how a field's name and type reach `replace` and `override`."""

    def __replace__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...


class StateMeta(msgspec.StructMeta):
    """Makes state types frozen and keyword-only, takes `reduced` fields in, and refuses what a state cannot be."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], /, **options: Any) -> StateMeta:
        options.setdefault("kw_only", True)
        options.setdefault("frozen", True)
        own = {field: value.fn for field, value in namespace.items() if isinstance(value, ReducedField)}
        plain = {field: value.field if isinstance(value, ReducedField) else value for field, value in namespace.items()}
        plain["__strata_reducers__"] = {**_inherited_reducers(bases), **own}
        state = super().__new__(cls, name, bases, plain, **options)
        _refuse_options(state)
        _refuse_names(state)
        return state


def _inherited_reducers(bases: tuple[type, ...]) -> dict[str, Reducer]:
    inherited: dict[str, Reducer] = {}
    for base in reversed(bases):
        inherited.update(getattr(base, "__strata_reducers__", {}))
    return inherited


def _refuse_options(state: StateMeta) -> None:
    options = state.__struct_config__
    if not options.frozen:
        raise TypeError(f"{state.__name__}: a state is frozen; remove frozen=False and give a changed state with replace(...)")
    if options.array_like:
        raise TypeError(f"{state.__name__}: a state is stored as an object; remove array_like=True (nested structs may have it)")


def _refuse_names(state: StateMeta) -> None:
    for field, stored in zip(state.__struct_fields__, state.__struct_encode_fields__, strict=True):
        fault = _fault_of_name(state.__name__, field) or _fault_of_stored_name(stored)
        if fault is not None:
            raise TypeError(f"{state.__name__}: {fault}")


def _fault_of_name(owner: str, field: str) -> str | None:
    if field in RESERVED:
        return f"'{field}' is a method of every state; rename the field to '{field}_' (msgspec.field(name='{field}') keeps its stored name)"
    mangled = f"_{owner.lstrip('_')}__"  # what Python makes of a field `__x` in the class body
    written = f"__{field[len(mangled) :]}" if field.startswith(mangled) else field
    if written.startswith("__"):
        return f"names that start with two underscores are Python's own; rename '{written}' to '{written.strip('_')}'"
    return None


def _fault_of_stored_name(stored: str) -> str | None:
    if stored.startswith("$"):
        return f"stored names that start with '$' are the engine's; rename '{stored}' to '{stored.lstrip('$')}' in rename= or field(name=)"
    return None


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(msgspec.field, reduced))
class State(msgspec.Struct, frozen=True, kw_only=True, metaclass=StateMeta):
    """The base of every state: a frozen, keyword-only msgspec struct.

        class Essay(State):
            min_score: int
            revision: int = 0

    The options of msgspec's structs work (`rename=`, `forbid_unknown_fields=`, `tag=`, ...), but for those that would
    make it mutable, positional or an array. Whether each field can be stored is found when a graph is compiled.

    Raises:
        TypeError: (at class creation) a field is named `replace`, `write` or `__...`, its stored name starts with `$`,
            or an option contradicts the above.
    """

    __strata_reducers__: ClassVar[Mapping[str, Reducer]]

    if TYPE_CHECKING:

        def replace(self: SupportsReplace[P, R_co], *args: P.args, **changes: P.kwargs) -> R_co:
            """This state with other values in the named fields; the rest is shared, not copied.

            Values are not checked here but when a node returns the state.

            Raises:
                TypeError: no such field (`replace_hint` finds the one that was meant).
            """
            ...

    else:
        # msgspec's own method, 0.09 us; a Python function around it, which could say what was meant, costs 0.43
        replace = msgspec.Struct.__replace__


def replace_hint(error: TypeError, state: type[State]) -> str | None:
    """What to say beside the error of `replace` with a field that `state` does not have; None for any other TypeError."""
    text = str(error)
    start = f"`{state.__name__}` has no field '"
    if not text.startswith(start):
        return None
    field = text[len(start) : -1]
    return f"{state.__name__} has no field '{field}'{did_you_mean(field, state.__struct_fields__)}"


def did_you_mean(name: str, known: tuple[str, ...]) -> str:
    """`: did you mean 'score'?` where one of the known names is close, else what there is to choose from."""
    from difflib import get_close_matches  # 3 ms to import, and needed only when something is wrong already

    close = get_close_matches(name, known, n=1)
    return f": did you mean '{close[0]}'?" if close else f"; it has {', '.join(known) or 'none'}"
