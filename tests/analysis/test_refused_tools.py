"""What `@strata_tool` refuses as a module is imported is told from its source, in the same words, at the parameter."""

from __future__ import annotations

from pathlib import Path
from random import Random
from textwrap import dedent

import pytest

from strata import ToolInvalid
from strata.analysis.checking import check
from strata.rules import codes
from tests.analysis.running import known_as, run
from tests.tools.random_tools import Author

OPENING = """\
from __future__ import annotations
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, NewType, Optional, Union
import msgspec
import strata
import strata.tools as ours
from strata import Context, ToolContext, strata_tool
from strata.tools import strata_tool as a_tool


class Call(ToolContext):
    desk: int = 0


class Order(msgspec.Struct):
    lines: list[Path] = []


Cents = NewType("Cents", int)
"""

WRONG = {
    "a parameter without annotation": ("@strata_tool\ndef f(a: int, b) -> str:\n    'Does it.'\n    return ''", (2, 15)),
    "one with a default": ("@strata_tool()\nasync def f(a=3) -> str:\n    'Does it.'\n    return ''", (2, 13)),
    "one of a keyword": ("@strata_tool('pods')\ndef f(*, a) -> str:\n    'Does it.'\n    return ''", (2, 10)),
    "a list of positions": ("@strata.strata_tool\ndef f(*a: int) -> str:\n    'Does it.'\n    return ''", (2, 8)),
    "a dict of names": ("@a_tool(description='Does it.')\ndef f(a: int, **b: int) -> str:\n    return ''", (2, 17)),
    "positions without annotation": ("@a_tool\ndef f(*a) -> str:\n    'Does it.'\n    return ''", (2, 8)),
    "a positional parameter": ("@ours.strata_tool\ndef f(\n    a: int,\n    /,\n) -> str:\n    'Does it.'\n    return ''", (3, 5)),
    "a method": ("class Desk:\n    @strata_tool\n    def f(self, a: int) -> str:\n        'Does it.'\n        return ''", (3, 11)),
    "no description": ("@strata_tool\ndef f(a: int) -> str:\n    return ''", (1, 2)),
    "an empty docstring": ("@strata_tool('pods', description=None)\ndef f(a: int) -> str:\n    '  '\n    return ''", (1, 2)),
    "a function given": ("def f(a) -> str:\n    'Does it.'\n    return ''\n\ng = strata_tool(f)", (1, 7)),
    "a lambda": ("g = strata_tool('pods', description='Does it.')(lambda a: a)", (1, 56)),
    "two contexts": ("@strata_tool\ndef f(a: ToolContext, n: int, b: Context) -> str:\n    'Does it.'\n    return ''", (2, 31)),
    "two contexts in unions": (
        "@strata_tool\ndef f(a: Optional[ToolContext], b: 'Context | None' = None) -> str:\n    'Does it.'\n    return ''",
        (2, 33),
    ),
    "a class of contexts": ("@strata_tool\ndef f(a: Annotated[Call, 'x'], b: Union[None, Call]) -> str:\n    'Does it.'\n    return ''", (2, 32)),
    "a function": ("@strata_tool\ndef f(n: int, a: Callable[[int], int]) -> str:\n    'Does it.'\n    return ''", (2, 15)),
    "a stream": ("@strata_tool\ndef f(a: Iterator[int]) -> str:\n    'Does it.'\n    return ''", (2, 7)),
    "a class": ("@strata_tool\ndef f(a: type[int]) -> str:\n    'Does it.'\n    return ''", (2, 7)),
    "a part of one": ("@strata_tool\ndef f(n: int, *, a: dict[str, 'deque[int]']) -> str:\n    'Does it.'\n    return ''", (2, 18)),
    "a field of one": ("@strata_tool('pods')\ndef f(a: list[Order] | None = None) -> str:\n    'Does it.'\n    return ''", (2, 7)),
    "inside of another": ("class Desk:\n    f = strata_tool('f', description='Does it.')(lambda *a: a)", (2, 58)),
}

RIGHT = {
    "all kinds of parameters": "@strata_tool\ndef f(a: int, b: str = '', *, c: Any, ctx: ToolContext) -> str:\n    'Does it.'\n    return ''",
    "a name for a type": "@strata_tool\ndef f(a: Cents, b: list[Cents]) -> str:\n    'Does it.'\n    return ''",
    "no parameters": "@strata_tool\ndef f() -> str:\n    'Does it.'\n    return ''",
    "an empty description": "@strata_tool(description='')\ndef f() -> str:\n    return ''",
    "a description of elsewhere": "from os import sep\n\n\n@strata_tool(description=sep)\ndef f() -> str:\n    return ''",
    "self with a type": "@strata_tool\ndef f(self: int) -> str:\n    'Does it.'\n    return ''",
    "a wrapper that keeps": (
        "from functools import wraps\n\n\ndef kept(inner: Any) -> Any:\n    @wraps(inner)\n    def outer(*args: Any, **more: Any) -> Any:\n"
        "        return inner(*args, **more)\n    return outer\n\n\n@strata_tool\n@kept\ndef f(a: int) -> str:\n    'Does it.'\n    return ''"
    ),
    "a bound method": (
        "class Desk:\n    def f(self, a: int) -> str:\n        'Does it.'\n\n\ng = strata_tool(Desk().f)\nh = strata_tool('h')(Desk().f)"
    ),
    "a description that is set": "def f(a: int) -> str:\n    return ''\n\n\nf.__doc__ = 'Does it.'\ng = strata_tool(f)",
    "options of elsewhere": "options = {'description': 'Does it.'}\n\n\n@strata_tool(**options)\ndef f() -> str:\n    return ''",
    "faults that are expected": "try:\n    @strata_tool\n    def f(a):\n        return a\nexcept strata.ToolInvalid:\n    pass",
}


def written(tmp_path: Path, text: str) -> Path:
    module = tmp_path / "tools.py"
    module.write_text(OPENING + text + "\n", encoding="utf-8")
    return module


@pytest.mark.parametrize("case", WRONG)
def test_what_is_refused_is_told_in_the_same_words_at_its_place(case: str, tmp_path: Path) -> None:
    text, (line, column) = WRONG[case]
    module = written(tmp_path, text)
    with known_as("tools_of_a_test") as made, pytest.raises(ToolInvalid) as refused:
        run(module, made)
    [problem] = check([module], tmp_path).problems
    place = problem.place
    assert place is not None
    assert (problem.code, problem.severity) == (codes.TOOL_INVALID, "error")
    assert problem.text == str(refused.value).removeprefix(f"{refused.value.place}: ")
    assert str(place) == f"{module}:{OPENING.count(chr(10)) + line}"
    assert getattr(place, "column", None) == column


@pytest.mark.parametrize("case", RIGHT)
def test_nothing_is_told_of_what_the_run_takes(case: str, tmp_path: Path) -> None:
    module = written(tmp_path, RIGHT[case])
    with known_as("tools_of_a_test") as made:
        run(module, made)
    assert list(check([module], tmp_path).problems) == []


def test_nothing_is_told_of_random_tools_that_are_right(tmp_path: Path) -> None:
    for seed in range(100):
        (tmp_path / f"random_{seed}.py").write_text(Author(Random(seed)).module(), encoding="utf-8")
    report = check(sorted(tmp_path.glob("*.py")), tmp_path)
    assert (report.files, list(report.problems)) == (100, [])


def test_a_tool_that_a_function_makes_is_looked_at_too(tmp_path: Path) -> None:
    text = "def made(shop: str) -> object:\n    @strata_tool\n    def f(a) -> str:\n        'Does it.'\n        return shop\n    return f"
    [problem] = check([written(tmp_path, text)], tmp_path).problems
    assert problem.code == codes.TOOL_INVALID


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    module = written(tmp_path, "@strata_tool\ndef f(a, *args, **more) -> str:\n    return ''")
    dictionary = "take a dict, as in `more: dict[str, str]`"
    wrapper = "; if a decorator put it there, let it use functools.wraps"
    assert {problem.text for problem in check([module], tmp_path).problems} == {
        f"tool 'f': its parameter '*args' has no place among named arguments: take a list, as in `args: list[str]`{wrapper}",
        f"tool 'f': its parameter '**more' names no arguments that a model could be told of: name each, or {dictionary}{wrapper}",
        "tool 'f': it has no description for the model: write a docstring, or give description=",
        "tool 'f': its parameter 'a' has no annotation, so a model cannot be told what to give: annotate it, with Any if it may be anything",
    }


def test_a_function_of_another_module_is_told_where_the_tool_is_made(tmp_path: Path) -> None:
    (tmp_path / "functions.py").write_text("def f(a):\n    'Does it.'\n")
    module = tmp_path / "tools.py"
    module.write_text(
        dedent("""\
        from functions import f
        from strata import strata_tool

        g = strata_tool(f)
    """)
    )
    [problem] = check([module], tmp_path).problems
    assert str(problem.place) == f"{module}:4"


def test_a_comment_takes_it(tmp_path: Path) -> None:
    text = "@strata_tool\ndef f(\n    a,  # strata: ignore[STRATA_PY_TOOL_INVALID]\n) -> str:\n    'Does it.'\n    return ''"
    assert list(check([written(tmp_path, text)], tmp_path).problems) == []
