"""What is read from source is what the imported module says, byte for byte."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.codegen.projects import from_import, from_source, read, told, written

HEAD = """\
import datetime as dt
import enum
import uuid
import typing as t
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Any, ClassVar, Final, Generic, Literal, NamedTuple, NewType, Optional, TypedDict, TypeVar, Union
import msgspec
from msgspec import Meta, Struct
from typing_extensions import NotRequired, Required
from strata import ToolContext, strata_tool
"""

CASES = {
    "a struct with options, renamed and with defaults": """
        class Address(Struct, rename="camel", forbid_unknown_fields=True):
            \"\"\"A postal address.\"\"\"
            street_name: str
            zip_code: Annotated[str, Meta(pattern="^[0-9]{5}$", description="five digits")]
            lines: list[str] = []
            labels: dict[str, int] = msgspec.field(default_factory=dict)
            country: str = msgspec.field(default="NL", name="land")

        @strata_tool
        def f(a: Address, b: Address | None = None) -> None:
            "Do."
        """,
    "a dataclass with all that makes no field of a name": """
        @dataclass(frozen=True, slots=True)
        class Item:
            sku: str
            TOTAL: ClassVar[int] = 3
            _: KW_ONLY
            quantity: Annotated[int, Meta(ge=1, le=TOTAL)] = 1
            tags: list[str] = field(default_factory=list)
            made: float = field(default=0.5, repr=False)

        @strata_tool
        def f(item: Item, other: Item = Item("a", quantity=2)) -> None:
            "Do."
        """,
    "typed dictionaries that inherit": """
        class Base(TypedDict):
            a: Required[int]
            b: NotRequired[Annotated[str, "said"]]

        class Options(Base, total=False):
            c: "list[Options]"
            d: Required[bool]

        @strata_tool
        def f(options: Options) -> None:
            "Do."
        """,
    "a named tuple": """
        class Point(NamedTuple):
            x: float
            y: float = 0.0

        @strata_tool
        def f(at: Point, way: list[Point] = [Point(1.0), Point(2.0, 3.0)]) -> None:
            "Do."
        """,
    "enums of every kind": """
        class Color(enum.Enum):
            RED = "red"
            BLUE = "blue"
            AZURE = BLUE

            def shout(self) -> str:
                return self.value.upper()

        class Level(enum.IntEnum):
            LOW = enum.auto()
            HIGH = enum.auto()

        class Kind(enum.StrEnum):
            First = enum.auto()
            SECOND = First + "-and-more"

        @enum.unique
        class Mixed(str, enum.Enum):
            A = "a"

        @strata_tool
        def f(color: Color = Color.AZURE, level: Level = Level.HIGH, kind: Kind = Kind.SECOND, mixed: Optional[Mixed] = None) -> None:
            "Do."
        """,
    "generic classes and their aliases": """
        T = TypeVar("T")
        N = TypeVar("N", bound=int)

        class Page(Struct, Generic[T]):
            items: list[T]
            cursor: str | None = None

        class Numbers(Page[N], Generic[N], kw_only=True):
            total: N

        Pages = list[Page[str]]

        @strata_tool
        def f(page: Page[Page[int]], pages: Pages, numbers: Numbers[int]) -> None:
            "Do."
        """,
    "types that hold themselves": """
        class Tree(Struct):
            label: str
            inside: list["Tree"] = []
            other: Optional["Leaf"] = None

        class Leaf(Struct):
            back: "Tree | None" = None

        @strata_tool
        def f(tree: Tree) -> None:
            "Do."
        """,
    "classes inside of classes": """
        class Order(Struct):
            class Line(Struct):
                sku: str
                class Kind(enum.Enum):
                    A = "a"
                kind: Kind = Kind.A
            lines: list[Line]

        @strata_tool
        def f(order: Order, line: Order.Line, kind: Order.Line.Kind = Order.Line.Kind.A) -> None:
            "Do."
        """,
    "new types, aliases and constants": """
        UserId = NewType("UserId", str)
        LIMIT: Final = 2 * 5
        LOW, HIGH = -1, LIMIT ** 2
        Cents = Annotated[int, Meta(ge=LOW, le=HIGH), f"at most {HIGH}"]
        Mode: t.TypeAlias = Literal["fast", "deep"]
        Later: t.TypeAlias = "list[Cents]"
        CHOICES = ("b", "a")

        class Limits:
            MOST = 7

        @strata_tool
        def f(
            user: UserId, cents: Cents, later: Later, mode: Mode = "fast", one: Literal[*CHOICES] = CHOICES[0],
            most: Annotated[int, Meta(le=Limits.MOST)] = Limits.MOST, who: UserId = UserId("me"),
        ) -> None:
            "Do."
        """,
    "times, unions and values that are made": """
        DAY = dt.timedelta(days=1)

        @strata_tool
        def f(
            when: dt.datetime, zone: Annotated[dt.time, Meta(tz=False)], ident: uuid.UUID | None = None, day: dt.timedelta = DAY,
            since: dt.date = dt.date(2020, 1, 2), any_of: Union[int, str, None] = 3, raw: bytes = b"", where: tuple[float, ...] = (0.0, 1.5),
            utc: dt.datetime = dt.datetime(2020, 1, 2, tzinfo=dt.timezone.utc), both: tuple[int, "str"] = (1, "a"), nothing: None = None,
        ) -> None:
            "Do."
        """,
    "tagged structs": """
        class Cat(Struct, tag=True):
            lives: int = 9

        class Dog(Struct, tag="the-dog", tag_field="type"):
            good: bool

        class Cow(Struct, tag=True):
            pass

        @strata_tool
        def f(pet: Cat | Cow, other: Union[Cat, None] = None) -> None:
            "Do."
        """,
    "what stands beside a type": """
        marker = object()

        class Mark:
            def __init__(self, what: str) -> None: ...

        def check(value: int) -> int: ...

        @strata_tool
        def f(a: Annotated[int, marker, "how many"], b: Annotated[str, Mark("x"), lambda: 1, check, Meta(min_length=1)] = "x") -> None:
            "Do."
        """,
    "decorators with options, under any name": """
        import strata as s
        import strata.tools
        from strata.tools import strata_tool as tool
        strict = s.strata_tool("a.strict", description="Says " + "so.", forbid_unknown_fields=True)

        @strata_tool("k8s.pods", approve=lambda given: given["n"] > 3, timeout=dt.timedelta(seconds=3))
        async def pods(n: int) -> str:
            "List."

        @s.strata_tool(description="Given.")
        def given(n: int) -> str: ...

        @tool()
        def called(n: int) -> str:
            "Called."

        @strata.tools.strata_tool
        def dotted(n: int) -> str:
            "Dotted."

        @strict
        def strictly(n: int) -> str: ...
        """,
    "contexts, wherever they stand": """
        from strata import Context

        @strata_tool
        def first(ctx: ToolContext, n: int) -> str:
            "First."

        @strata_tool
        def last(n: int, *, of_the_call: Optional[ToolContext] = None) -> str:
            "Last."

        @strata_tool
        def node(n: int, node: "Annotated[Context, 'the node']") -> str:
            "Node."
        """,
    "generators and docstrings": """
        @strata_tool
        async def pieces(n: int):
            '''Give pieces.

            Args:
                n (int): how many,
                    at most
            '''
            for number in range(n):
                yield str(number)

        @strata_tool
        def listed(n: int):
            '''Give all.

            :param n: how many
            '''
            yield from range(n)
        """,
    "words that Python keeps to itself": """
        @strata_tool
        def f(class_: str, from_: int = 1, _private: bool = False) -> str:
            "Do."
        """,
    "a value that a test of the version gives": """
        import sys
        if sys.version_info >= (3, 9):
            Many = list[int]
        else:
            Many = int
        try:
            from typing import ThisIsNotThere as Text
        except ImportError:
            Text = str
        try:
            import tomllib
        except ImportError:
            tomllib = None

        @strata_tool
        def f(many: Many, text: Text) -> str:
            "Do."
        """,
}


@pytest.mark.parametrize("postponed", [False, True], ids=["", "postponed"])
@pytest.mark.parametrize("case", CASES)
def test_a_module_says_from_source_what_it_says_imported(case: str, postponed: bool, tmp_path: Path) -> None:
    future = "from __future__ import annotations\n" if postponed else ""
    written(tmp_path, {"tools.py": future + HEAD + _dedented(CASES[case])})
    found = read(tmp_path)
    assert told(found) == []
    assert from_source(found) == from_import(tmp_path, "tools")
    assert found.tools


NEWER = {
    "type parameters": """
        class Page[T](Struct):
            items: list[T]

        class Bounded[T: int](Struct):
            one: T

        type Pages = list[Page[int]]
        type Pair[T] = tuple[T, T]

        @strata_tool
        def f(page: Page[str], pages: Pages, pair: Pair[Page[int]], bounded: Bounded[int]) -> None:
            "Do."
        """,
}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the grammar is of Python 3.12")
@pytest.mark.parametrize("postponed", [False, True], ids=["", "postponed"])
@pytest.mark.parametrize("case", NEWER)
def test_so_does_one_in_newer_grammar(case: str, postponed: bool, tmp_path: Path) -> None:
    future = "from __future__ import annotations\n" if postponed else ""
    written(tmp_path, {"tools.py": future + HEAD + _dedented(NEWER[case])})
    found = read(tmp_path)
    assert told(found) == []
    assert from_source(found) == from_import(tmp_path, "tools")


PACKAGES = {
    "relative imports and a package that gives names on": {
        "app/__init__.py": "from .models import Item\nfrom . import models\n",
        "app/models.py": "import msgspec\n\nclass Item(msgspec.Struct):\n    sku: str\n\nclass Other(msgspec.Struct):\n    item: Item\n",
        "app/deep/tools.py": """
            from strata import strata_tool
            from .. import Item, models as mm
            from ..models import Other as Another
            from . import near

            @strata_tool
            def f(item: Item, other: Another, third: mm.Other, near: near.Near = near.Near.A) -> str:
                "Do."
            """,
        "app/deep/near.py": "from enum import Enum\n\nclass Near(Enum):\n    A = 'a'\n",
    },
    "absolute imports with dots": {
        "app/models/orders.py": "import msgspec\nclass Item(msgspec.Struct):\n    sku: str\n",
        "app/models/__init__.py": "",
        "app/deep/tools.py": """
            import app.models.orders
            import app.models.orders as orders
            from strata import strata_tool

            @strata_tool
            def f(item: app.models.orders.Item, other: orders.Item) -> str:
                "Do."
            """,
    },
    "stars, with and without a list of what they give": {
        "app/models.py": "__all__ = ['Item', '_hidden']\nimport msgspec\nclass Item(msgspec.Struct):\n    sku: str\n_hidden = int\nshown = str\n",
        "app/more.py": "from .models import *\nfrom typing import *\nLIMIT = 3\n_own = 1\n",
        "app/deep/tools.py": """
            from strata import *
            from strata import strata_tool
            from ..models import *
            from ..more import *
            from msgspec import Meta

            @strata_tool
            def f(item: Item, hidden: _hidden, most: Annotated[int, Meta(le=LIMIT)], some: Optional[int] = None) -> str:
                "Do."
            """,
    },
    "names for type checkers alone that a running program does not need": {
        "app/deep/tools.py": """
            from __future__ import annotations
            from typing import TYPE_CHECKING
            from strata import strata_tool
            if TYPE_CHECKING:
                from pandas import DataFrame
                from strata import ToolContext
                Alias = dict[str, DataFrame]

            @strata_tool
            def f(n: int, ctx: ToolContext) -> Alias:
                "Do."
            """,
    },
    "a decorator that another module gives another name": {
        "app/deco.py": "from strata import strata_tool as tool\nstrict = tool(forbid_unknown_fields=True)\n",
        "app/deep/tools.py": """
            from app.deco import strict, tool

            @tool
            def f(n: int) -> str:
                "Do."

            @strict
            def g(n: int) -> str:
                "Do strictly."
            """,
    },
    "a class that two modules import from each other": {
        "app/a.py": "from __future__ import annotations\nimport msgspec\nimport app.b\nclass A(msgspec.Struct):\n    b: app.b.B | None = None\n",
        "app/b.py": "from __future__ import annotations\nimport msgspec\nimport app.a\nclass B(msgspec.Struct):\n    a: app.a.A | None = None\n",
        "app/deep/tools.py": """
            from app.a import A
            from app.b import B
            from strata import strata_tool

            @strata_tool
            def f(a: A, b: B) -> str:
                "Do."
            """,
    },
    "classes of one name in two modules, each in its own": {
        "app/a.py": "import msgspec\nclass Node(msgspec.Struct):\n    a: int\n    inside: 'list[Node]' = []\n",
        "app/b.py": "import msgspec\nclass Node(msgspec.Struct):\n    b: str\n    inside: 'list[Node]' = []\n",
        "app/deep/tools.py": """
            from app import a, b
            from strata import strata_tool

            @strata_tool
            def f(one: a.Node, other: b.Node) -> str:
                "Do."
            """,
    },
}


@pytest.mark.parametrize("case", PACKAGES)
def test_a_package_says_from_source_what_it_says_imported(case: str, tmp_path: Path) -> None:
    written(tmp_path, PACKAGES[case])
    found = read(tmp_path)
    assert told(found) == []
    assert from_source(found) == from_import(tmp_path, "app.deep.tools")
    assert found.tools


def test_a_package_may_be_named_itself_or_by_the_folder_above_and_src_is_one(tmp_path: Path) -> None:
    from strata.codegen.finding import sources_in

    package = PACKAGES["relative imports and a package that gives names on"]
    written(tmp_path / "src", package)
    for path in (tmp_path, tmp_path / "src", tmp_path / "src" / "app", tmp_path / "src" / "app" / "deep" / "tools.py"):
        assert sources_in([path], (), tmp_path, shown_from=tmp_path).declaring == ("app.deep.tools",)


def test_tools_come_in_the_order_of_their_files_and_lines(tmp_path: Path) -> None:
    tool = "from strata import strata_tool\n@strata_tool\ndef {0}2() -> str:\n    'Do.'\n@strata_tool\ndef {0}1() -> str:\n    'Do.'\n"
    written(tmp_path, {f"app/{name}.py": tool.format(name) for name in ("zoo", "ant", "cow")})
    assert [tool.signature.name for tool in read(tmp_path).tools] == ["ant2", "ant1", "cow2", "cow1", "zoo2", "zoo1"]


def _dedented(text: str) -> str:
    from textwrap import dedent

    return dedent(text)
