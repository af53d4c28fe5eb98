"""Fields of states that cannot be stored, and values that do not fit them."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import operator
import socket
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, NamedTuple, NewType, Protocol, TypedDict, TypeVar

import msgspec

from strata import State, StateGraph, edge, node, reduced

T = TypeVar("T")
Cents = NewType("Cents", int)
Streams = NewType("Streams", list[Iterator[int]])


def extend(old: list[str], new: list[str]) -> list[str]:
    return old + new


def count(old: int, new: int) -> int:
    return old + new


class Sized(Protocol):
    def size(self) -> int: ...


class Broken(State):
    conn: socket.socket  # E: state field Broken.conn cannot be stored: socket does not come back from JSON: make it a msgspec.Struct [strata-unstorable-field]
    work: Callable[[int], int] | None = None  # E: state field Broken.work cannot be stored: functions and other live objects [strata-unstorable-field]
    queue: list[deque[int]] = msgspec.field(default_factory=list)  # E: state field Broken.queue[] cannot be stored: deque does not come back from JSON: use list [strata-unstorable-field]
    paths: dict[str, Path]  # E: state field Broken.paths{} cannot be stored: Path does not come back from JSON: use str [strata-unstorable-field]
    kind: type[int]  # E: state field Broken.kind cannot be stored: type does not come back from JSON [strata-unstorable-field]
    thing: object  # E: state field Broken.thing cannot be stored: object does not say what comes back [strata-unstorable-field]
    pair: tuple[int, complex]  # E: state field Broken.pair[1] cannot be stored: complex does not come back [strata-unstorable-field]
    later: Later
    at: dict[tuple[int, datetime.date], str]  # E: state field Broken.at cannot be stored: keys of type tuple[int, date] do not come back from JSON: use str or int keys, or a list of pairs [strata-unstorable-field]
    flags: dict[bool, int]  # E: state field Broken.flags cannot be stored: keys of type bool do not come back [strata-unstorable-field]
    seen: set[list[int]]  # E: state field Broken.seen cannot be stored: list[int] cannot be in a set, it has no hash: use a list, or make it frozen [strata-unstorable-field]
    sized: Sized  # E: state field Broken.sized cannot be stored: Sized does not come back from JSON: make it a msgspec.Struct [strata-unstorable-field]
    stream: Iterator[int]  # E: state field Broken.stream cannot be stored: Iterator does not come back from JSON: make it [strata-unstorable-field]
    notes: Annotated[list[str], count]  # E: the reducer 'count' of state field Broken.notes does not merge two values of the field [strata-reducer]
    streams: Streams  # E: state field Broken.streams[] cannot be stored: Iterator does not come back from JSON [strata-unstorable-field]


class Later(State):
    number: complex  # E: state field Later.number cannot be stored: complex does not come back from JSON [strata-unstorable-field]


class Color(Enum):
    RED = 1


@dataclasses.dataclass
class Line:
    price: decimal.Decimal


class Point(NamedTuple):
    x: int


class Options(TypedDict):
    fast: bool


class Sound(State):
    cents: Cents = Cents(0)
    prices: dict[Cents, list[Cents]] = msgspec.field(default_factory=dict)
    shared: ClassVar[socket.socket]
    color: Color
    lines: list[Line]
    point: Point
    options: Options
    when: datetime.datetime
    key: uuid.UUID
    price: decimal.Decimal
    anything: Any
    mapping: Mapping[str, tuple[int, ...]]
    colors: dict[Color, set[Point]]
    notes: Annotated[list[str], extend] = msgspec.field(default_factory=list)
    log: list[str] = reduced(operator.add, default_factory=list)
    nothing: None = None


class Box(State, Generic[T]):
    content: T

    def emptied(self, content: T) -> Box[T]:
        return self.replace(content=content)


class Essay(State):
    score: int = 0
    title: str | None = None


@node
def draft(essay: Essay) -> Essay:
    return essay.replace(score=3, title=None)


essays = StateGraph(Essay).start(draft).compile()

Essay().replace(skore=3)  # E: Unexpected keyword argument "skore" for "replace" of "State"; did you mean "score"? [call-arg]
Essay().replace(score="high")  # E: Argument "score" to "replace" of "State" has incompatible type "str"; expected "int" [arg-type]
Box(content="text").replace(content=3)  # E: Argument "content" to "replace" of "State" has incompatible type "int"; expected "str" [arg-type]
essays.approve("ann").override(skore=3)  # E: Unexpected keyword argument "skore" for "override" of "Signal"; did you mean "score"? [call-arg]
essays.approve("ann").override(score="high")  # E: Argument "score" to "override" of "Signal" has incompatible type "str"; expected "int" [arg-type]
essays.approve("ann").override(score=3).override(title=None)
