"""What is stored is text that any language reads: nothing in the package can make objects, or code, of bytes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import strata

PACKAGE = Path(strata.__file__).parent
MAKES_OBJECTS = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "jsonpickle", "yaml"}
RUNS_TEXT = {"eval", "exec", "compile", "__import__"}
FROM_SOURCE = {
    "graph/quick_source.py": "checks of a state type, made from its field names when a graph is compiled",
    "graph/annotations.py": "what the user's own source says of a parameter",
    "codegen/stubs.py": "functions that do nothing, made from a tree of the names of parameters; no text is compiled",
}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_sec_05_sec_13_no_module_loads_a_format_that_makes_objects_or_runs_text(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not {name for name in imported(tree) if name.partition(".")[0] in MAKES_OBJECTS}
    if str(path.relative_to(PACKAGE)) not in FROM_SOURCE:
        assert not called(tree) & RUNS_TEXT


def imported(tree: ast.AST) -> Iterator[str]:
    for item in ast.walk(tree):
        if isinstance(item, ast.Import):
            yield from (alias.name for alias in item.names)
        elif isinstance(item, ast.ImportFrom) and item.module is not None:
            yield item.module


def called(tree: ast.AST) -> set[str]:
    """Functions called by their bare name."""
    return {item.func.id for item in ast.walk(tree) if isinstance(item, ast.Call) and isinstance(item.func, ast.Name)}
