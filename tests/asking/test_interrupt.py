"""A node asks in its middle: the thread waits, and the node runs again with the answer (design section 2, Asking)."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, time
from math import inf, nan
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pytest

from strata import (
    Cancelled,
    Completed,
    Context,
    Event,
    Failed,
    FatalError,
    Interrupted,
    NotWaiting,
    Question,
    Resume,
    Runner,
    SignalRefused,
    StateGraph,
    TransientError,
    boundary,
    branch,
    edge,
    node,
    on_reject,
    retry,
)
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore
from strata.testing import context
from tests.graphs.trails import Trail, adds, line
from tests.logs import checkpoints


class Approve(msgspec.Struct, frozen=True, tag=True):
    score: int


class Refuse(msgspec.Struct, frozen=True, tag=True):
    why: str


class Score(msgspec.Struct, frozen=True):
    low: float


def last(state: Trail) -> Trail:
    return state.replace(trail=state.trail + "B")


def asks(handler: Callable[..., Any], durable: bool = True) -> Any:
    """A -> Ask -> B."""
    graph = StateGraph(Trail).add_node("A", adds("A"), inline=True).add_node("Ask", handler, inline=not inspect.iscoroutinefunction(handler))
    graph = graph.add_node("B", last, inline=True).add_edge("A", "Ask").add_edge("Ask", "B")
    return graph.compile(id="asks", version="1", durable=durable)


class Editor:
    """Asks for a score and for words, and counts how often it was started and how often it came to its end."""

    def __init__(self) -> None:
        self.hops: list[int] = []
        self.keys: list[str] = []

    def __call__(self, state: Trail, ctx: Context) -> Trail:
        self.hops.append(ctx.hop)
        self.keys.append(ctx.idempotency_key)
        score = ctx.interrupt({"which": "score"}, returns=int)
        words = ctx.interrupt("which words?", returns=list[str], key="words")
        return state.replace(trail=f"{state.trail}{''.join(words)}", n=score)


@pytest.mark.parametrize("durable", [True, False])
async def test_a_node_asks_twice_and_gets_both_answers_in_the_same_hop(durable: bool) -> None:
    editor, store = Editor(), MemoryStore()
    runner = Runner(asks(editor, durable=durable), store)
    first = await runner.run("t", Trail())
    assert isinstance(first, Interrupted)
    assert first.questions == (Question(id="#1", node="Ask", path="Ask", asked={"which": "score"}, schema={"type": "integer"}),)
    assert (first.suspended_node, first.next_node, first.wait) == ("Ask", "Ask", None)
    second = await runner.resume("t", Resume(8, by="ana"))
    assert isinstance(second, Interrupted)
    assert [question.id for question in second.questions] == ["words"]
    assert (await runner.thread("t")).questions == second.questions
    done = await runner.resume("t", Resume(["x", "y"]))
    assert isinstance(done, Completed)
    assert (done.state.trail, done.state.n) == ("AxyB", 8)
    assert editor.hops == [2, 2, 2]
    if durable:
        assert set(editor.keys) == {"t/Ask#2"}
        assert (await runner.thread("t")).questions == ()


async def test_the_record_is_an_ordinary_interrupted_one_with_the_question_in_its_metadata() -> None:
    store = MemoryStore()
    runner = Runner(asks(Editor()), store)
    await runner.run("t", Trail(), metadata={"who": "ana"})
    await runner.resume("t", Resume(8, by="bo"))
    asked, claim, again = (await checkpoints(store))[-3:]
    assert (asked.status, asked.suspended_node, asked.next_node, asked.wait) == ("interrupted", "Ask", "Ask", None)
    assert msgspec.json.decode(asked.frozen_state)["trail"] == "A"
    assert asked.metadata == {
        "who": "ana",
        "strata.hops": "1",
        "strata.question": '{"key":null,"asked":{"which":"score"},"returns":{"type":"integer"}}',
    }
    answers = [{"key": None, "asked": {"which": "score"}, "returns": {"type": "integer"}, "answer": 8, "by": "bo"}]
    assert claim.status == "running"
    assert claim.metadata is not None
    assert again.metadata is not None
    assert json.loads(claim.metadata["strata.answers"]) == answers
    assert "strata.question" not in claim.metadata
    assert json.loads(again.metadata["strata.answers"]) == answers
    assert json.loads(again.metadata["strata.question"])["key"] == "words"


async def test_answers_are_gone_once_the_node_has_committed() -> None:
    store = MemoryStore()
    runner = Runner(asks(Editor()), store)
    await runner.run("t", Trail())
    await runner.resume("t", Resume(8))
    await runner.resume("t", Resume([]))
    for record in (await checkpoints(store))[-2:]:
        assert not {"strata.answers", "strata.question"} & set(record.metadata or {})


async def test_int_10_a_swallowed_pause_fails_the_node() -> None:
    def swallows(state: Trail, ctx: Context) -> Trail:
        with suppress(BaseException):
            ctx.interrupt("go on?")
        return state

    runner = Runner(asks(swallows), MemoryStore())
    failed = await runner.run("t", Trail())
    assert isinstance(failed, Failed)
    assert failed.message == "node 'Ask' swallowed the Pause with which ctx.interrupt stops it"


async def test_int_10_a_handler_for_exceptions_does_not_see_the_pause() -> None:
    async def careful(state: Trail, ctx: Context) -> Trail:
        try:
            return state.replace(n=ctx.interrupt("how many?", returns=int))
        except Exception:
            return state.replace(n=-1)

    runner = Runner(asks(careful), MemoryStore())
    assert isinstance(await runner.run("t", Trail()), Interrupted)
    done = await runner.resume("t", Resume(3))
    assert isinstance(done, Completed)
    assert done.state.n == 3


async def test_a_question_in_a_task_group_pauses_the_node() -> None:
    async def crowd(state: Trail, ctx: Context) -> Trail:
        async def one() -> int:
            return ctx.interrupt("one", returns=int, key="one")

        async with asyncio.TaskGroup() as group:
            task = group.create_task(one())
        return state.replace(n=task.result())

    runner = Runner(asks(crowd), MemoryStore())
    assert isinstance(await runner.run("t", Trail()), Interrupted)
    done = await runner.resume("t", Resume(4))
    assert isinstance(done, Completed)
    assert done.state.n == 4


async def test_a_sync_node_on_a_thread_asks() -> None:
    @node
    @edge("end")
    def ask(state: Trail, ctx: Context) -> Trail:
        return state.replace(n=ctx.interrupt("how many?", returns=int))

    @node(inline=True)
    def end(state: Trail) -> Trail:
        return state

    runner = Runner(StateGraph(Trail).start(ask).nodes(end).compile(), MemoryStore())
    assert isinstance(await runner.run("t", Trail()), Interrupted)
    done = await runner.resume("t", Resume(2))
    assert isinstance(done, Completed)
    assert done.state.n == 2


def test_a_sync_program_asks(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "t.db") as store:
        runner = Runner(asks(Editor()), store)
        assert isinstance(runner.run_sync("t", Trail()), Interrupted)
        runner.resume_sync("t", Resume(1))
        assert isinstance(runner.resume_sync("t", Resume(["z"])), Completed)


def decides(state: Trail, ctx: Context) -> Trail:
    decision = ctx.interrupt("publish?")
    return state.replace(trail=f"{state.trail}{decision.reviewer if decision.is_approved else '-'}")


@pytest.mark.parametrize(("verdict", "trail"), [("approve", "AedB"), ("reject", "A-B")])
async def test_a_decision_answers_a_question_without_a_type(verdict: str, trail: str) -> None:
    graph, store = asks(decides), MemoryStore()
    runner = Runner(graph, store)
    await runner.run("t", Trail())
    done = await runner.resume("t", getattr(graph, verdict)("ed").override(n=5))
    assert isinstance(done, Completed)
    assert (done.state.trail, done.state.n) == (trail, 5)
    decision = (await runner.thread("t")).decision
    assert decision is not None
    assert (decision.boundary, decision.reviewer, decision.overrides) == ("Ask", "ed", {"n": 5})


async def test_a_rejected_question_does_not_take_the_route_of_the_boundary_behind_it() -> None:
    @node(inline=True)
    def no(state: Trail) -> Trail:
        return state.replace(trail=state.trail + "no")

    @node(inline=True)
    @boundary
    @on_reject(no)
    @edge("yes")
    def ask(state: Trail, ctx: Context) -> Trail:
        return decides(state, ctx)

    @node(inline=True)
    def yes(state: Trail) -> Trail:
        return state.replace(trail=state.trail + "yes")

    graph = StateGraph(Trail).start(ask).nodes(yes, no).compile()
    runner = Runner(graph, MemoryStore())
    await runner.run("t", Trail())
    waits = await runner.resume("t", graph.reject("ed"))
    assert isinstance(waits, Interrupted)
    assert (waits.state.trail, waits.next_node, waits.questions) == ("-", "yes", ())
    done = await runner.resume("t", graph.reject("ed"))
    assert isinstance(done, Completed)
    assert done.state.trail == "-no"


async def test_unions_literals_and_lists_come_back_as_they_were_asked_for() -> None:
    got: list[object] = []

    def ask(state: Trail, ctx: Context) -> Trail:
        got.clear()
        got.append(ctx.interrupt("verdict", returns=Approve | Refuse, key="verdict"))
        got.append(ctx.interrupt("sure", returns=Literal["yes", "no"]))
        got.append(ctx.interrupt("maybe", returns=str | None))
        return state

    runner = Runner(asks(ask), MemoryStore())
    await runner.run("t", Trail())
    await runner.resume("t", Resume(Approve(score=3)))
    with pytest.raises(SignalRefused, match='expected one of \\["no","yes"\\], found "perhaps" at \\$'):
        await runner.resume("t", Resume("perhaps"))
    await runner.resume("t", Resume("yes"))
    assert isinstance(await runner.resume("t", Resume(None)), Completed)
    assert got == [Approve(score=3), "yes", None]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (Resume("eight"), 'the answer does not fit: expected integer, found "eight" at $'),
        (Resume(True), "the answer does not fit: expected integer, found true at $"),
        (Resume(object()), "the answer to thread 't' is no JSON"),
        (Resume({"score": nan}), "the answer to thread 't' is no JSON: JSON has no nan, which is at $.score"),
        (Resume(8, by="\ud800"), "a reviewer is storable text"),
        (Event("x"), "it is waiting for a human at [Ask]"),
        (None, "approve and reject do not answer it, only a value does"),
    ],
)
async def test_int_16_an_answer_that_does_not_fit_is_refused_before_anything_is_written(answer: Any, text: str) -> None:
    store = MemoryStore()
    runner = Runner(asks(Editor()), store)
    await runner.run("t", Trail())
    before = len(await checkpoints(store))
    with pytest.raises(SignalRefused) as refused:
        await runner.resume("t", answer)
    assert text in str(refused.value)
    assert len(await checkpoints(store)) == before


@pytest.mark.parametrize(("kind", "answer"), [(datetime, "2026-01-01T00:00:00"), (time, "08:00:00")])
async def test_a_time_without_a_zone_does_not_answer_a_question_for_one_with_it(kind: Any, answer: str) -> None:
    zoned: Any = Annotated[kind, msgspec.Meta(tz=True)]

    async def ask(state: Trail, ctx: Context) -> Trail:
        when: Any = ctx.interrupt("when?", returns=zoned)
        return state.replace(trail=when.isoformat())

    runner = Runner(StateGraph(Trail).add_node("Ask", ask).compile(), MemoryStore())
    await runner.run("t", Trail())
    with pytest.raises(SignalRefused, match="does not fit"):
        await runner.resume("t", Resume(answer))
    done = await runner.resume("t", Resume(f"{answer}+00:00"))
    assert done.state.trail == f"{answer}+00:00"


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ({"best": [1.5, nan]}, "JSON has no nan, which is at $.best[1]"),
        (Score(low=-inf), "JSON has no -inf, which is at $.low"),
        (object(), "Encoding objects of type object is unsupported"),
    ],
)
async def test_a_question_that_json_cannot_hold_fails_the_node(question: object, why: str) -> None:
    async def ask(state: Trail, ctx: Context) -> Trail:
        return state.replace(n=ctx.interrupt(question, returns=int))

    failed = await Runner(asks(ask), MemoryStore()).run("t", Trail())
    assert isinstance(failed, Failed)
    assert failed.message == f"TypeError: question '#1' of node 'Ask' is no JSON: {why}"


async def test_a_question_that_cannot_be_asked_takes_the_answer_of_no_other() -> None:
    async def ask(state: Trail, ctx: Context) -> Trail:
        with suppress(TypeError):
            ctx.interrupt(nan, returns=int)
            raise AssertionError("an answer to what was not asked")
        return state.replace(n=ctx.interrupt("how many?", returns=int))

    runner = Runner(asks(ask), MemoryStore())
    assert isinstance(await runner.run("t", Trail()), Interrupted)
    assert (await runner.resume("t", Resume(7))).unwrap().n == 7


async def test_an_answer_that_only_the_type_itself_refuses_is_asked_for_again(caplog: pytest.LogCaptureFixture) -> None:
    async def ask(state: Trail, ctx: Context) -> Trail:
        number = ctx.interrupt("how many?", returns=int)
        when = ctx.interrupt("when?", returns=datetime)
        return state.replace(n=number, trail=when.isoformat())

    runner = Runner(StateGraph(Trail).add_node("Ask", ask).compile(), MemoryStore())
    await runner.run("t", Trail())
    await runner.resume("t", Resume(3))
    again = await runner.resume("t", Resume("tomorrow"))
    assert isinstance(again, Interrupted)
    assert [question.id for question in again.questions] == ["#2"]
    assert "asks '#2' again" in caplog.text
    done = await runner.resume("t", Resume("2026-01-01T00:00:00"))
    assert isinstance(done, Completed)
    assert (done.state.n, done.state.trail) == (3, "2026-01-01T00:00:00")


async def test_an_approval_of_a_question_with_a_type_is_refused_and_says_how_to_answer() -> None:
    graph = asks(Editor())
    runner = Runner(graph, MemoryStore())
    await runner.run("t", Trail())
    with pytest.raises(SignalRefused, match="question '#1'") as refused:
        await runner.resume("t", graph.approve("ed"))
    assert refused.value.hint == 'answer with Resume(value), a value of {"type":"integer"}'


async def test_a_value_for_a_question_without_a_type_is_refused() -> None:
    runner = Runner(asks(decides), MemoryStore())
    await runner.run("t", Trail())
    with pytest.raises(SignalRefused, match="a decision answers it, not a value"):
        await runner.resume("t", Resume(True))


async def test_int_08_an_answer_where_nothing_was_asked_is_refused() -> None:
    runner = Runner(line("A", "B").add_interrupt_boundary("A").compile(), MemoryStore())
    await runner.run("t", Trail())
    with pytest.raises(NotWaiting, match=r"has no open question: it is waiting for a human at \[A\]"):
        await runner.resume("t", Resume(1))


async def test_another_type_under_the_same_key_fails_and_says_so() -> None:
    kind: type[Any] = int

    def ask(state: Trail, ctx: Context) -> Trail:
        ctx.interrupt("a", returns=kind, key="a")
        ctx.interrupt("b", returns=int, key="b")
        return state

    runner = Runner(asks(ask), MemoryStore())
    await runner.run("t", Trail())
    await runner.resume("t", Resume(1))
    kind = str
    failed = await runner.resume("t", Resume(1))
    assert isinstance(failed, Failed)
    assert '\'a\' that is not what it asks for now: it was asked for {"type":"integer"}, and now for {"type":"string"}' in failed.message


async def test_answers_survive_a_retry_a_failure_and_a_cancellation() -> None:
    errors: list[Exception] = [TransientError("try again"), FatalError("broken")]

    @node(inline=True)
    @retry(1)
    def ask(state: Trail, ctx: Context) -> Trail:
        n = ctx.interrupt("how many?", returns=int)
        if errors:
            raise errors.pop(0)
        return state.replace(n=n + ctx.interrupt("more?", returns=int))

    store = MemoryStore()
    runner = Runner(StateGraph(Trail).start(ask).compile(), store)
    await runner.run("t", Trail())
    failed = await runner.resume("t", Resume(3))
    assert isinstance(failed, Failed)
    assert "strata.answers" in ((await checkpoints(store))[-1].metadata or {})
    asked = await runner.resume("t")
    assert isinstance(asked, Interrupted)
    assert [question.id for question in asked.questions] == ["#2"]
    done = await runner.resume("t", Resume(4))
    assert isinstance(done, Completed)
    assert done.state.n == 7


async def test_int_14_int_18_a_fresh_process_takes_the_answer(tmp_path: Path) -> None:
    editor = Editor()
    for answer in (None, Resume(8), Resume(["x"])):
        async with SqliteStore(tmp_path / "t.db") as store:
            runner = Runner(asks(editor), store)
            outcome = await runner.run("t", Trail()) if answer is None else await runner.resume("t", answer)
    assert isinstance(outcome, Completed)
    assert outcome.state.trail == "AxB"


async def test_int_06_a_loop_that_asks_needs_one_answer_a_round() -> None:
    started = 0

    def ask(state: Trail, ctx: Context) -> Trail:
        nonlocal started
        started += 1
        rounds = 0
        while not ctx.interrupt(f"round {rounds}", returns=bool):
            rounds += 1
        return state.replace(n=rounds)

    runner = Runner(asks(ask), MemoryStore())
    await runner.run("t", Trail())
    for number in range(4):
        asked = await runner.resume("t", Resume(False))
        assert isinstance(asked, Interrupted)
        assert (asked.questions[0].asked, asked.questions[0].id) == (f"round {number + 1}", f"#{number + 2}")
    done = await runner.resume("t", Resume(True))
    assert isinstance(done, Completed)
    assert (done.state.n, started) == (4, 6)


def nested(graph: Any, depth: int) -> Any:
    for _ in range(depth):
        graph = StateGraph(Trail).add_subgraph("In", graph, enter=lambda state: state, leave=lambda _, inner: inner).compile(id="asks", version="1")
    return graph


@pytest.mark.parametrize("depth", [1, 2, 3])
async def test_int_05_int_12_int_13_three_questions_in_a_row_at_any_depth(depth: int) -> None:
    def ask(state: Trail, ctx: Context) -> Trail:
        return state.replace(trail=state.trail + "".join(ctx.interrupt(number, returns=str) for number in range(3)))

    runner = Runner(nested(asks(ask), depth), MemoryStore())
    asked = await runner.run("t", Trail())
    for number, answer in enumerate("xyz"):
        assert isinstance(asked, Interrupted)
        assert [(question.asked, question.path) for question in asked.questions] == [(number, "/".join(["In"] * depth + ["Ask"]))]
        asked = await runner.resume("t", Resume(answer))
    assert isinstance(asked, Completed)
    assert asked.state.trail == "AxyzB"


async def test_branches_and_items_cannot_ask() -> None:
    def ask(state: Trail, ctx: Context) -> Trail:
        ctx.interrupt("?")
        return state

    group = StateGraph(Trail).add_parallel_group("G", [branch("one", ask)], lambda state, _: state).compile()
    failed = await Runner(group, MemoryStore()).run("t", Trail())
    assert isinstance(failed, Failed)
    assert "'G/one' runs beside others and cannot ask" in failed.message
    mapped = (
        StateGraph(Trail)
        .add_map("M", asks(ask), items=lambda _: ["k"], key=lambda item: item, enter=lambda state, _: state, merge=lambda state, _: state)
        .compile()
    )
    failed = await Runner(mapped, MemoryStore()).run("t", Trail())
    assert isinstance(failed, Failed)
    assert "'M/k/Ask' runs beside others and cannot ask" in failed.message


async def test_a_thread_that_asks_can_be_ended() -> None:
    runner = Runner(asks(Editor()), MemoryStore())
    await runner.run("t", Trail())
    assert isinstance(await runner.end("t"), Cancelled)
    thread = await runner.thread("t")
    assert (thread.state_name, thread.questions) == ("ended", ())


def test_a_node_that_asks_is_tested_by_hand() -> None:
    told = context("Ask", answers=[8, "unused"])
    assert decides(Trail(), context(answers=[_Yes()])).trail == "ed"
    assert told.interrupt("score", returns=int) == 8
    assert told.asked == ["score"]


class _Yes:
    is_approved, reviewer = True, "ed"


def test_a_node_tested_by_hand_is_answered_under_the_ids_that_its_questions_have_in_a_run() -> None:
    def ask(state: Trail, ctx: Context) -> Trail:
        words = ctx.interrupt("which words?", returns=str, key="words")
        return state.replace(trail=words, n=ctx.interrupt("how many?", returns=int))

    done = ask(Trail(), context("Ask", answers={"words": "x", "#1": 8}))
    assert (done.trail, done.n) == ("x", 8)
