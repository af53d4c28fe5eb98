"""`strata thread list|inspect|log|end`, over what our engine and the Rust engine have written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pytest

from strata import CompiledGraph, Context, Runner, State, StateGraph, node
from strata.cli.importing import import_graph
from strata.stores.sqlite import SqliteStore
from strata.testing import TestClock
from tests.cli.conftest import Call, change, recorded
from tests.definitions import RECORDED

DUMPS = sorted(path.stem for path in (RECORDED / "stores" / "sqlite").glob("*.sql"))
HOSTILE = "t\x1b]0;owned\x07\x9b31m\u202e\n%s[bold]"


class Note(State):
    text: str = ""


@node
def keep(note: Note) -> Note:
    return note


notes = StateGraph(Note).start(keep).compile(id="notes", version="1")


@pytest.fixture
def essays_db(folder: Path, call: Call) -> str:
    """Three threads of the recorded order graph: two paused, one completed; their ids are o-1 to o-3."""
    with SqliteStore("notes.db") as store:
        runner = Runner(notes, store)
        for number in (1, 2, 3):
            runner.run_sync(f"n-{number}", Note(text=f"note {number}"), metadata={"tenant": "acme" if number < 3 else "other"})
    return "notes.db"


def lines(text: str) -> list[list[str]]:
    """The rows of a table, without its rule."""
    return [line.split() for line in text.splitlines() if not line.startswith("─")]


# list


def test_threads_are_listed_newest_first(essays_db: str, call: Call) -> None:
    answer = call("thread", "list", "--store", essays_db)
    headings, *rows = lines(answer.out)
    assert headings == ["thread", "state", "at", "next", "graph", "updated"]
    assert {row[0] for row in rows} == {"n-1", "n-2", "n-3"}
    assert all(row[1:4] == ["completed", "keep", "notes/1"] for row in rows)
    assert (answer.code, answer.err) == (0, "")


def test_the_store_may_come_from_the_environment(essays_db: str, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRATA_STORE", f"sqlite:{essays_db}")
    assert call("thread", "list").code == 0


def test_without_a_store_it_is_asked_for(call: Call) -> None:
    answer = call("thread", "list")
    assert answer.code == 2
    assert "--store" in answer.err


def test_threads_are_found_by_state_metadata_and_graph(essays_db: str, call: Call) -> None:
    def ids(*conditions: str) -> set[str]:
        answer = call("thread", "list", "--store", essays_db, "--json", *conditions)
        assert answer.code == 0
        return {thread["thread_id"] for thread in json.loads(answer.out)["threads"]}

    assert ids("--metadata", "tenant=acme") == {"n-1", "n-2"}
    assert ids("--state", "failed", "--state", "completed", "--graph-id", "notes") == {"n-1", "n-2", "n-3"}
    assert ids("--state", "failed") == set()
    assert ids("--graph-id", "other") == set()


def test_a_listing_goes_on_at_its_cursor(essays_db: str, call: Call) -> None:
    first = json.loads(call("thread", "list", "--store", essays_db, "--json", "--limit", "2").out)
    assert len(first["threads"]) == 2
    rest = json.loads(call("thread", "list", "--store", essays_db, "--json", "--cursor", first["next_cursor"]).out)
    assert len(rest["threads"]) == 1
    assert rest["next_cursor"] is None


def test_the_table_names_the_cursor(essays_db: str, call: Call) -> None:
    *_, last = call("thread", "list", "--store", essays_db, "--limit", "2").out.splitlines()
    assert last.startswith("there are more: --cursor ")


def test_the_json_of_a_recorded_thread(folder: Path, call: Call) -> None:
    recorded("order_approve", folder / "rust.db")
    answer = call("thread", "list", "--store", "rust.db", "--json")
    (thread,) = json.loads(answer.out)["threads"]
    times = thread.pop("updated_at")
    assert times.endswith("Z")
    assert thread == {
        "thread_id": "order-1",
        "sequence": 1,
        "state_name": "resumed",
        "status": "interrupted",
        "suspended_node": "approve",
        "next_node": "pay",
        "waiting_at": ["approve"],
        "wait": None,
        "graph": None,
        "metadata": {},
        "schema_version": "1.0.0",
    }


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--limit", "0"), "a page size must be between 1 and 1000, not 0"),
        (("--cursor", "no cursor"), "'no cursor' is not a thread listing cursor"),
        (("--metadata", "tenant"), "--metadata 'tenant' is not KEY=VALUE"),
        (("--state", "asleep"), "Invalid value"),
        (("--limit", "many"), "Invalid value"),
        (("--nonsense",), "Unknown option"),
    ],
)
def test_an_argument_that_cannot_be_used_is_an_error(arguments: tuple[str, ...], text: str, essays_db: str, call: Call) -> None:
    answer = call("thread", "list", "--store", essays_db, *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"error: {text}")


def test_a_row_that_cannot_be_read_hides_no_other(essays_db: str, call: Call) -> None:
    change(Path(essays_db), "UPDATE checkpoints SET status = 'asleep' WHERE thread_id = 'n-2'")
    answer = call("thread", "list", "--store", essays_db)
    assert answer.code == 1
    assert {row[0] for row in lines(answer.out)} >= {"n-1", "n-3", "n-2:"}
    listing = json.loads(call("thread", "list", "--store", essays_db, "--json").out)
    assert [(row["thread_id"], row["sequence"]) for row in listing["unreadable"]] == [("n-2", 1)]


def test_no_threads(folder: Path, call: Call) -> None:
    with SqliteStore("empty.db"):
        pass
    assert call("thread", "list", "--store", "empty.db") == (0, "no threads\n", "")


# inspect


def test_a_thread_is_shown_with_its_raw_state(essays_db: str, call: Call) -> None:
    answer = call("thread", "inspect", "--store", essays_db, "n-1")
    assert answer.code == 0
    assert "thread    n-1\nstate     completed\nat        keep\n" in answer.out
    assert "metadata  tenant = acme\n" in answer.out
    assert answer.out.endswith('state:\n  {\n    "text": "note 1"\n  }\n')


def test_the_json_of_a_thread_needs_no_graph(folder: Path, call: Call) -> None:
    recorded("order_override", folder / "rust.db")
    thread = json.loads(call("thread", "inspect", "--store", "rust.db", "order-1", "--json").out)
    assert set(thread) == {
        *("thread_id", "sequence", "state_name", "status", "suspended_node", "next_node", "waiting_at", "hops", "error", "wait", "decision"),
        *("question", "graph", "metadata", "schema_version", "created_at", "resumed_at", "state", "nested"),
    }
    assert thread["state"]["order_id"] == "o-1"
    assert thread["nested"] == []


def test_the_levels_of_a_recorded_thread_are_all_shown(folder: Path, call: Call) -> None:
    recorded("sub_interrupt_levels", folder / "rust.db")
    thread = json.loads(call("thread", "log", "--store", "rust.db", "shelf-1", "--json").out.splitlines()[0])
    assert thread["waiting_at"] == ["make", "write", "review"]
    assert [level["suspended_node"] for level in thread["nested"]] == ["write", "review"]
    assert call("thread", "inspect", "--store", "rust.db", "shelf-1").code == 0


# inspect: what a node has asked


def asked(question: object, **answer: Any) -> None:
    """The thread a-1, whose node has asked, and b-1, where a graph inside a node has."""

    @node
    def ask(note: Note, ctx: Context) -> Note:
        return note.replace(text=str(ctx.interrupt(question, **answer)))

    asks = StateGraph(Note).start(ask).compile(id="asks", version="1")
    around = StateGraph(Note).add_subgraph("outer", asks, enter=lambda note: note, leave=lambda _, inner: inner).compile(id="around", version="1")
    clock = TestClock()
    with SqliteStore("asks.db", clock=clock) as store:
        Runner(asks, store, clock=clock).run_sync("a-1", Note())
        Runner(around, store, clock=clock).run_sync("b-1", Note())


def test_a_question_is_shown_as_it_is_asked(folder: Path, call: Call) -> None:
    asked("Which score?\nFrom 1 to 10.", returns=Annotated[int, msgspec.Meta(ge=1, le=10)], key="score")
    shown = call("thread", "inspect", "--store", "asks.db", "a-1").out
    assert (
        "question  score, since 2026-11-02T12:00:00Z\nasks      Which score?\n          From 1 to 10.\ntakes     integer (minimum 1, maximum 10)\n"
    ) in shown
    assert "strata.question" not in shown


@pytest.mark.parametrize(
    ("answer", "words"),
    [({}, "approve or reject"), ({"returns": Literal["red", "green"]}, 'one of "green", "red"'), ({"returns": bool | None}, "boolean or null")],
)
def test_a_question_inside_a_node_says_what_it_takes(answer: dict[str, Any], words: str, folder: Path, call: Call) -> None:
    asked({"which": "colour"}, **answer)
    shown = call("thread", "inspect", "--store", "asks.db", "b-1").out
    assert f'question  #1, since 2026-11-02T12:00:00Z\nasks      {{"which":"colour"}}\ntakes     {words}\n' in shown


def test_the_json_of_a_question_is_the_question_itself(folder: Path, call: Call) -> None:
    asked({"which": "score"}, returns=int)
    thread = json.loads(call("thread", "inspect", "--store", "asks.db", "b-1", "--json").out)
    assert thread["question"] == {
        "id": "#1",
        "path": "outer/ask",
        "asked": {"which": "score"},
        "schema": {"type": "integer"},
        "since": "2026-11-02T12:00:00Z",
    }
    before, at = (json.loads(line) for line in call("thread", "log", "--store", "asks.db", "a-1", "--json").out.splitlines())
    assert (before["question"], at["question"]["path"]) == (None, "ask")


def test_a_question_that_cannot_be_read_is_shown_as_it_is_stored(folder: Path, call: Call) -> None:
    asked("Which score?", returns=int)
    change(Path("asks.db"), """UPDATE checkpoints SET metadata = '{"strata.question": "?"}' WHERE status = 'interrupted'""")
    answer = call("thread", "inspect", "--store", "asks.db", "a-1")
    assert answer.code == 0
    assert "metadata  strata.question = ?\n" in answer.out
    assert json.loads(call("thread", "inspect", "--store", "asks.db", "a-1", "--json").out)["question"] is None


def test_sec_a_hostile_question_is_shown_and_does_nothing(folder: Path, call: Call) -> None:
    asked(HOSTILE, returns=Literal["\x1b[31m", "no"], key=HOSTILE)
    for form in ((), ("--json",)):
        answer = call("thread", "inspect", "--store", "asks.db", *form, "a-1")
        assert answer.code == 0
        assert not [char for char in answer.out if not char.isprintable() and char != "\n"]


def test_a_thread_that_is_not_there(essays_db: str, call: Call) -> None:
    for command in ("inspect", "log"):
        answer = call("thread", command, "--store", essays_db, "n-9")
        assert answer == (1, "", "error: no checkpoint found for thread 'n-9'\nhint: start it with run(), or look for the id with threads()\n")


def test_a_record_that_cannot_be_read_is_said_to_be(essays_db: str, call: Call) -> None:
    change(Path(essays_db), "UPDATE checkpoints SET frozen_state = '{' WHERE thread_id = 'n-1'")
    answer = call("thread", "inspect", "--store", essays_db, "n-1")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == "error: the state of record #1 of thread 'n-1' is not JSON: Input data was truncated\n"
    answer = call("thread", "log", "--store", essays_db, "n-1", "--json")
    assert answer.code == 1
    assert [sorted(json.loads(line)) for line in answer.out.splitlines()] == [["error", "sequence", "thread_id"]] * 2


# log


def test_the_log_has_a_line_a_record(essays_db: str, call: Call) -> None:
    answer = call("thread", "log", "--store", essays_db, "n-1", "--json")
    records = [json.loads(line) for line in answer.out.splitlines()]
    assert [(record["sequence"], record["state_name"], record["next_node"], record["hops"]) for record in records] == [
        (0, "running", "keep", 0),
        (1, "completed", None, 1),
    ]
    shown = call("thread", "log", "--store", essays_db, "n-1").out.splitlines()
    assert [line[:24] for line in shown[::2]] == ["#0 running  -> keep  hop", "#1 completed  at keep  h"]
    assert shown[1] == '   {"text":"note 1"}'


def test_the_log_goes_on_behind_a_record(essays_db: str, call: Call) -> None:
    records = call("thread", "log", "--store", essays_db, "n-1", "--after", "0", "--json").out.splitlines()
    assert [json.loads(record)["sequence"] for record in records] == [1]
    assert call("thread", "log", "--store", essays_db, "n-1", "--after", "1") == (0, "", "")


def test_a_long_log_is_shown_whole(folder: Path, call: Call) -> None:
    with SqliteStore("notes.db") as store:
        runner = Runner(notes, store)
        for _ in range(130):
            runner.run_sync("n-1", Note())
    assert len(call("thread", "log", "--store", "notes.db", "n-1", "--json").out.splitlines()) == 260


def test_a_row_of_the_log_that_cannot_be_read_hides_no_other(essays_db: str, call: Call) -> None:
    change(Path(essays_db), "UPDATE checkpoints SET metadata = '[1]' WHERE thread_id = 'n-1' AND sequence = 0")
    answer = call("thread", "log", "--store", essays_db, "n-1")
    assert answer.code == 1
    assert answer.out.startswith("#0 cannot be read: ")
    assert "\n#1 completed" in answer.out
    first, second = (json.loads(line) for line in call("thread", "log", "--store", essays_db, "n-1", "--json").out.splitlines())
    assert set(first) == {"thread_id", "sequence", "error"}
    assert second["sequence"] == 1


@pytest.mark.parametrize("name", [name for name in DUMPS if name not in {"schema", "history", "long_term_memory", "lease", "lease_lost"}])
def test_every_recorded_database_can_be_looked_at(name: str, folder: Path, call: Call) -> None:
    recorded(name, folder / "rust.db")
    listing = json.loads(call("thread", "list", "--store", "rust.db", "--json").out)
    assert listing["threads"]
    assert listing["unreadable"] == []
    for thread in listing["threads"]:
        assert call("thread", "inspect", "--store", "rust.db", thread["thread_id"]).code == 0
        assert call("thread", "log", "--store", "rust.db", thread["thread_id"]).code == 0


# end


def test_a_thread_is_ended(folder: Path, call: Call) -> None:
    _pause("essays.db")
    answer = call("thread", "end", "--store", "essays.db", "essays:essays", "e-1", "--by", "ops")
    assert answer == (0, "thread 'e-1' is ended; it stood at sign_off\n", "")
    thread = json.loads(call("thread", "inspect", "--store", "essays.db", "e-1", "--json").out)
    assert (thread["state_name"], thread["metadata"]["strata.ended_by"]) == ("ended", "ops")


def test_ending_it_again_gives_the_same_answer(folder: Path, call: Call) -> None:
    _pause("essays.db")
    once = call("thread", "end", "--store", "essays.db", "essays:essays", "e-1", "--json")
    assert json.loads(once.out) == {"thread_id": "e-1", "state_name": "ended", "stopped_at": ["sign_off"]}
    assert call("thread", "end", "--store", "essays.db", "essays:essays", "e-1", "--json") == once


def test_a_thread_that_refuses_stands_as_it_stood(essays_db: str, call: Call) -> None:
    before = call("thread", "log", "--store", essays_db, "n-1", "--json").out
    answer = call("thread", "end", "--store", essays_db, f"{__name__}:notes", "n-1")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("error: thread 'n-1' has completed: only a waiting, failed or cancelled thread can be ended\nhint: ")
    assert call("thread", "log", "--store", essays_db, "n-1", "--json").out == before


def test_another_graphs_thread_refuses(folder: Path, call: Call) -> None:
    _pause("essays.db")
    answer = call("thread", "end", "--store", "essays.db", f"{__name__}:notes", "e-1")
    assert (answer.code, answer.out) == (1, "")
    assert "was written by graph" in answer.err


def _pause(database: str) -> None:
    graph = import_graph("essays:essays")
    assert isinstance(graph, CompiledGraph)
    with SqliteStore(database) as store:
        Runner(graph, store).run_sync("e-1", graph.state(min_score=3))


# stores


@pytest.mark.parametrize(
    "command",
    [("list",), ("inspect", "t"), ("log", "t"), ("end", "essays:essays", "t")],
    ids=lambda command: command[0],
)
def test_a_database_that_is_not_there_is_not_made(command: tuple[str, ...], folder: Path, call: Call) -> None:
    answer = call("thread", command[0], "--store", "missing.db", *command[1:])
    assert answer == (
        2,
        "",
        "error: there is no database 'missing.db'\nhint: look at --store or STRATA_STORE: a relative path starts at the current folder\n",
    )
    assert not (folder / "missing.db").exists()


def test_a_file_that_is_no_database_is_an_error(folder: Path, call: Call) -> None:
    (folder / "text.db").write_bytes(b"no database at all, but long enough to be looked at " * 100)
    answer = call("thread", "list", "--store", "text.db")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: the file 'text.db' is not a SQLite database")


def test_a_store_that_is_not_known_is_an_error(call: Call) -> None:
    answer = call("thread", "list", "--store", "mongo:here")
    assert answer.code == 2
    assert answer.err.startswith("error: 'mongo:here' is not a store that can be opened: use ")


# what must not steer a terminal


def test_sec_a_hostile_id_state_and_error_are_shown_and_do_nothing(folder: Path, call: Call) -> None:
    with SqliteStore("notes.db") as store:
        Runner(notes, store).run_sync(HOSTILE, Note(text=HOSTILE), metadata={"k": HOSTILE})
    for command in (("list",), ("inspect", "--", HOSTILE), ("log", "--", HOSTILE), ("inspect", "--", f"{HOSTILE}?")):
        for form in ((), ("--json",)):
            answer = call("thread", command[0], "--store", "notes.db", *form, *command[1:])
            assert not [char for char in answer.out + answer.err if not char.isprintable() and char != "\n"]


def test_hostile_text_comes_back_from_json(folder: Path, call: Call) -> None:
    with SqliteStore("notes.db") as store:
        Runner(notes, store).run_sync(HOSTILE, Note(text=HOSTILE))
    (thread,) = json.loads(call("thread", "list", "--store", "notes.db", "--json").out)["threads"]
    assert thread["thread_id"] == HOSTILE
    shown = json.loads(call("thread", "inspect", "--store", "notes.db", "--json", "--", HOSTILE).out)
    assert shown["state"] == {"text": HOSTILE}


def test_numbers_of_a_state_are_printed_as_they_are_stored(folder: Path, call: Call) -> None:
    recorded("numbers", folder / "rust.db")
    first = call("thread", "log", "--store", "rust.db", "values-1", "--json").out.splitlines()[0]
    assert '"uintMax":18446744073709551615' in first
    assert '"minusZero":-0.0' in first
