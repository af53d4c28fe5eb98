"""The front door: `strata` gives each name from its module, and loads no more than was asked for."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import strata

SOURCE = Path(strata.__file__)


@pytest.mark.parametrize("name", strata.__all__)
def test_every_name_can_be_imported(name: str) -> None:
    assert getattr(strata, name) is not None


def test_what_checkers_see_is_what_there_is() -> None:
    tree = ast.parse(SOURCE.read_text())
    [for_checkers] = [statement for statement in tree.body if isinstance(statement, ast.If)]
    imports = [statement for statement in for_checkers.body if isinstance(statement, ast.ImportFrom)]
    seen = {alias.asname or alias.name: statement.module for statement in imports for alias in statement.names}
    given = {name: strata.MODULES.get(name, strata.ERRORS) for name in strata.__all__}
    assert seen == given


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'strata' has no attribute 'nothing'"):
        getattr(strata, "nothing")  # noqa: B009


def test_names_are_listed_before_they_are_loaded() -> None:
    assert set(strata.__all__) <= set(dir(strata))


def test_importing_strata_loads_nothing_else_and_a_graph_no_engine() -> None:
    program = """
import sys
import strata
print(sorted(name for name in sys.modules if name.startswith("strata.")))
from strata import State, StateGraph, node
print(sorted({name.split(".")[1] for name in sys.modules if name.startswith("strata.")}))
print("msgspec" in sys.modules, "asyncio" in sys.modules and "anyio" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "['graph', 'rules']", "True False"]


def test_declaring_a_tool_loads_no_engine_and_no_event_loop() -> None:
    program = """
import sys
from strata.tools import ToolContext, strata_tool

@strata_tool("orders.find", timeout=3, approve=True)
def find(order_id: str, ctx: ToolContext) -> str:
    "Find an order."
    return order_id

print(find.name, sorted(find.manifest["parameters"]["properties"]))
print(sorted({name.split(".")[1] for name in sys.modules if name.startswith("strata.")}))
print([name for name in ("asyncio", "anyio", "sqlite3") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["orders.find ['order_id']", "['errors', 'graph', 'rules', 'tools']", "[]"]
