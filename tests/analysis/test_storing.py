"""`strata check` tells a field that cannot be stored as `compile()` does, and no field that can be."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from random import Random
from textwrap import dedent
from typing import Any

import pytest

from strata.analysis.checking import check
from strata.analysis.storing import LIVE_CLASSES
from strata.graph.storable import storable_faults
from strata.rules import codes, unstorable
from tests.analysis.running import known_as, run

OPENING = """\
from __future__ import annotations
import array, asyncio, builtins, collections, collections.abc, concurrent.futures, contextvars, datetime, decimal, enum, fractions, io, ipaddress
import logging, pathlib, queue, random, re, socket, sqlite3, subprocess, threading, types, typing, uuid, zoneinfo
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Dict, Generic, List, Literal, NamedTuple, NewType, Optional, Protocol, Tuple, TypedDict, TypeVar, Union
import attrs, msgspec
from strata import State, StateGraph, node

T = TypeVar("T")
Score = NewType("Score", int)
Work = Callable[[int], int]
Files = list[Path]

class Plain: pass
class Kept(Plain): pass
class Sized(Protocol): pass
class Holder(Generic[T]): pass
class Broken(ValueError): pass
class Line(msgspec.Struct, frozen=True):
    total: int
    inner: Optional[Line] = None
class Sent(msgspec.Struct, frozen=True):
    by: deque[int]
class Other(State):
    line: Line | None = None
@dataclass(frozen=True)
class Street:
    name: str
@attrs.frozen
class Town:
    name: str
class Point(NamedTuple):
    x: int
class Options(TypedDict):
    fast: bool
class Colour(enum.Enum):
    RED = "red"

"""
GRAPH = """
@node
def work(state: Box) -> Box: return state
StateGraph(Box).start(work).compile()
"""
STORED = [
    *("int", "str", "float", "bool", "bytes", "Any", "list", "dict", "Score", "Line", "Other", "Street", "Town", "Point", "Options", "Colour"),
    *("datetime.datetime", "datetime.date", "uuid.UUID", "decimal.Decimal", "Literal['a', 'b']", "typing.Any"),
]
NOT_STORED = [
    *("object", "complex", "deque", "deque[int]", "Path", "socket.socket", "ValueError", "type", "type[int]", "memoryview", "msgspec.Raw", "Plain"),
    *("Kept", "Sized", "Broken", "Sent", "Callable[[int], int]", "Work", "fractions.Fraction", "pathlib.PurePath", "collections.Counter[str]"),
    *("typing.Callable[..., Any]", "Holder[int]", "collections.abc.Iterator[int]"),
]
AROUND = [
    *("list[{}]", "List[{}]", "Sequence[{}]", "dict[str, {}]", "Mapping[str, {}]", "Dict[int, {}]", "tuple[{}, ...]", "tuple[int, {}]", "Tuple[{}]"),
    *("{} | None", "Optional[{}]", "Union[{}, None]", "Annotated[{}, 3]", '"list[{}]"', "dict[str, list[{}]]"),
]
REFUSED_CONTAINERS = [
    *("dict[tuple[int, str], int]", "dict[list[int], int]", "dict[bool, int]", "dict[Line, int]"),
    *("set[list[int]]", "frozenset[dict[str, int]]"),
]


def told(annotations: list[str], folder: Path) -> tuple[set[str], set[str]]:
    """What `compile()` says of a state with such fields, and what `strata check` says."""
    fields = "".join(f"    field_{number}: {annotation}\n" for number, annotation in enumerate(annotations))
    module = folder / "boxes.py"
    module.write_text(f"{OPENING}class Box(State):\n{fields or '    pass'}{GRAPH}", encoding="utf-8")
    problems = check([module], folder).problems
    assert {problem.code for problem in problems} <= {codes.UNSTORABLE_FIELD}, problems
    module.write_text(module.read_text(encoding="utf-8").replace(GRAPH, ""), encoding="utf-8")
    with known_as("boxes") as boxes:
        run(module, boxes)
        compiled = {f"state field {fault.path} cannot be stored: {fault.reason}" for fault in storable_faults(boxes.Box)}
    return compiled, {problem.text for problem in problems}


def test_what_can_be_stored_is_not_told(tmp_path: Path) -> None:
    assert told([*STORED, "None", *(around.format(kind) for around in AROUND for kind in STORED)], tmp_path) == (set(), set())


def test_what_cannot_be_stored_is_told_as_compile_tells_it(tmp_path: Path) -> None:
    compiled, checked = told([*NOT_STORED, *REFUSED_CONTAINERS], tmp_path)
    assert checked == compiled
    assert len(checked) == len(NOT_STORED) + len(REFUSED_CONTAINERS)


@pytest.mark.parametrize("seed", range(20))
def test_types_around_types_are_told_as_compile_tells_them(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    around = [shape.strip('"') for shape in AROUND]
    annotations = [random.choice(around).format(random.choice(around).format(random.choice(STORED + NOT_STORED))) for _ in range(30)]
    compiled, checked = told(annotations, tmp_path)
    assert checked == compiled
    assert checked


@pytest.mark.parametrize("path", sorted({*LIVE_CLASSES, *unstorable.ADVICE} - {"builtins.type"}))
def test_each_class_that_is_known_by_its_name_is_one_that_compile_refuses(path: str, tmp_path: Path) -> None:
    module, _, name = path.rpartition(".")
    assert getattr(import_module(module), name) is not None
    compiled, checked = told([path], tmp_path)
    assert checked == compiled
    assert len(checked) == 1


OPEN: list[tuple[str, str]] = [
    ("a class of nobody knows what", "from elsewhere import Thing\nclass Box(State):\n    field: Thing"),
    ("a class that a decorator may have changed", "@register\nclass Thing: pass\nclass Box(State):\n    field: Thing"),
    ("a name that stands for two things", "Thing = deque\nThing = list\nclass Box(State):\n    field: Thing"),
    ("another name for checkers", "if TYPE_CHECKING:\n    Thing = deque\nelse:\n    Thing = list\nclass Box(State):\n    field: Thing"),
    ("a name of the class itself", "class Box(State):\n    class Path(Line): pass\n    field: Path"),
    ("a field of two bases", "class A(State):\n    field: Path\nclass B(State):\n    field: str\nclass C(A): pass\nclass Box(C, B): pass"),
    ("a field under a new type", "class A(State):\n    field: Path\nclass Box(A):\n    field: str"),
    ("a class whose base is not known", "from elsewhere import Thing\nclass Mine(Thing): pass\nclass Box(State):\n    field: Mine"),
    ("a base that is not known", "from elsewhere import Thing\nclass A(State):\n    field: Path\nclass Box(Thing, A): pass"),
    ("a variable", "class Box(State, Generic[T]):\n    field: T"),
    ("no expression", 'class Box(State):\n    field: "list["'),
]


@pytest.mark.parametrize(("what", "state"), OPEN, ids=[what for what, _ in OPEN])
def test_what_cannot_be_told_is_not_told(what: str, state: str, tmp_path: Path) -> None:
    module = tmp_path / "boxes.py"
    module.write_text(OPENING + dedent(state) + "\n" + GRAPH, encoding="utf-8")
    report: Any = check([module], tmp_path)
    assert (report.problems, report.unreadable) == ([], [])
