"""A state with everything that JSON can say in an odd way. The graph that the recorded numbers were written by."""

from __future__ import annotations

from enum import Enum
from typing import Any

from msgspec import UNSET, Struct, UnsetType, field

from strata import State, StateGraph


class Colour(Enum):
    RED = "red"
    DARK_BLUE = "dark_blue"


class Inner(Struct, frozen=True, kw_only=True):
    zeta: int
    alpha: str | None
    maybe: int | UnsetType = UNSET


class Values(State, rename="camel"):
    text: str
    float_: float = field(name="float")
    tenth: float
    small: float
    big: float
    huge: float
    edge: float
    minus_zero: float
    float32: float
    int_min: int
    uint_max: int
    colour: Colour
    nothing: int | None
    inner: Inner
    list_of_inner: list[Inner]
    map: dict[str, float]
    pair: tuple[int, str]
    unit: None
    letter: str
    anything: Any
    zz_top: bool = field(name="ZZ top")


def same(values: Values) -> Values:
    return values


values = StateGraph(Values).add_node("keep", same).add_node("stop", same).add_edge("keep", "stop").add_interrupt_boundary("keep")
"""keep [boundary] -> stop; neither changes anything. Not compiled."""
