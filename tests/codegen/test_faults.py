"""What cannot be read is told with its place, all of it at once, and never guessed."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.codegen.projects import from_source, is_refused, read, read_text, told, written

HEAD = """\
import enum
from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple, Optional, TypedDict
from msgspec import Meta, Struct
import msgspec
from strata import ToolContext, strata_tool
"""
FIRST = HEAD.count("\n") + 1


def faults(text: str, folder: Path) -> list[str]:
    """The problems, with lines that count from the first behind `HEAD`."""
    lines = told(read_text(HEAD + dedent(text), folder))
    return [f"{int(line.partition(':')[0]) - FIRST + 1}:{line.partition(':')[2]}" for line in lines]


UNKNOWABLE = {
    "a default that is computed": (
        "def limit() -> int: ...\n@strata_tool\ndef f(n: int = limit()) -> int:\n    'Do.'\n",
        "3:16 TOOL_NOT_EVALUATED 'limit()' can only be evaluated by running it",
    ),
    "a limit from the environment": (
        "import os\n@strata_tool\ndef f(n: Annotated[int, Meta(le=int(os.environ['N']))]) -> int:\n    'Do.'\n",
        "3:37 TOOL_FOREIGN 'environ' comes from 'os', which is not among the sources and is not imported to be read",
    ),
    "a type of a package that is not looked into": (
        "from numpy import ndarray\n@strata_tool\ndef f(n: list[ndarray]) -> int:\n    'Do.'\n",
        "1:1 TOOL_FOREIGN 'ndarray' comes from 'numpy', which is not among the sources and is not imported to be read",
    ),
    "a class that is made by a call": (
        "Item = msgspec.defstruct('Item', ['sku'])\n@strata_tool\ndef f(n: Item) -> int:\n    'Do.'\n",
        "1:8 TOOL_NOT_EVALUATED 'msgspec.defstruct('Item', ['sku'])' can only be evaluated by running it",
    ),
    "a class of a decorator that may do anything": (
        "def twice(cls): ...\n@twice\nclass Item(Struct):\n    sku: str\n@strata_tool\ndef f(n: Item) -> int:\n    'Do.'\n",
        "2:1 TOOL_NOT_EVALUATED what the decorator 'twice' makes of the class can only be told by running it",
    ),
    "a class under a base that changes what derives from it": (
        "class Base(Struct):\n    def __init_subclass__(cls): ...\nclass Item(Base):\n    sku: str\n@strata_tool\ndef f(n: Item) -> None:\n    '.'\n",
        "3:12 TOOL_NOT_EVALUATED '__init_subclass__' of 'Base' may change the class, and is not run",
    ),
    "a class of another kind of class": (
        "class Item(Struct, metaclass=type(Struct)):\n    sku: str\n@strata_tool\ndef f(n: Item) -> int:\n    'Do.'\n",
        "1:20 TOOL_NOT_EVALUATED what makes class 'Item' can only be told by running it",
    ),
    "names that a function makes": (
        "class Item(Struct, rename=lambda name: name.upper()):\n    sku: str\n@strata_tool\ndef f(n: Item) -> int:\n    'Do.'\n",
        "1:20 TOOL_NOT_EVALUATED a lambda would be called for 'rename', and is not run",
    ),
    "a field under a condition": (
        "import os\nclass Item(Struct):\n    sku: str\n    if os.name == 'nt':\n        drive: str\n@strata_tool\ndef f(n: Item) -> None:\n    '.'\n",
        "4:5 TOOL_NOT_EVALUATED what this makes of class 'Item' can only be told by running it",
    ),
    "a name under a condition": (
        "import os\nif os.name == 'nt':\n    Path = str\nelse:\n    Path = bytes\n@strata_tool\ndef f(n: Path) -> int:\n    'Do.'\n",
        "5:5 TOOL_NOT_EVALUATED what 'Path' is cannot be told: it depends on a condition",
    ),
    "a name that something happens to": (
        "CHOICES = ['a']\nCHOICES.append('b')\n@strata_tool\ndef f(n: Literal[*CHOICES]) -> int:\n    'Do.'\n",
        "2:1 TOOL_NOT_EVALUATED what 'CHOICES' is cannot be told: it is changed after it was bound",
    ),
    "a class whose attribute is set from outside": (
        "class Item(Struct):\n    sku: str\nItem.__doc__ = 'Said.'\n@strata_tool\ndef f(n: Item) -> int:\n    'Do.'\n",
        "3:1 TOOL_NOT_EVALUATED what 'Item' is cannot be told: it is changed after it was bound",
    ),
    "a name that a function binds anew": (
        "LIMIT = 3\ndef more():\n    global LIMIT\n    LIMIT = 4\n@strata_tool\ndef f(n: Annotated[int, Meta(le=LIMIT)]) -> int:\n    'Do.'\n",
        "1:1 TOOL_NOT_EVALUATED what 'LIMIT' is cannot be told: a function binds it anew",
    ),
    "a name that a loop binds": (
        "for Kind in (int, str):\n    pass\n@strata_tool\ndef f(n: Kind) -> int:\n    'Do.'\n",
        "1:1 TOOL_NOT_EVALUATED what 'Kind' is cannot be told: it is bound in a loop or a match",
    ),
    "members that an enum's own code makes": (
        "class Kind(enum.Enum):\n    A = 'a'\n    def __new__(cls, value): ...\n@strata_tool\ndef f(n: Kind) -> int:\n    'Do.'\n",
        "1:1 TOOL_NOT_EVALUATED the members of 'Kind' are made by its '__new__', which is not run",
    ),
    "a default that its class makes by its own code": (
        "@dataclass\nclass At:\n    x: int = 0\n    def __post_init__(self): ...\n@strata_tool\ndef f(at: At = At(1)) -> int:\n    'Do.'\n",
        "6:16 TOOL_NOT_EVALUATED 'At' is made by its own '__post_init__', which is not run",
    ),
    "a mark whose text is computed": (
        "class Doc:\n    def __init__(self, text): self.documentation = text\n@strata_tool\ndef f(n: Annotated[int, Doc('a')]) -> int:\n    'Do.'\n",
        "4:25 TOOL_NOT_EVALUATED what this 'Doc' says can only be told by running it",
    ),
    "arguments that are spread": (
        "LIMITS = {'ge': 1}\n@strata_tool\ndef f(n: Annotated[int, Meta(**LIMITS)]) -> int:\n    'Do.'\n",
        "3:25 TOOL_NOT_EVALUATED 'Meta(**LIMITS)' can only be evaluated by running it",
    ),
    "a tool under a condition": (
        "import os\nif os.name == 'nt':\n    @strata_tool\n    def f(n: int) -> int:\n        'Do.'\n",
        "3:5 TOOL_NOT_EVALUATED whether there is a tool 'f' can only be told by running the module",
    ),
    "a decorator that makes tools by its own code": (
        "def tool(fn):\n    return strata_tool('a.' + fn.__name__)(fn)\n@tool\ndef f(n: int) -> int:\n    'Do.'\n",
        "3:1 TOOL_NOT_EVALUATED 'tool' makes a tool by code of its own, which is not run",
    ),
    "a name that is computed": (
        "import socket\n@strata_tool(socket.gethostname() + '.f')\ndef f(n: int) -> int:\n    'Do.'\n",
        "2:14 TOOL_FOREIGN 'gethostname' comes from 'socket', which is not among the sources and is not imported to be read",
    ),
    "options that are spread": (
        "OPTIONS = {}\n@strata_tool(**OPTIONS)\ndef f(n: int) -> int:\n    'Do.'\n",
        "2:2 TOOL_NOT_EVALUATED 'strata_tool(**OPTIONS)' can only be evaluated by running it",
    ),
    "a power beyond all measure": (
        "@strata_tool\ndef f(n: Annotated[int, Meta(le=10**10**10)]) -> int:\n    'Do.'\n",
        "2:33 TOOL_NOT_EVALUATED '10**10**10' can only be evaluated by running it",
    ),
}


@pytest.mark.parametrize("case", UNKNOWABLE)
def test_what_only_running_tells_is_an_error_at_its_place(case: str, tmp_path: Path) -> None:
    text, problem = UNKNOWABLE[case]
    assert faults(text, tmp_path) == [problem]


WRONG = {
    "a name that is nowhere": (
        "@strata_tool\ndef f(n: Itme) -> int:\n    'Do.'\n",
        "2:10 TOOL_UNRESOLVED 'Itme' is bound nowhere in 'tools'",
    ),
    "a module that is nowhere": (
        "import lost_and_found.models\nfrom lost_and_found import models\n@strata_tool\ndef f(n: models.Item) -> int:\n    'Do.'\n",
        "2:1 TOOL_FOREIGN 'models' comes from 'lost_and_found', which is not among the sources and is not imported to be read",
    ),
    "a name that a module of the standard library has not": (
        "from typing import Optionl\n@strata_tool\ndef f(n: Optionl[int]) -> int:\n    'Do.'\n",
        "1:1 TOOL_UNRESOLVED module 'typing' has no 'Optionl'",
    ),
    "a class that is defined below": (
        "@strata_tool\ndef f(n: Item) -> int:\n    'Do.'\nclass Item(Struct):\n    sku: str\n",
        "2:10 TOOL_UNRESOLVED 'Item' is asked for above the line that binds it",
    ),
    "a class that names itself while it is made": (
        "class Tree(Struct):\n    inside: list[Tree]\n@strata_tool\ndef f(n: Tree) -> int:\n    'Do.'\n",
        "2:18 TOOL_UNRESOLVED 'Tree' is asked for above the line that binds it",
    ),
    "text beside a class in a union": (
        "class Item(Struct):\n    sku: str\n@strata_tool\ndef f(n: int | 'Item') -> int:\n    'Do.'\n",
        "4:10 TOOL_NOT_EVALUATED 'int | 'Item'' raises TypeError: unsupported operand type(s) for |: 'type' and 'str'",
    ),
    "a default where a required field follows": (
        "class Item(Struct):\n    a: int = 1\n    b: int\n@strata_tool\ndef f(n: Item) -> int:\n    'Do.'\n",
        (
            "1:1 TOOL_NOT_EVALUATED 'class Item(Struct): a: int = 1 b: int' raises TypeError: Required field 'b' cannot follow optional fields. "
            "Either reorder the struct fields, or set `kw_only=True` in the struct definition."
        ),
    ),
    "a list for all instances of a dataclass": (
        "@dataclass\nclass Item:\n    a: list[int] = []\n@strata_tool\ndef f(n: Item) -> int:\n    'Do.'\n",
        (
            "2:1 TOOL_NOT_EVALUATED '@dataclass class Item: a: list[int] = []' raises ValueError: "
            "mutable default <class 'list'> for field a is not allowed: use default_factory"
        ),
    ),
    "a field that hides the type of another": (
        "class Item(Struct):\n    list: 'list[int]'\n@strata_tool\ndef f(n: Item) -> int:\n    'Do.'\n",
        "2:11 TOOL_NOT_EVALUATED 'list' means the field of that name here",
    ),
    "a limit that is none": (
        "@strata_tool\ndef f(n: Annotated[int, Meta(ge='a')]) -> int:\n    'Do.'\n",
        "2:25 TOOL_NOT_EVALUATED 'Meta(ge='a')' raises TypeError: `ge` must be an int or float, got str",
    ),
    "a function in place of a type": (
        "def Item() -> int: ...\n@strata_tool\ndef f(n: Item) -> int:\n    'Do.'\n",
        "3:10 TOOL_NOT_EVALUATED 'Item' is no type",
    ),
    "text that is no annotation": (
        "@strata_tool\ndef f(n: 'a b') -> int:\n    'Do.'\n",
        "2:10 TOOL_NOT_EVALUATED 'a b' is no annotation",
    ),
    "no annotation at all": (
        "@strata_tool\ndef f(n) -> int:\n    'Do.'\n",
        (
            "1:1 TOOL_INVALID tool 'f': its parameter 'n' has no annotation, so a model cannot be told what to give: "
            "annotate it, with Any if it may be anything"
        ),
    ),
    "no description": (
        "@strata_tool\ndef f(n: int) -> int: ...\n",
        "1:1 TOOL_INVALID tool 'f': it has no description for the model: write a docstring, or give description=",
    ),
    "any number of arguments": (
        "@strata_tool\ndef f(*n: int) -> int:\n    'Do.'\n",
        "1:1 TOOL_INVALID tool 'f': its parameter '*n' has no place among named arguments: take a list, as in `n: list[str]`",
    ),
    "two contexts": (
        "@strata_tool\ndef f(a: ToolContext, b: ToolContext) -> int:\n    'Do.'\n",
        "1:1 TOOL_INVALID tool 'f': its parameters 'a' and 'b' are both annotated as the context: one is enough",
    ),
    "an option that there is not": (
        "@strata_tool(descripton='Do.')\ndef f(n: int) -> int: ...\n",
        "1:14 TOOL_INVALID strata_tool takes no 'descripton'",
    ),
    "a name that is bound for checkers and asked for at once": (
        "import typing\nif typing.TYPE_CHECKING:\n    from datetime import date\n@strata_tool\ndef f(n: date) -> int:\n    'Do.'\n",
        "5:10 TOOL_UNRESOLVED 'date' is bound for type checkers only, and asked for as the module is imported",
    ),
}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the grammar is of Python 3.12")
@pytest.mark.parametrize(
    ("value", "column", "text"), [("'Item'", 14, "Item"), ("list['Item | None']", 19, "Item | None"), ("Optional['int']", 23, "int")]
)
def test_text_in_a_type_statement_is_read_by_nobody(value: str, column: int, text: str, tmp_path: Path) -> None:
    tools = f"type Items = {value}\nclass Item(Struct):\n    n: int\n@strata_tool\ndef f(items: Items) -> int:\n    'Do.'\n"
    assert faults(tools, tmp_path) == [f"1:{column} TOOL_NOT_EVALUATED '{text}' is text here, which nobody reads as a type"]
    assert is_refused(tmp_path, "tools")


@pytest.mark.parametrize("case", WRONG)
def test_what_fails_when_it_is_imported_is_an_error_from_source_too(case: str, tmp_path: Path) -> None:
    text, problem = WRONG[case]
    assert faults(text, tmp_path) == [problem]
    assert is_refused(tmp_path, "tools")


def test_all_errors_of_a_run_are_told_at_once_and_each_once(tmp_path: Path) -> None:
    text = """\
        from numpy import ndarray

        class Item(Struct):
            one: ndarray
            two: lost
            three: int

        @strata_tool
        def f(a: Item, b: nowhere, c: int = compute()) -> int:
            'Do.'

        @strata_tool
        def g(a: Item) -> int:
            'Do.'

        @strata_tool
        def h(n: int): ...

        @strata_tool
        def fine(n: int) -> int:
            'Do.'
        """
    assert faults(text, tmp_path) == [
        "1:1 TOOL_FOREIGN 'ndarray' comes from 'numpy', which is not among the sources and is not imported to be read",
        "5:10 TOOL_UNRESOLVED 'lost' is bound nowhere in 'tools'",
        "9:19 TOOL_UNRESOLVED 'nowhere' is bound nowhere in 'tools'",
        "9:37 TOOL_UNRESOLVED 'compute' is bound nowhere in 'tools'",
        "16:1 TOOL_INVALID tool 'h': it has no description for the model: write a docstring, or give description=",
    ]


def test_no_tool_is_left_that_speaks_of_a_class_which_cannot_be_read(tmp_path: Path) -> None:
    text = """
        class Item(Struct):
            price: Price

        @dataclass
        class Order:
            items: list[Item]

        class Gift(Item):
            to: str

        class Options(TypedDict):
            price: Price

        class More(Options):
            fast: bool

        @strata_tool
        def f(item: Item) -> None:
            "Do."

        @strata_tool
        def g(order: Order | None = None) -> None:
            "Do."

        @strata_tool
        def h(gift: Annotated[Gift, "a gift"]) -> None:
            "Do."

        @strata_tool
        def i(*, more: More, kind: type[int] = int) -> None:
            "Do."

        @strata_tool
        def j(n: int) -> Order:
            "Do."
        """
    assert faults(text, tmp_path) == [f"{line} TOOL_UNRESOLVED 'Price' is bound nowhere in 'tools'" for line in ("3:12", "13:12")]
    assert [tool.signature.name for tool in read(tmp_path).tools] == ["j"]


def test_an_error_stands_in_the_file_where_the_fault_is(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "app/models.py": "import msgspec\nclass Item(msgspec.Struct):\n    sku: 'strr'\n",
            "app/tools.py": "from strata import strata_tool\nfrom app.models import Item\n@strata_tool\ndef f(item: Item) -> int:\n    'Do.'\n",
        },
    )
    (problem,) = read(tmp_path).problems
    assert str(problem) == "app/models.py:3: error: 'strr' is bound nowhere in 'app.models' [STRATA_PY_TOOL_UNRESOLVED]"


def test_one_name_for_two_tools_is_an_error_that_names_both(tmp_path: Path) -> None:
    tool = "from strata import strata_tool\n@strata_tool('orders.find')\ndef {0}(n: int) -> int:\n    'Do.'\n"
    written(tmp_path, {"a.py": tool.format("one"), "b.py": tool.format("two")})
    (problem,) = read(tmp_path).problems
    assert str(problem) == (
        "b.py:2: error: tool 'orders.find' is already declared (a.py:2), and no registry takes both "
        "give one of them another name [STRATA_PY_DUPLICATE_TOOL]"
    )


def test_a_file_that_is_no_python_is_told_with_its_line_and_the_rest_is_read(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "bad.py": "from strata import strata_tool\ndef f(:\n",
            "latin.py": "",
            "good.py": "from strata import strata_tool\n@strata_tool\ndef f() -> int:\n    'Do.'\n",
        },
    )
    (tmp_path / "latin.py").write_bytes(b"# strata_tool \xe9\n")
    found = read(tmp_path)
    assert [(file.file, file.line) for file in found.unreadable] == [("latin.py", None), ("bad.py", 2)]
    assert [tool.signature.name for tool in found.tools] == ["f"]


# Warnings: it is read, and something may be otherwise when it runs


def test_a_type_for_checkers_alone_is_warned_of(tmp_path: Path) -> None:
    text = """\
        from __future__ import annotations
        from typing import TYPE_CHECKING
        from strata import strata_tool
        if TYPE_CHECKING:
            from collections.abc import Mapping

        @strata_tool
        def f(n: Mapping[str, int]) -> int:
            'Do.'
        """
    found = read_text(text, tmp_path)
    assert told(found) == ["8:10 TOOL_FOR_CHECKERS 'Mapping' is bound for type checkers only: a running program will not find it"]
    assert not found.has_errors
    assert from_source(found)
    assert is_refused(tmp_path, "tools")


def test_a_decorator_beside_that_of_the_tool_is_warned_of(tmp_path: Path) -> None:
    text = "import functools\n@strata_tool\n@functools.lru_cache\ndef f(n: int) -> int:\n    'Do.'\n"
    assert faults(text, tmp_path) == ["3:1 TOOL_DECORATED tool 'f' is read as if the decorator 'functools.lru_cache' left its parameters alone"]


def test_tools_that_no_other_module_could_find_are_left_out_with_a_warning(tmp_path: Path) -> None:
    text = """\
        def made(database):
            @strata_tool
            def inside(n: int) -> int:
                'Do.'
            return inside

        class Tools:
            @staticmethod
            @strata_tool
            def of_the_class(n: int) -> int:
                'Do.'

        def plain(n: int) -> int:
            'Do.'

        called = strata_tool(plain)
        named = strata_tool('a.b')(plain)
        """
    assert faults(text, tmp_path) == [
        "2:5 TOOL_LEFT_OUT the tool 'inside' stands inside of function 'made', where no other module finds it: it is left out",
        "8:5 TOOL_LEFT_OUT the tool 'of_the_class' stands inside of class 'Tools', where no other module finds it: it is left out",
        "16:1 TOOL_LEFT_OUT the tool 'called' is made by a call, and such are left out",
        "17:1 TOOL_LEFT_OUT the tool 'named' is made by a call, and such are left out",
    ]


def test_a_file_that_no_statement_could_import_is_told_and_left_out(tmp_path: Path) -> None:
    tool = "from strata import strata_tool\n@strata_tool\ndef f(n: int) -> int:\n    'Do.'\n"
    names = ("my-tools.py", "old/tools.bak.py", "class.py", "new/tools.py")
    found = read(written(tmp_path, dict.fromkeys(names, tool)))
    assert [(problem.severity, str(problem.place)) for problem in found.problems] == [
        ("warning", "class.py:1"),
        ("warning", "my-tools.py:1"),
        ("warning", "old/tools.bak.py:1"),
    ]
    assert found.problems[1].text == "the tools of this file are left out: no module can import it by the name 'my-tools'"
    assert [tool.module.name for tool in found.tools] == ["new.tools"]


def test_text_about_a_parameter_that_is_none_is_warned_of_with_its_place(tmp_path: Path) -> None:
    text = """
        @strata_tool
        def f(order_id: str) -> str:
            '''Do it.

            Args:
                order: as it stands on the invoice.
            '''
        """
    said = "tool 'f': its docstring speaks of a parameter 'order' that it does not have: did you mean 'order_id'?"
    assert faults(text, tmp_path) == [f"2:1 TOOL_DOCSTRING {said}"]
    assert [tool.signature.name for tool in read(tmp_path).tools] == ["f"]
