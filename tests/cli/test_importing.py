"""`module:graph`: what is said when there is no such graph."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call


def said(call: Call, target: str) -> str:
    """The message; the exit code is 2 and nothing else is printed."""
    answer = call("graph", "view", target)
    assert (answer.code, answer.out) == (2, "")
    return answer.err


def test_without_a_colon(call: Call) -> None:
    assert said(call, "essays") == "error: 'essays' is no file\nhint: a graph is the file of a definition, or module:graph\n"


@pytest.mark.parametrize("target", ["essays:", ":essays"])
def test_with_half_of_it(target: str, call: Call) -> None:
    assert said(call, target) == f"error: '{target}' does not name a graph\nhint: write module:graph, as in orders:orders\n"


def test_of_a_module_that_is_not_there(folder: Path, call: Call) -> None:
    assert said(call, "esays:essays") == f"error: there is no module 'esays'\nhint: it is looked for in '{folder}' and where Python looks\n"


def test_of_a_module_that_imports_one_that_is_not_there(folder: Path, call: Call) -> None:
    (folder / "needy.py").write_text("import nowhere_to_be_found\n", encoding="utf-8")
    assert said(call, "needy:graph") == (
        "error: importing 'needy' raised ModuleNotFoundError: No module named 'nowhere_to_be_found'\n  needy.py:1: import nowhere_to_be_found\n"
    )


def test_of_a_module_that_raises_shows_the_users_own_line(folder: Path, call: Call) -> None:
    (folder / "raising.py").write_text("def load():\n    return int('x')\n\n\nload()\n", encoding="utf-8")
    assert said(call, "raising:graph") == (
        "error: importing 'raising' raised ValueError: invalid literal for int() with base 10: 'x'\n  raising.py:2: return int('x')\n"
    )


def test_of_a_module_with_a_wrong_decorator_shows_the_users_own_line(folder: Path, call: Call) -> None:
    source = (folder / "essays.py").read_text(encoding="utf-8").replace("nodes(review,", "nodes(needs_work,")
    (folder / "wrong.py").write_text(source, encoding="utf-8")
    text = said(call, "wrong:essays")
    assert text.startswith("error: importing 'wrong' raised TypeError: nodes() takes nodes, and <function needs_work at 0x")
    assert text.endswith("  wrong.py:41: builder = StateGraph(Essay).start(draft).nodes(needs_work, sign_off, publish)\n")


def test_of_a_module_that_is_no_python(folder: Path, call: Call) -> None:
    (folder / "odd.py").write_text("x = 1\ndef (:\n", encoding="utf-8")
    assert said(call, "odd:graph") == "error: importing 'odd' raised SyntaxError: invalid syntax (odd.py, line 2)\n  odd.py:2: def (:\n"


def test_of_a_module_that_ends_the_process(folder: Path, call: Call) -> None:
    (folder / "leaving.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    assert said(call, "leaving:graph") == "error: importing 'leaving' raised SystemExit: 3\n  leaving.py:1: raise SystemExit(3)\n"


def test_of_a_module_without_it_names_the_near_one(call: Call) -> None:
    assert said(call, "essays:esays") == (
        "error: the module 'essays' has no 'esays'; did you mean 'essays'?\nhint: its graphs are: builder, essays\n"
    )


def test_of_something_that_is_no_graph(call: Call) -> None:
    assert (
        said(call, "essays:Essay") == "error: 'Essay' of the module 'essays' is the class Essay, not a graph\nhint: its graphs are: builder, essays\n"
    )
    assert said(call, "essays:needs_work").startswith("error: 'needs_work' of the module 'essays' is a function, not a graph\n")
    assert said(call, "json:__name__") == "error: '__name__' of the module 'json' is of type str, not a graph\nhint: it holds no graph at all\n"


def test_a_path_to_the_module_works(folder: Path, call: Call) -> None:
    package = folder / "shop"
    package.mkdir()
    (package / "papers.py").write_text((folder / "essays.py").read_text(encoding="utf-8"), encoding="utf-8")
    assert call("graph", "view", "shop/papers.py:essays").code == 0
    assert call("graph", "view", str(package / "papers.py:essays")).code == 0


def test_a_path_from_elsewhere_says_where_to_go(folder: Path, call: Call) -> None:
    assert said(call, "/elsewhere/orders.py:orders") == (
        f"error: '/elsewhere/orders.py' cannot be imported from the folder '{folder}'\n"
        "hint: change to the folder that its imports start from, and write module:graph\n"
    )


def test_what_the_module_prints_is_no_data(folder: Path, call: Call) -> None:
    (folder / "loud.py").write_text(
        f"print('hello')\n{(folder / 'essays.py').read_text(encoding='utf-8').replace('from __future__ import annotations', '')}", encoding="utf-8"
    )
    answer = call("graph", "export", "loud:essays")
    assert answer.out.startswith('{"schema_version"')
    assert answer.err == "hello\n"


def test_a_graph_that_is_not_compiled_ends_no_thread(folder: Path, call: Call) -> None:
    answer = call("thread", "end", "--store", "essays.db", "essays:builder", "t")
    assert answer == (2, "", "error: the graph 'essays:builder' is not compiled\nhint: name what compile() gave\n")
