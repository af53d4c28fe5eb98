"""`strata graph view` and `strata graph export`."""

from __future__ import annotations

from pathlib import Path

import pytest

from strata import Definition
from tests.cli.conftest import Call
from tests.definitions import RECORDED

DEFINITIONS = sorted((RECORDED / "definitions").glob("*.json"))


def test_a_graph_is_drawn_for_the_terminal(call: Call) -> None:
    answer = call("graph", "view", "essays:essays")
    assert answer.code == 0
    assert answer.out.splitlines() == [
        "graph 'essays' version 1",
        "● draft (start)",
        "  └→ review",
        "● review",
        "  ├⇢ draft  if needs_work",
        "  └→ sign_off",
        "● sign_off (pauses for a person)",
        "  └→ publish",
        "● publish (end)",
    ]


def test_a_graph_that_is_not_compiled_is_drawn_with_its_guards(call: Call) -> None:
    assert "  ├⇢ draft  if needs_work" in call("graph", "view", "essays:builder").out


def test_a_broken_graph_is_drawn_too(call: Call) -> None:
    answer = call("graph", "view", "broken:broken")
    assert answer.code == 0
    assert "publsh (no such node)" in answer.out


def test_a_graph_is_drawn_as_mermaid(call: Call) -> None:
    answer = call("graph", "view", "essays:essays", "--mermaid")
    assert answer.code == 0
    assert answer.out.startswith('flowchart TD\n    start((" "))\n')
    assert '-.->|"if needs_work"|' in answer.out


@pytest.mark.parametrize("path", DEFINITIONS, ids=lambda path: path.stem)
def test_viz04_every_recorded_definition_is_drawn_here(path: Path, call: Call) -> None:
    for form in ([], ["--mermaid"]):
        answer = call("graph", "view", str(path), *form)
        assert answer.code == 0
        assert answer.out


def test_viz01_a_name_cannot_steer_the_terminal(folder: Path, call: Call) -> None:
    name = "end]\\u001b[31m"
    (folder / "odd.json").write_text(
        f'{{"schema_version":"1.0.0","entry_point":"{name}","nodes":[{{"name":"{name}"}}],"edges":[]}}', encoding="utf-8"
    )
    assert call("graph", "view", "odd.json").out == "● end]<U+001B>[31m (start; end)\n"
    assert "\x1b" not in call("graph", "view", "odd.json", "--mermaid").out


@pytest.mark.parametrize("path", DEFINITIONS, ids=lambda path: path.stem)
def test_a_definition_is_exported_as_it_was_recorded(path: Path, call: Call) -> None:
    assert call("graph", "export", str(path)).out.encode() == path.read_bytes()


def test_a_graph_is_exported_to_a_file(folder: Path, call: Call) -> None:
    answer = call("graph", "export", "essays:essays", "-o", "out.json")
    assert answer == (0, "", "")
    definition = Definition.from_json((folder / "out.json").read_bytes())
    assert [node.name for node in definition.nodes] == ["draft", "review", "sign_off", "publish"]
    assert definition.identity is not None


def test_a_file_that_cannot_be_written_is_an_error(call: Call) -> None:
    answer = call("graph", "export", "essays:essays", "-o", "no/such/folder.json")
    assert answer == (2, "", "error: 'no/such/folder.json' cannot be written: No such file or directory\n")


def test_a_folder_is_no_graph(folder: Path, call: Call) -> None:
    (folder / "graphs").mkdir()
    assert call("graph", "view", "graphs") == (2, "", "error: 'graphs' is a folder, and this command takes one graph\nhint: name one of its files\n")
