"""`strata thread resume`: a person's answer from the terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from strata import Runner
from strata.cli.importing import import_compiled
from strata.stores.sqlite import SqliteStore
from tests.cli.conftest import Call

DESK = """
from msgspec import Struct

from strata import Context, State, StateGraph, boundary, edge, node, on_reject, subgraph, wait_for_event


class Check(State):
    text: str
    mark: int = 0


@node
@boundary
@edge("grade")
def read(check: Check) -> Check:
    return check


@node
def grade(check: Check, ctx: Context) -> Check:
    return check.replace(mark=check.mark or ctx.interrupt("which mark?", returns=int))


checks = StateGraph(Check).start(read).nodes(grade).compile()


class Paid(Struct):
    cents: int


class Essay(State):
    text: str
    mark: int = 0
    cents: int = 0


def for_check(essay: Essay) -> Check:
    return Check(text=essay.text)


@subgraph(checks, enter=for_check)
@edge("pay")
def check(essay: Essay, checked: Check) -> Essay:
    return essay.replace(mark=checked.mark)


@wait_for_event("paid")
@edge("publish")
def pay(essay: Essay, paid: Paid) -> Essay:
    return essay.replace(cents=essay.cents + paid.cents)


@node
def publish(essay: Essay) -> Essay:
    if essay.cents < 0:
        raise ValueError("nobody pays less than nothing")
    return essay


desk = StateGraph(Essay).start(check).nodes(pay, publish).compile(id="desk", version="1")
careful = StateGraph(Essay).start(check).nodes(pay, publish).compile(id="desk", version="1", durable=True)
"""


@pytest.fixture
def store(folder: Path) -> str:
    """A thread `e-1` that waits for a person inside a subgraph."""
    (folder / "desk.py").write_text(DESK, encoding="utf-8")
    graph = import_compiled("desk:desk")
    with SqliteStore("desk.db") as store:
        Runner(graph, store).run_sync("e-1", graph.state(text="A text"))
    return "desk.db"


def resume(call: Call, store: str, *arguments: str) -> tuple[int, dict[str, object]]:
    answer = call("thread", "resume", "desk:desk", "e-1", "--store", store, "--json", *arguments)
    assert answer.err == ""
    return answer.code, json.loads(answer.out)


def test_a_thread_is_answered_step_by_step(store: str, call: Call) -> None:
    code, asked = resume(call, store, "--approve", "ed", "--set", 'text="A better text"')
    assert (code, asked["status"], asked["at"]) == (0, "interrupted", ["check", "grade"])
    code, graded = resume(call, store, "--answer", "8")
    assert (code, graded["status"], graded["at"]) == (0, "interrupted", ["pay"])
    code, published = resume(call, store, "--event", "paid", "--payload", '{"cents": 350}')
    assert (code, published["status"], published["state"]) == (0, "completed", {"text": "A text", "mark": 8, "cents": 350})


def test_who_answers_is_on_record(store: str, call: Call) -> None:
    resume(call, store, "--approve", "ed")
    assert call("thread", "resume", "desk:careful", "e-1", "--store", store, "--answer", "8", "--by", "grace").code == 0
    assert b'"by":"grace"' in Path(store).read_bytes().replace(b"\\", b"")


def test_a_field_is_that_of_the_graph_that_waits(store: str, call: Call) -> None:
    code, graded = resume(call, store, "--approve", "ed", "--set", "mark=5")
    assert (code, graded["at"]) == (0, ["pay"])
    answer = call("thread", "resume", "desk:desk", "e-1", "--store", store, "--event", "paid", "--set", "marks=5")
    assert (answer.code, answer.out) == (1, "")
    assert "Essay has no field 'marks': did you mean 'mark'?" in answer.err


def test_a_failed_thread_goes_on_with_a_changed_field(store: str, call: Call) -> None:
    resume(call, store, "--approve", "ed", "--set", "mark=5")
    code, failed = resume(call, store, "--event", "paid", "--payload", '{"cents": -1}')
    assert (code, failed["status"], failed["at"], failed["error"]) == (1, "failed", ["publish"], "ValueError: nobody pays less than nothing")
    assert resume(call, store)[0] == 1
    code, published = resume(call, store, "--set", "cents=0")
    assert (code, published["status"]) == (0, "completed")


def test_people_are_told_in_a_line(store: str, call: Call) -> None:
    answer = call("thread", "resume", "desk:desk", "e-1", "--store", store, "--reject", "ed")
    assert (answer.code, answer.out) == (0, f"thread 'e-1' waits at check/grade; see: strata thread inspect --store {store} e-1\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "is waiting for a human"),
        (("--answer", "8"), "has no open question"),
        (("--event", "paid"), "is not waiting for event 'paid'"),
        (("--approve", "ed", "--at-sequence", "99"), "99"),
    ],
)
def test_a_refusal_is_told_and_ends_with_1(store: str, call: Call, arguments: tuple[str, ...], told: str) -> None:
    answer = call("thread", "resume", "desk:desk", "e-1", "--store", store, *arguments)
    assert (answer.code, answer.out) == (1, "")
    assert told in answer.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--approve", "ed", "--reject", "ed"), "Mutually exclusive"),
        (("--payload", "{}"), "--payload is what an event carries"),
        (("--answer", "8", "--set", "mark=5"), "--set goes with"),
        (("--approve", "ann", "--by", "ed"), "--by is who gives an answer"),
        (("--answer", "eight"), "--answer is not JSON"),
        (("--approve", "ed", "--set", "mark"), "names no field and value"),
        (("--approve", "ed", "--set", "mark=five"), "--set mark is not JSON"),
    ],
)
def test_what_cannot_be_meant_is_told_and_ends_with_2(store: str, call: Call, arguments: tuple[str, ...], told: str) -> None:
    answer = call("thread", "resume", "desk:desk", "e-1", "--store", store, *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert told in answer.err


def test_a_thread_that_is_not_there_is_told(store: str, call: Call) -> None:
    answer = call("thread", "resume", "desk:desk", "e-2", "--store", store, "--approve", "ed")
    assert (answer.code, answer.out) == (1, "")
    assert "no checkpoint found for thread 'e-2'" in answer.err
