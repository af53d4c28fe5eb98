"""Why the values of a type do not come back from JSON: one set of words for types, source text and mypy."""

from __future__ import annotations

from typing import Final

LIVE: Final = "functions and other live objects cannot be stored: keep a name, and look the object up with ctx.service(...)"
OBJECT: Final = "object does not say what comes back: name the type, or use Any for plain JSON values"

TUPLE_BESIDE_LIMITS: Final = (
    "a tuple of fixed length beside a value with limits, in one union, crashes msgspec: make the tuple a NamedTuple, or move the limits into a class"
)

ADVICE: Final = {
    "collections.deque": "use list, and cut it where you append",
    "collections.Counter": "use dict[str, int]",
    "collections.defaultdict": "use dict, and setdefault where you write",
    "collections.OrderedDict": "use dict, which keeps its order",
    "pathlib.PurePath": "use str, and make the path where you need it",
    "fractions.Fraction": "use tuple[int, int], or Decimal",
    "builtins.BaseException": "keep its text as str",
    "builtins.type": "keep its name as str, or use an enum",
}
"""What to do in place of a class, or of one that derives from it."""

_MAKE_IT_ONE = "make it a msgspec.Struct or a dataclass, or keep what it is made from"


def of_class(name: str, known: str | None = None) -> str:
    """Of a class that JSON has no form for; `known` is the one with `ADVICE` that it is, or derives from."""
    return f"{name} does not come back from JSON: {_MAKE_IT_ONE if known is None else ADVICE[known]}"


def of_view(name: str) -> str:
    return f"{name} is a view of somebody's bytes: use bytes"


def of_key(name: str) -> str:
    return f"keys of type {name} do not come back from JSON: use str or int keys, or a list of pairs"


def of_member(name: str) -> str:
    """Of what a set holds."""
    return f"{name} cannot be in a set, it has no hash: use a list, or make it frozen"
