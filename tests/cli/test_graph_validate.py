"""`strata graph validate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.definitions import RECORDED

VALIDATION = RECORDED / "validation"
UNSOUND = "wait_and_boundary_in_map"  # its shape is refused before its rules are asked
CASES = sorted(path for path in VALIDATION.glob("*.json") if path.stem != UNSOUND)
# Where our rules ask for more than the engines do: every set of nodes must have a way out.
NO_TERMINAL = "STRATA_ERR_NO_TERMINAL"


def write(path: Path, definition: object) -> Path:
    path.write_text(json.dumps(definition), encoding="utf-8")
    return path


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_a_definition_has_the_recorded_errors(case: Path, folder: Path, call: Call) -> None:
    record = json.loads(case.read_text(encoding="utf-8"))
    answer = call("graph", "validate", "--json", str(write(folder / "graph.json", record["definition"])))
    (graph,) = json.loads(answer.out)["graphs"]
    errors = [problem for problem in graph["problems"] if problem["severity"] == "error" and problem["code"] != NO_TERMINAL]
    assert [(error["code"], error["text"], error["node"], error["related"]) for error in errors] == [
        (error["code"], error["message"], error["node"], error["related_node"]) for error in record["errors"]
    ]
    assert answer.code == int(graph["status"] == "invalid")
    assert record["errors"] == [] or answer.code == 1


def test_a_definition_that_fails_the_shape_check_could_not_be_checked(folder: Path, call: Call) -> None:
    shapes = [json.loads(line) for line in (VALIDATION / "shape.jsonl").read_text(encoding="utf-8").splitlines()]
    for shape in shapes:
        write(folder / "shape.json", shape["definition"])
        answer = call("graph", "validate", "shape.json")
        match shape["result"]:
            case "ok":
                assert answer.code != 2, shape["case"]
            case str(text):
                assert (answer.code, answer.err) == (2, f"error: shape.json: {text}\n"), shape["case"]
            case _:
                assert answer.code == 2, shape["case"]
                assert answer.err.startswith("error: shape.json: not a definition: ")


def test_all_recorded_definitions_of_a_folder_are_checked(folder: Path, call: Call) -> None:
    answer = call("graph", "validate", "--json", str(RECORDED / "definitions"))
    statuses = {Path(graph["target"]).stem: graph["status"] for graph in json.loads(answer.out)["graphs"]}
    assert {name for name, status in statuses.items() if status != "valid"} == {"broken_boundary_not_a_node", "broken_empty", "broken_no_entry"}
    assert answer.code == 1


def test_a_valid_graph_is_said_to_be_valid(call: Call) -> None:
    assert call("graph", "validate", "essays:essays") == (0, "essays:essays: valid\n", "")


def test_the_json_of_a_valid_graph(call: Call) -> None:
    answer = call("graph", "validate", "essays:essays", "--json")
    assert json.loads(answer.out) == {
        "ok": True,
        "graphs": [{"target": "essays:essays", "status": "valid", "problems": [], "error": None, "hint": None}],
    }


def test_a_builder_is_checked_without_being_compiled(folder: Path, call: Call) -> None:
    answer = call("graph", "validate", "broken:broken")
    assert answer.code == 1
    first, *_, last = answer.out.splitlines()
    place = f"{folder / 'broken.py'}:10"
    assert (
        first == f"{place}: error: Edge 'draft' -> 'publsh' points at 'publsh', which is not a node in the graph. "
        "Did you mean 'publish'? [STRATA_ERR_DANGLING_EDGE] (node draft)"
    )
    assert last == "broken:broken: invalid"


def test_the_json_of_a_problem(folder: Path, call: Call) -> None:
    answer = call("graph", "validate", "broken:broken", "--json")
    (graph,) = json.loads(answer.out)["graphs"]
    assert graph["problems"][0] == {
        "code": "STRATA_ERR_DANGLING_EDGE",
        "severity": "error",
        "text": "Edge 'draft' -> 'publsh' points at 'publsh', which is not a node in the graph.",
        "node": "draft",
        "related": "publsh",
        "file": str(folder / "broken.py"),
        "line": 10,
        "hint": "Did you mean 'publish'?",
    }


def test_a_module_that_compiles_a_broken_graph_shows_its_faults(folder: Path, call: Call) -> None:
    with (folder / "broken.py").open("a", encoding="utf-8") as module:
        module.write("compiled = broken.compile()\n")
    answer = call("graph", "validate", "broken:compiled")
    assert answer.code == 1
    assert "STRATA_ERR_DANGLING_EDGE" in answer.out
    assert answer.err == ""


def test_warnings_are_shown_and_are_no_fault(folder: Path, call: Call) -> None:
    source = (folder / "essays.py").read_text(encoding="utf-8").replace('@boundary\n@edge("publish")', "@boundary")
    (folder / "stuck.py").write_text(source.replace("sign_off, publish)", "sign_off)"), encoding="utf-8")
    answer = call("graph", "validate", "stuck:essays")
    assert answer.code == 0
    assert ": warning: " in answer.out
    assert answer.out.endswith("stuck:essays: valid\n")


def test_a_target_that_cannot_be_checked_outweighs_faults(folder: Path, call: Call) -> None:
    answer = call("graph", "validate", "broken:broken", "missing.json", "essays:essays")
    assert answer.code == 2
    assert "broken:broken: invalid" in answer.out
    assert "essays:essays: valid" in answer.out
    assert answer.err == "error: 'missing.json' is no file\nhint: a graph is the file of a definition, or module:graph\n"


def test_the_json_of_a_target_that_cannot_be_checked(call: Call) -> None:
    answer = call("graph", "validate", "missing.json", "--json")
    assert answer.code == 2
    assert json.loads(answer.out) == {
        "ok": False,
        "graphs": [
            {
                "target": "missing.json",
                "status": "unreadable",
                "problems": [],
                "error": "'missing.json' is no file",
                "hint": "a graph is the file of a definition, or module:graph",
            }
        ],
    }


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\xff\xfe", b'{"schema_version":"1.0.0"', b"[" * 100_000])
def test_what_is_no_definition_could_not_be_checked(content: bytes, folder: Path, call: Call) -> None:
    (folder / "odd.json").write_bytes(content)
    answer = call("graph", "validate", "odd.json")
    assert answer.code == 2
    assert answer.err.startswith("error: odd.json: not a definition: ")


def test_a_folder_without_definitions_could_not_be_checked(folder: Path, call: Call) -> None:
    (folder / "empty").mkdir()
    answer = call("graph", "validate", "empty")
    assert answer.code == 2
    assert answer.err == "error: the folder 'empty' holds no .json file\nhint: definitions are written by: strata graph export\n"


def test_nothing_to_check_is_an_error(call: Call) -> None:
    answer = call("graph", "validate")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: ")
