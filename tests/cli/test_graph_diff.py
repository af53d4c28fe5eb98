"""`strata graph diff`, over files, modules and git revisions, and what `strata graph export` writes for it."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from strata import CompiledGraph, Runner
from strata.cli.importing import import_graph
from strata.graph.definition import Definition
from strata.graph.state_schemas import StateSchemas
from strata.stores.sqlite import SqliteStore
from tests.cli.conftest import ESSAYS, Call, change

RENAMED = ESSAYS.replace("sign_off", "approval")


@pytest.fixture
def renamed(folder: Path) -> str:
    """The essays with another name for `sign_off`."""
    (folder / "renamed.py").write_text(RENAMED, encoding="utf-8")
    return "renamed:essays"


@pytest.fixture
def repository(folder: Path) -> Path:
    """The folder as a git repository with one commit, named `first`; nothing of the machine's settings counts."""
    for arguments in (("init", "--quiet"), ("add", "essays.py", "broken.py"), ("commit", "--quiet", "--message", "one"), ("tag", "first")):
        git(folder, *arguments)
    return folder


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def pause(graph: str, *threads: str) -> str:
    """The threads, paused at the graph's boundary in a database of that name."""
    compiled = import_graph(graph)
    assert isinstance(compiled, CompiledGraph)
    with SqliteStore("essays.db") as store:
        for thread in threads:
            Runner(compiled, store).run_sync(thread, compiled.state(min_score=3))
    return "essays.db"


async def copy(database: str, thread: str, times: int) -> None:
    """More threads that stand where that one does."""
    async with SqliteStore(database, durability="normal") as store:
        stored = await store.load_latest(thread)
        assert stored is not None
        for number in range(times):
            await store.save(replace(stored.checkpoint, thread_id=f"{thread}-{number}"))


def compared(call: Call, *arguments: str) -> dict[str, Any]:
    comparison: dict[str, Any] = json.loads(call("graph", "diff", *arguments, "--json").out)
    return comparison


# export


def test_the_schemas_of_the_states_are_written_beside_the_definition(folder: Path, call: Call) -> None:
    assert call("graph", "export", "essays:essays", "-o", "out.json") == (0, "", "")
    assert (folder / "out.json").read_text(encoding="utf-8") == call("graph", "export", "essays:essays").out
    schemas = StateSchemas.from_json((folder / "out.states.json").read_bytes())
    assert schemas.state is not None
    assert schemas.state["$defs"]["Essay"]["properties"] == {"min_score": {"type": "integer"}, "score": {"type": "integer", "default": 0}}
    assert schemas.migrates is False


def test_the_schemas_can_be_printed_alone(folder: Path, call: Call) -> None:
    call("graph", "export", "essays:essays", "-o", "out.json")
    answer = call("graph", "export", "essays:essays", "--states")
    assert answer == (0, (folder / "out.states.json").read_text(encoding="utf-8"), "")
    assert call("graph", "export", "out.json", "--states") == answer


def test_a_definition_alone_has_no_schemas_to_print(folder: Path, call: Call) -> None:
    call("graph", "export", "essays:essays", "-o", "out.json")
    (folder / "out.states.json").unlink()
    answer = call("graph", "export", "out.json", "--states")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: 'out.json' says nothing of its states\n")


def test_schemas_of_an_earlier_export_do_not_stay(folder: Path, call: Call) -> None:
    call("graph", "export", "essays:essays", "-o", "out.json")
    (folder / "alone.json").write_bytes((folder / "out.json").read_bytes())
    call("graph", "export", "alone.json", "-o", "out.json")
    assert not (folder / "out.states.json").exists()


def test_schemas_are_no_definitions_of_a_folder(folder: Path, call: Call) -> None:
    call("graph", "export", "essays:essays", "-o", "out.json")
    assert call("graph", "validate", ".") == (0, "out.json: valid\n", "")


# diff


def test_a_change_that_breaks(renamed: str, call: Call) -> None:
    shown = (
        "breaks: node 'sign_off' seems to be called 'approval' now: a thread that stands at it is refused [node_renamed]\n"
        "  hint: threads know a node by its name: let the decorator say 'sign_off', whatever the function is called\n"
        "paused threads break\n"
    )
    assert call("graph", "diff", "essays:essays", renamed) == (1, shown, "")


def test_the_json_of_a_change_that_breaks(renamed: str, call: Call) -> None:
    assert compared(call, "essays:essays", renamed) == {
        "ok": False,
        "old": "essays:essays",
        "new": "renamed:essays",
        "changes": [
            {
                "code": "node_renamed",
                "effect": "breaks",
                "text": "node 'sign_off' seems to be called 'approval' now: a thread that stands at it is refused",
                "level": [],
                "node": "sign_off",
                "field": None,
                "hint": "threads know a node by its name: let the decorator say 'sign_off', whatever the function is called",
                "threads": None,
            }
        ],
        "unreadable": [],
    }


def test_a_change_that_breaks_nothing(folder: Path, call: Call) -> None:
    (folder / "more.py").write_text(ESSAYS.replace("score: int = 0", "score: int = 0\n    why: str = ''"), encoding="utf-8")
    answer = call("graph", "diff", "essays:essays", "more:essays")
    assert answer == (0, "harmless: state field 'why' is new and has a default [field_added]\nno paused thread breaks\n", "")


def test_no_change(call: Call) -> None:
    assert call("graph", "diff", "essays:essays", "essays:essays") == (0, "nothing that a paused thread needs has changed\n", "")


def test_exported_definitions_are_compared_with_their_schemas(folder: Path, call: Call) -> None:
    (folder / "retyped.py").write_text(ESSAYS.replace("min_score: int", "min_score: str").replace("essay.score <", "0 <"), encoding="utf-8")
    call("graph", "export", "essays:essays", "-o", "old.json")
    call("graph", "export", "retyped:essays", "-o", "new.json")
    (changed,) = compared(call, "old.json", "new.json")["changes"]
    assert (changed["code"], changed["field"]) == ("field_retyped", "min_score")
    (folder / "old.states.json").unlink()
    answer = call("graph", "diff", "old.json", "new.json")
    assert answer.code == 0
    assert answer.out.startswith("caution: the states are not compared: the old one has no schema here [states_not_compared]\n")


# diff: with a store


def test_the_threads_that_are_paused_there_are_counted(folder: Path, renamed: str, call: Call) -> None:
    database = pause("essays:essays", "e-1", "e-2")
    arguments = ("essays:essays", renamed, "--threads", "--store", database)
    assert [found["threads"] for found in compared(call, *arguments)["changes"]] == [2]
    assert "a thread that stands at it is refused [node_renamed] (2 threads)\n" in call("graph", "diff", *arguments).out


def test_threads_elsewhere_and_those_of_other_graphs_are_not_counted(folder: Path, call: Call) -> None:
    (folder / "other.py").write_text(ESSAYS.replace('id="essays"', 'id="others"'), encoding="utf-8")
    (folder / "shorter.py").write_text(
        ESSAYS.replace('"draft"', '"begin"')
        .replace("def draft", "def begin")
        .replace("to=draft", "to=begin")
        .replace("start(draft)", "start(begin)"),
        encoding="utf-8",
    )
    database = pause("essays:essays", "e-1")
    pause("other:essays", "o-1")
    (changed,) = compared(call, "essays:essays", "shorter:essays", "--threads", "--store", database)["changes"]
    assert (changed["node"], changed["threads"]) == ("draft", 0)


@pytest.mark.parametrize("names", ['id="essays"', ""])
def test_threads_of_other_versions_are_not_counted(names: str, folder: Path, call: Call) -> None:
    (folder / "older.py").write_text(ESSAYS.replace('id="essays", version="1"', names), encoding="utf-8")
    (folder / "later.py").write_text(RENAMED.replace('id="essays", version="1"', names), encoding="utf-8")
    database = pause("older:essays", "e-1")
    pause("essays:essays", "e-2")
    (changed,) = compared(call, "older:essays", "later:essays", "--threads", "--store", database)["changes"]
    assert (changed["node"], changed["threads"]) == ("sign_off", 1)


def test_a_finished_thread_is_not_counted(folder: Path, renamed: str, call: Call) -> None:
    database = pause("essays:essays", "e-1", "e-2")
    assert call("thread", "end", "--store", database, "essays:essays", "e-1").code == 0
    assert [found["threads"] for found in compared(call, "essays:essays", renamed, "--threads", "--store", database)["changes"]] == [1]


def test_more_threads_than_a_page_are_all_counted(folder: Path, renamed: str, call: Call) -> None:
    database = pause("essays:essays", "e-1")
    asyncio.run(copy(database, "e-1", 1001))
    assert [found["threads"] for found in compared(call, "essays:essays", renamed, "--threads", "--store", database)["changes"]] == [1002]


def test_a_row_that_cannot_be_read_is_said(folder: Path, renamed: str, call: Call) -> None:
    database = pause("essays:essays", "e-1", "e-2")
    change(Path(database), "UPDATE checkpoints SET metadata = '[1]' WHERE thread_id = 'e-2' AND status = 'interrupted'")
    answer = call("graph", "diff", "essays:essays", "essays:essays", "--threads", "--store", database)
    assert answer.code == 1
    assert answer.out.startswith("e-2: cannot be read: ")


def test_without_a_store_there_is_nothing_to_count(call: Call) -> None:
    answer = call("graph", "diff", "essays:essays", "essays:essays", "--threads")
    assert answer == (2, "", "error: --threads needs a store\nhint: give --store, or set STRATA_STORE\n")


def test_the_store_may_come_from_the_environment(renamed: str, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRATA_STORE", pause("essays:essays", "e-1"))
    assert [found["threads"] for found in compared(call, "essays:essays", renamed, "--threads")["changes"]] == [1]


# diff: git revisions


def test_a_revision_is_compared_with_the_files_as_they_are(repository: Path, call: Call) -> None:
    (repository / "essays.py").write_text(RENAMED, encoding="utf-8")
    before = git(repository, "status", "--porcelain")
    comparison = compared(call, "first:essays:essays", "essays:essays")
    assert [found["code"] for found in comparison["changes"]] == ["node_renamed"]
    assert git(repository, "status", "--porcelain") == before
    assert git(repository, "worktree", "list").count("\n") == 1


def test_two_revisions_are_compared(repository: Path, call: Call) -> None:
    (repository / "essays.py").write_text(RENAMED, encoding="utf-8")
    git(repository, "commit", "--all", "--quiet", "--message", "two")
    assert call("graph", "diff", "HEAD~1:essays:essays", "HEAD:essays:essays").code == 1
    assert call("graph", "diff", "first:essays.py:essays", "HEAD~1:essays:essays").code == 0


def test_a_definition_of_a_revision_is_compared_with_its_schemas_beside_it(repository: Path, call: Call, renamed: str) -> None:
    assert call("graph", "export", "essays:essays", "-o", "essays.json").code == 0
    git(repository, "add", "essays.json", "essays.states.json")
    git(repository, "commit", "--quiet", "--message", "two")
    for name in ("essays.json", "essays.states.json"):
        (repository / name).unlink()
    before = git(repository, "status", "--porcelain")
    assert compared(call, "HEAD:essays.json", "essays:essays")["changes"] == []
    assert [found["code"] for found in compared(call, "HEAD:essays.json", renamed)["changes"]] == ["node_renamed"]
    assert git(repository, "status", "--porcelain") == before


def test_a_definition_of_a_revision_without_schemas_says_so(repository: Path, call: Call) -> None:
    call("graph", "export", "essays:essays", "-o", "essays.json")
    git(repository, "add", "essays.json")
    git(repository, "commit", "--quiet", "--message", "two")
    assert [found["code"] for found in compared(call, "HEAD:essays.json", "essays:essays")["changes"]] == ["states_not_compared"]


def test_a_definition_of_a_revision_is_looked_for_from_the_folder_that_one_is_in(
    repository: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "graphs").mkdir()
    call("graph", "export", "essays:essays", "-o", "graphs/essays.json")
    git(repository, "add", "graphs")
    git(repository, "commit", "--quiet", "--message", "two")
    assert call("graph", "diff", "HEAD:graphs/essays.json", "graphs/essays.json").code == 0
    monkeypatch.chdir(repository / "graphs")
    assert call("graph", "diff", "HEAD:essays.json", "essays.json").code == 0
    assert call("graph", "diff", "HEAD:../graphs/essays.json", "essays.json").code == 0


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("nowhere:essays.json", "error: 'nowhere' is no revision of this repository\n"),
        ("first:essays.json", "error: 'first' has no file 'essays.json'\n"),
        ("HEAD:noted.json", "error: HEAD:noted.json: "),
        ("HEAD:../essays.json", "error: 'HEAD' has no file '../essays.json'\n"),
    ],
)
def test_a_definition_of_a_revision_that_cannot_be_compared(target: str, text: str, repository: Path, call: Call) -> None:
    (repository / "noted.json").write_text("{", encoding="utf-8")
    git(repository, "add", "noted.json")
    git(repository, "commit", "--quiet", "--message", "two")
    (repository / "noted.json").unlink()
    answer = call("graph", "diff", target, "essays:essays")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(text)


def test_a_revision_is_imported_from_the_folder_that_one_is_in(repository: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / "src").mkdir()
    git(repository, "mv", "essays.py", "src/essays.py")
    git(repository, "commit", "--quiet", "--message", "two")
    monkeypatch.chdir(repository / "src")
    assert call("graph", "diff", "HEAD:essays:essays", "essays:essays").code == 0
    answer = call("graph", "diff", "first:essays:essays", "essays:essays")
    assert answer == (2, "", "error: 'first' has no folder 'src/'\nhint: call it in a folder that both have\n")


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("nowhere:essays:essays", "error: 'nowhere' is no revision of this repository\n"),
        ("--all:essays:essays", "error: "),
        ("first:esays:essays", "error: in 'first': there is no module 'esays'\n"),
        ("first:essays:esays", "error: in 'first': the module 'essays' has no 'esays'"),
        ("first:json:tool", "error: in 'first': "),
    ],
)
def test_a_revision_that_cannot_be_compared(target: str, text: str, repository: Path, call: Call) -> None:
    answer = call("graph", "diff", target, "essays:essays")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(text)


def test_a_module_that_is_not_the_revisions_is_refused(repository: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = repository / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "installed.py").write_text(ESSAYS, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(elsewhere))
    answer = call("graph", "diff", "first:installed:essays", "essays:essays")
    assert answer.code == 2
    assert answer.err.startswith("error: in 'first': the module 'installed' was imported from '")


def test_without_a_repository_there_are_no_revisions(folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent))
    answer = call("graph", "diff", "main:essays:essays", "essays:essays")
    assert answer.code == 2
    assert answer.err.startswith("error: git rev-parse: fatal: not a git repository")


# diff: what cannot be compared


def test_a_graph_with_errors_cannot_be_compared(folder: Path, call: Call) -> None:
    (folder / "faulty.py").write_text((folder / "broken.py").read_text(encoding="utf-8") + "\ncompiled = broken.compile()\n", encoding="utf-8")
    answer = call("graph", "diff", "faulty:compiled", "essays:essays")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: 'faulty:compiled' has errors, and no thread can be paused in it: ")


@pytest.mark.parametrize(
    "content", ["{", '{"state": {"$ref": "#/$defs/Essay"}, "migrates": false}', '{"state": {"type": "object", "properties": 5}, "migrates": false}']
)
def test_a_file_beside_a_definition_that_holds_something_else(content: str, folder: Path, call: Call) -> None:
    call("graph", "export", "essays:essays", "-o", "old.json")
    (folder / "old.states.json").write_text(content, encoding="utf-8")
    answer = call("graph", "diff", "old.json", "essays:essays")
    assert (answer.code, answer.out) == (2, "")


def test_a_target_that_is_not_there(call: Call) -> None:
    assert call("graph", "diff", "nothing.json", "essays:essays").code == 2


def test_the_definition_of_another_engine_is_compared(folder: Path, call: Call) -> None:
    call("graph", "export", "essays:essays", "-o", "old.json")
    definition = Definition.from_json((folder / "old.json").read_bytes())
    (folder / "other.json").write_bytes(definition.to_json().replace(b'"publish"', b'"print"'))
    assert [found["code"] for found in compared(call, "old.json", "other.json")["changes"]] == ["node_renamed", "states_not_compared"]
