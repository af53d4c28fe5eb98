"""What is generated is what a registry of the imported tools says, byte for byte, and the same each time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from strata.codegen.generating import generate
from strata.project.settings import Settings
from strata.tools import ToolRegistry, canonical_json
from tests.codegen.projects import imported, written
from tests.codegen.shop import SHOP
from tests.console import ROOT


@pytest.fixture
def generated(tmp_path: Path) -> dict[str, bytes]:
    """The files that are made of the shop, which lie in it."""
    made = generate([written(tmp_path, SHOP)], Settings(folder=tmp_path), shown_from=tmp_path)
    assert made.read.problems == ()
    files = dict(made.files)
    for name, content in files.items():
        (tmp_path / "shop" / name).write_bytes(content)
    return files


@pytest.fixture
def dispatch(generated: dict[str, bytes], tmp_path: Path) -> Iterator[ModuleType]:
    assert generated
    with imported(tmp_path, "shop.dispatch") as module:
        yield module


@pytest.mark.filterwarnings("ignore::strata.errors.ToolWarning")
def test_the_files_are_what_a_registry_of_the_imported_tools_gives(generated: dict[str, bytes], dispatch: ModuleType) -> None:
    registry = ToolRegistry(dispatch.TOOLS)
    assert generated["tools.json"] == canonical_json(registry.manifest())
    assert generated["openai.json"] == canonical_json(registry.openai_tools().tools)
    assert generated["anthropic.json"] == canonical_json(registry.anthropic_tools().tools)
    assert generated["mcp.json"] == canonical_json(registry.mcp_tools())


def test_strictness_says_for_each_tool_and_provider_the_name_and_why_not(generated: dict[str, bytes]) -> None:
    told = {tool["name"]: tool for tool in json.loads(generated["strictness.json"])}
    assert list(told) == ["orders.find", "météo/now", "orders.refund", "place", "event", "pieces", "any_call", "anything", ""]
    assert told["orders.find"]["openai"] == {"name": "orders_find", "strict": True}
    assert told["météo/now"]["openai"]["name"] == "m_t_o_now"
    assert told["orders.refund"]["anthropic"]["strict"] is False
    assert "argument 'notes'" in told["orders.refund"]["anthropic"]["reason"]


def test_the_same_sources_give_the_same_bytes_in_any_process(generated: dict[str, bytes], tmp_path: Path) -> None:
    for seed in ("1", "2"):
        out = tmp_path / seed
        command = [sys.executable, "-m", "strata", "tools", "generate", "shop", "--out", str(out)]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, timeout=60)
        assert {path.name: path.read_bytes() for path in out.iterdir()} == generated
