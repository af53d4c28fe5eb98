"""The tools whose manifest the Rust engine wrote (schema/wire/tools), as Python functions of the same arguments."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import msgspec

WIRE: Final = Path(__file__).parents[2] / "schema" / "wire" / "tools"

T = TypeVar("T")


def recorded(name: str) -> Any:
    """What the Rust engine wrote into that file."""
    return json.loads((WIRE / f"{name}.json").read_text(encoding="utf-8"))


class Line(msgspec.Struct):
    sku: str
    quantity: int
    price: float = 0.0


class Page(msgspec.Struct, Generic[T]):
    items: list[T]
    cursor: str | None = None


class Level(Enum):
    LOW = "low"
    HIGH = "high"
    NEEDS_HUMAN = "needs_human"


class Mode(Enum):
    FAST_PATH = "fast-path"
    SLOW = "SLOW"


def scalars(text: str, letter: str, flag: bool, i_8: int, i_64: int, u_8: int, u_64: int, size: int, f_32: float, f_64: float, boxed: str) -> str:
    """Every scalar type."""
    return "ok"


def optionals(
    needed: str,
    maybe_text: str | None = None,
    maybe_int: int | None = None,
    maybe_list: list[bool] | None = None,
    maybe_nested: str | None = None,
    with_default: int = 0,
) -> str:
    """Optional and defaulted arguments."""
    return "ok"


def containers(
    list: list[str],
    nested_list: Sequence[Sequence[int]],
    deque: Sequence[float],
    fixed: tuple[int, ...],
    set: set[str],
    map: dict[str, int],
    tree: dict[str, Sequence[Line]],
    list_of_optional: Sequence[bool | None],
    pair: tuple[str, int],
    any: Any,
) -> str:
    """Lists, sets, maps."""
    return "ok"


def nested(
    *,
    orderLine: Line,  # noqa: N803
    allLines: list[Line],  # noqa: N803
    maybeLine: Line | None = None,  # noqa: N803
    level: Level,
    modes: list[Mode],
    opaque: dict[str, Any],
    manyOpaque: list[dict[str, Any]],  # noqa: N803
    page: Page[Line],
    class_: str,
    type: str,
) -> str:
    """Nested types, enums, renames."""
    return "ok"


def no_args() -> str:
    """Takes nothing; "quotes" and ünïcode."""
    return "ok"


def refund(order_id: str, amount: int, note: str | None = None) -> str:
    """Refunds part of an order."""
    return f"refunded {amount} on {order_id}"


TWINS: Final[Sequence[Callable[..., str]]] = (scalars, optionals, containers, nested, no_args, refund)
