"""Handlers: the shapes they come in, the threads they run on, what they are told, and what they may give back wrong."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import threading
from collections.abc import Callable
from typing import Any
from uuid import UUID

import msgspec
import pytest

from strata import (
    Cancelled,
    Completed,
    Context,
    Failed,
    FatalError,
    GraphInvalid,
    OptionRefused,
    Runner,
    State,
    StateGraph,
    StateRefused,
    ThreadsExhausted,
    TransientError,
    boundary,
    edge,
    node,
)
from strata.stores.memory import MemoryStore
from tests.clocks import HandClock
from tests.graphs.trails import Trail, adds, line
from tests.logs import checkpoints, log

who: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="nobody")


def one(handler: Callable[..., Any], **options: Any) -> StateGraph[Trail]:
    """A, then the handler as B."""
    return line("A").add_node("B", handler, **options).add_edge("A", "B")


async def failing(error: Callable[[], Exception], *, inline: bool = True) -> tuple[Failed[Trail], dict[str, str]]:
    """What a run says, and its record's metadata, of a node that raises `error()`."""

    def raises(state: Trail) -> Trail:
        raise error()

    store = MemoryStore()
    outcome = await Runner(one(raises, inline=inline).compile(durable=False), store).run("t", Trail())
    assert isinstance(outcome, Failed)
    (record,) = await checkpoints(store)
    return outcome, dict(record.metadata or {})


# Shapes


class Shouts:
    def method(self, state: Trail) -> Trail:
        return adds("m")(state)

    async def async_method(self, state: Trail, ctx: Context) -> Trail:
        return adds(ctx.node)(state)

    @staticmethod
    def static(state: Trail) -> Trail:
        return adds("s")(state)

    @classmethod
    def of_class(cls, state: Trail) -> Trail:
        return adds("c")(state)


class Called:
    def __call__(self, state: Trail) -> Trail:
        return adds("o")(state)


class CalledLater:
    async def __call__(self, state: Trail) -> Trail:
        return adds("l")(state)


def with_two(suffix: str, state: Trail) -> Trail:
    return adds(suffix)(state)


def context_first(ctx: Context, state: Trail) -> Trail:
    return adds(ctx.path)(state)


def context_by_keyword(state: Trail, *, ctx: Context) -> Trail:
    return adds(str(ctx.hop))(state)


async def async_lambda(state: Trail) -> Trail:
    return adds("a")(state)


a_lambda: Callable[[Trail], Trail] = lambda state: state.replace(trail=state.trail + "x")  # noqa: E731


@functools.wraps(async_lambda)
def wrapped(state: Trail) -> Any:
    return async_lambda(state)


SHAPES: list[tuple[Callable[..., Any], str]] = [
    (Shouts().method, "m"),
    (Shouts().async_method, "B"),
    (Shouts.static, "s"),
    (Shouts.of_class, "c"),
    (Called(), "o"),
    (CalledLater(), "l"),
    (functools.partial(with_two, "p"), "p"),
    (a_lambda, "x"),
    (context_first, "B"),
    (context_by_keyword, "2"),
    (wrapped, "a"),
]


@pytest.mark.parametrize(("handler", "mark"), SHAPES)
async def test_loop_04_every_shape_of_a_callable_is_a_handler(handler: Callable[..., Any], mark: str) -> None:
    assert (await Runner(one(handler).compile(), MemoryStore()).run("t", Trail())).unwrap().trail == f"A{mark}"


# Threads


async def test_ex17_gn1_inline_nodes_run_on_the_thread_that_drives_the_run() -> None:
    threads: dict[str, int] = {}

    def look(state: Trail, ctx: Context) -> Trail:
        threads[ctx.node] = threading.get_ident()
        return state

    async def look_on_the_loop(state: Trail, ctx: Context) -> Trail:
        return look(state, ctx)

    graph = (
        StateGraph(Trail)
        .add_node("Inline", look, inline=True)
        .add_node("Async", look_on_the_loop)
        .add_node("Pooled", look)
        .add_edge("Inline", "Async")
        .add_edge("Async", "Pooled")
        .compile()
    )
    await Runner(graph).run("t", Trail())
    here = threading.get_ident()
    assert threads["Inline"] == threads["Async"] == here
    assert threads["Pooled"] != here


async def test_ex17_gn4_an_inline_node_exports_as_any_other() -> None:
    assert one(adds("B"), inline=True).compile().definition() == one(adds("B")).compile().definition()


async def test_gn5_sync_and_async_nodes_run_in_the_order_of_the_edges() -> None:
    async def later(state: Trail) -> Trail:
        await asyncio.sleep(0)
        return adds("b")(state)

    graph = (
        StateGraph(Trail)
        .add_node("A", adds("a"))
        .add_node("B", later)
        .add_node("C", adds("c"), inline=True)
        .add_node("D", later)
        .add_edge("A", "B")
        .add_edge("B", "C")
        .add_edge("C", "D")
        .compile()
    )
    assert (await Runner(graph).run("t", Trail())).unwrap().trail == "abcb"


async def test_context_variables_reach_a_thread_and_what_it_sets_stays_there() -> None:
    seen: list[str] = []

    def look(state: Trail) -> Trail:
        seen.append(who.get())
        who.set("the thread")
        return state

    who.set("the caller")
    await Runner(one(look).compile()).run("t", Trail())
    assert seen == ["the caller"]
    assert who.get() == "the caller"


async def test_two_sync_handlers_run_at_once() -> None:
    meeting = threading.Barrier(2)

    def meet(state: Trail) -> Trail:
        meeting.wait(timeout=5)
        return state

    runner = Runner(StateGraph(Trail).add_node("A", meet).compile(), max_threads=2)
    outcomes = await asyncio.gather(runner.run("t", Trail()), runner.run("u", Trail()))
    assert all(isinstance(outcome, Completed) for outcome in outcomes)


async def test_no_more_threads_run_than_were_allowed() -> None:
    running, peak, lock = 0, 0, threading.Lock()

    def count(state: Trail) -> Trail:
        nonlocal running, peak
        with lock:
            running += 1
            peak = max(peak, running)
        release.wait(0.002)
        with lock:
            running -= 1
        return state

    release = threading.Event()
    runner = Runner(StateGraph(Trail).add_node("A", count).compile(), max_threads=3)
    outcomes = await asyncio.gather(*(runner.run(f"t{number}", Trail()) for number in range(30)))
    assert all(isinstance(outcome, Completed) for outcome in outcomes)
    assert peak <= 3


async def test_with_no_thread_free_for_five_seconds_the_node_fails() -> None:
    started, release = threading.Event(), threading.Event()

    def block(state: Trail) -> Trail:
        started.set()
        release.wait()
        return state

    clock = HandClock()
    runner = Runner(StateGraph(Trail).add_node("A", block).compile(), store := MemoryStore(), clock=clock, max_threads=1)
    first = asyncio.create_task(runner.run("t", Trail()))
    await asyncio.to_thread(started.wait)
    second = asyncio.create_task(runner.run("u", Trail()))
    await clock.pass_time(4.9)
    assert not second.done()
    await clock.pass_time(0.2)
    outcome = await second
    release.set()
    assert isinstance(await first, Completed)
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, ThreadsExhausted)
    assert (outcome.error.limit, outcome.error.waited) == (1, 5.0)
    assert await log(store, "u") == ["running:->A", "failed:A>A"]
    assert clock.timers == 0


async def test_a_call_that_was_given_up_keeps_its_thread_until_it_returns() -> None:
    started, release, ran = threading.Event(), threading.Event(), list[int]()

    def block(state: Trail) -> Trail:
        if state.n == 0:
            started.set()
            release.wait()
        ran.append(state.n)
        return state

    runner = Runner(StateGraph(Trail).add_node("A", block).compile(), max_threads=1)
    first = asyncio.create_task(runner.run("t", Trail()))
    await asyncio.to_thread(started.wait)
    runner.cancel("t")
    await first
    second = asyncio.create_task(runner.run("u", Trail(n=1)))
    await asyncio.sleep(0.01)
    assert not second.done()
    release.set()
    assert isinstance(await second, Completed)
    assert ran == [0, 1]


async def test_a_run_that_is_cancelled_while_it_waits_for_a_thread_never_calls_its_handler() -> None:
    started, release, ran = threading.Event(), threading.Event(), list[str]()

    def block(state: Trail, ctx: Context) -> Trail:
        ran.append(ctx.thread_id)
        started.set()
        release.wait()
        return state

    clock = HandClock()
    runner = Runner(StateGraph(Trail).add_node("A", block).compile(), MemoryStore(), clock=clock, max_threads=1)
    first = asyncio.create_task(runner.run("t", Trail()))
    await asyncio.to_thread(started.wait)
    second = asyncio.create_task(runner.run("u", Trail()))
    third = asyncio.create_task(runner.run("v", Trail()))
    await asyncio.sleep(0.01)
    runner.cancel("u")
    assert isinstance(await second, Cancelled)
    release.set()
    assert isinstance(await first, Completed)
    assert isinstance(await third, Completed)
    assert ran == ["t", "v"]
    assert clock.timers == 0


def test_a_runner_needs_a_thread() -> None:
    with pytest.raises(OptionRefused, match="max_threads must be at least 1"):
        Runner(line("A").compile(), max_threads=0)


# What a handler is told


async def test_ex3_a_node_is_told_its_thread_its_name_and_its_hop() -> None:
    seen: list[tuple[object, ...]] = []

    def look(state: Trail, ctx: Context) -> Trail:
        seen.append((ctx.thread_id, ctx.node, ctx.path, ctx.attempt, ctx.hop, ctx.graph, ctx.decision, ctx.is_recovery, ctx.recoveries))
        seen.append((ctx.deadline, ctx.streaming, ctx.cancelled, dict(ctx.metadata)))
        ctx.raise_if_cancelled()
        return state

    await Runner(one(look).compile(id="look", version="2")).run("thread_outer", Trail())
    assert seen == [("thread_outer", "B", "B", 1, 2, "look", None, False, 0), (None, False, False, {})]


async def test_ex7_gh16_the_key_names_the_hop_and_where_nothing_is_recorded_the_run() -> None:
    keys: list[str] = []
    kept: list[Context] = []

    def look(state: Trail, ctx: Context) -> Trail:
        keys.append(ctx.idempotency_key)
        kept.append(ctx)
        return state

    await Runner(one(look).compile(), MemoryStore()).run("t", Trail(), run_id="run-1")
    await Runner(one(look).compile(durable=False), MemoryStore()).run("t", Trail(), run_id="run-1")
    await Runner(one(look).compile()).run("t", Trail(), run_id="run-2")
    assert keys == ["t/B#2", "t/B#2@run-1", "t/B#2@run-2"]
    assert [ctx.idempotency_key for ctx in kept] == keys


async def test_a_resumed_node_has_the_hop_that_it_would_have_had() -> None:
    keys: list[str] = []

    def look(state: Trail, ctx: Context) -> Trail:
        keys.append(ctx.idempotency_key)
        if len(keys) == 1:
            raise LookupError
        return state

    runner = Runner(one(look).compile(), MemoryStore())
    await runner.run("t", Trail())
    await runner.resume("t")
    assert keys == ["t/B#2", "t/B#2"]


async def test_ex13_every_node_has_the_runs_id_and_a_resume_is_a_new_run() -> None:
    ids: list[str] = []

    @node("A", inline=True)
    @boundary
    @edge("B")
    def first(state: Trail, ctx: Context) -> Trail:
        ids.append(ctx.run_id)
        return state

    @node("B", inline=True)
    def second(state: Trail, ctx: Context) -> Trail:
        ids.append(ctx.run_id)
        return state

    graph = StateGraph(Trail).start(first).nodes(second).compile()
    runner = Runner(graph, MemoryStore())
    assert (await runner.run("t", Trail(), run_id="exec-42")).run_id == "exec-42"
    resumed = await runner.resume("t", graph.approve("ana"))
    assert ids == ["exec-42", resumed.run_id]
    assert UUID(resumed.run_id).version == 7
    await runner.run("u", Trail())
    assert len(set(ids)) == 3


class Mailer:
    pass


class LoudMailer(Mailer):
    pass


async def test_ex5_a_node_gets_the_runs_services_by_type() -> None:
    seen: list[object] = []

    def look(state: Trail, ctx: Context) -> Trail:
        seen.extend((ctx.service(Mailer), ctx.service(LoudMailer), ctx.service(asyncio.Event)))
        return state

    graph = StateGraph(Trail).add_node("A", look, inline=True).compile()
    plain, other, loud = Mailer(), Mailer(), LoudMailer()
    await Runner(graph).run("t", Trail())
    await Runner(graph, services=[plain]).run("t", Trail())
    await Runner(graph, services=[plain]).run("t", Trail(), services=[other, loud])
    await Runner(graph, services=[loud]).run("t", Trail())
    assert seen == [None, None, None, plain, None, None, other, loud, None, loud, loud, None]


async def test_con_05_a_handler_cannot_change_what_the_next_one_is_told() -> None:
    seen: list[dict[str, str]] = []

    def meddle(state: Trail, ctx: Context) -> Trail:
        seen.append(dict(ctx.metadata))
        with pytest.raises(TypeError):
            ctx.metadata["tenant"] = "evil"  # type: ignore[index]
        return state

    store = MemoryStore()
    graph = StateGraph(Trail).add_node("A", meddle, inline=True).add_node("B", meddle, inline=True).add_edge("A", "B").compile()
    given = {"tenant": "acme"}
    await Runner(graph, store).run("t", Trail(), metadata=given)
    assert seen == [given, given]
    assert (await checkpoints(store))[-1].metadata == {"tenant": "acme", "strata.hops": "2"}


async def test_con_06_two_runs_of_one_graph_at_once_see_each_their_own() -> None:
    seen: dict[str, set[str]] = {"t": set(), "u": set()}

    async def look(state: Trail, ctx: Context) -> Trail:
        await asyncio.sleep(0)
        seen[ctx.thread_id].add(ctx.metadata["tenant"])
        return state.replace(n=state.n + 1)

    graph = (
        StateGraph(Trail)
        .add_node("A", look)
        .add_node("End", look)
        .add_conditional_edge("A", "A", lambda state: state.n < 10)
        .add_edge("A", "End")
        .compile()
    )
    runner = Runner(graph, MemoryStore())
    outcomes = await asyncio.gather(runner.run("t", Trail(), metadata={"tenant": "a"}), runner.run("u", Trail(n=5), metadata={"tenant": "b"}))
    assert seen == {"t": {"a"}, "u": {"b"}}
    assert [outcome.unwrap().n for outcome in outcomes] == [11, 11]


async def test_mig_09_defaults_are_made_anew_for_every_run() -> None:
    class Basket(State):
        items: list[str] = []  # noqa: RUF012 - msgspec copies it

    def fill(basket: Basket) -> Basket:
        basket.items.append("mine")  # what no handler should do
        return basket.replace(items=[*basket.items])

    runner = Runner(StateGraph(Basket).add_node("A", fill).compile())
    for thread in ("t", "u"):
        assert (await runner.run(thread, Basket())).unwrap().items == ["mine"]


# Errors


async def test_ex14_a_bug_is_the_nodes_failure_with_its_own_error() -> None:
    outcome, metadata = await failing(lambda: ValueError("a bug"))
    assert (outcome.node, outcome.path, outcome.kind, outcome.message) == ("B", "B", "fatal", "ValueError: a bug")
    assert outcome.state.trail == "A"
    assert metadata == {"error": "ValueError: a bug", "error_kind": "fatal"}
    with pytest.raises(Exception, match="thread 't' failed at node 'B': ValueError: a bug") as raised:
        outcome.unwrap()
    assert raised.value.__cause__ is outcome.error


async def test_ck66_a_transient_error_says_so_and_asks_for_no_delay_unless_it_does() -> None:
    outcome, metadata = await failing(lambda: TransientError("rate limited"))
    assert (outcome.kind, outcome.retry_after) == ("transient", None)
    assert metadata == {"error": "rate limited", "error_kind": "transient", "attempts": "1"}


@pytest.mark.parametrize(("seconds", "stored"), [(3, "3000"), (0.0004, "1"), (0, "0"), (1.9999, "1999"), (2.5, "2500")])
async def test_ex33_a_retry_hint_is_stored_in_whole_milliseconds(seconds: float, stored: str) -> None:
    outcome, metadata = await failing(lambda: TransientError("rate limited", retry_after=seconds))
    assert outcome.retry_after == seconds
    assert metadata["strata.retry_after_ms"] == stored


@pytest.mark.parametrize("nonsense", [float("nan"), float("inf"), -1.0])
async def test_a_retry_hint_that_is_no_delay_does_not_hide_the_failure(nonsense: float) -> None:
    outcome, metadata = await failing(lambda: TransientError("rate limited", retry_after=nonsense))
    assert (outcome.message, outcome.retry_after) == ("rate limited", None)
    assert "strata.retry_after_ms" not in metadata


async def test_a_fatal_error_is_fatal_and_counted() -> None:
    outcome, metadata = await failing(lambda: FatalError("card declined"))
    assert (outcome.kind, outcome.attempts) == ("fatal", 1)
    assert metadata == {"error": "card declined", "error_kind": "fatal", "attempts": "1"}


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class NoText(Exception):
    def __str__(self) -> str:
        return 5  # type: ignore[return-value]  # noqa: PLE0307


@pytest.mark.parametrize("error", [Unspeakable, NoText])
async def test_an_error_that_cannot_be_told_is_stored_all_the_same(error: type[Exception]) -> None:
    outcome, metadata = await failing(error)
    assert isinstance(outcome.error, error)
    assert outcome.message == metadata["error"]
    assert metadata["error"].startswith(f"{error.__name__}: ")


async def test_a_long_text_is_cut_at_4_kb_between_characters() -> None:
    outcome, metadata = await failing(lambda: ValueError("ä" * 10_000))
    assert outcome.message == metadata["error"]
    assert len(metadata["error"].encode()) == 4096
    assert metadata["error"] == "ValueError: " + "ä" * 2042


@pytest.mark.parametrize("inline", [True, False])
@pytest.mark.parametrize(
    ("error", "text"),
    [
        (lambda: ValueError("half \ud800 a pair"), "ValueError: half ? a pair"),
        (lambda: ValueError(b"bytes", 5), "ValueError: (b'bytes', 5)"),
        (lambda: KeyError("gone"), "KeyError: 'gone'"),
        (ValueError, "ValueError: "),
        (lambda: RecursionError("too deep"), "RecursionError: too deep"),
        (lambda: MemoryError("none left"), "MemoryError: none left"),
        (lambda: ExceptionGroup("two", [ValueError("a"), TypeError("b")]), "ExceptionGroup: two (2 sub-exceptions)"),
        (lambda: TimeoutError("a client's"), "TimeoutError: a client's"),
        (StopAsyncIteration, "StopAsyncIteration: "),
    ],
)
async def test_what_is_stored_of_an_error_is_its_type_and_its_text(error: Callable[[], Exception], text: str, inline: bool) -> None:
    outcome, metadata = await failing(error, inline=inline)
    assert outcome.message == metadata["error"] == text
    assert type(outcome.error) is type(error())


@pytest.mark.parametrize("inline", [True, False])
async def test_a_stop_iteration_is_an_error_like_any_other(inline: bool) -> None:
    outcome, _ = await failing(lambda: StopIteration("over"), inline=inline)
    assert "StopIteration" in outcome.message
    assert isinstance(outcome.error, StopIteration) or isinstance(outcome.error.__cause__, StopIteration)  # type: ignore[union-attr]


async def test_endless_recursion_fails_its_node() -> None:
    def deeper(state: Trail) -> Trail:
        return deeper(state)

    outcome = await Runner(one(deeper).compile(), store := MemoryStore()).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, RecursionError)
    assert (await log(store))[-1] == "failed:B>B"


async def test_ck33_a_failed_nodes_work_on_its_own_state_is_not_stored() -> None:
    def bug(state: Trail) -> Trail:
        state.replace(trail="half done")
        raise ValueError

    store = MemoryStore()
    await Runner(one(bug).compile(), store).run("t", Trail())
    assert bytes((await checkpoints(store))[-1].frozen_state) == b'{"trail":"A","n":1}'


async def test_ex36_ret_05_a_resume_runs_the_failed_node_only_and_a_new_failure_is_a_new_record() -> None:
    calls: dict[str, int] = {"A": 0, "B": 0}
    switch: list[bool] = []

    def first(state: Trail) -> Trail:
        calls["A"] += 1
        return adds("A")(state)

    def second(state: Trail) -> Trail:
        calls["B"] += 1
        if not switch:
            raise LookupError("off")
        return adds("B")(state)

    store = MemoryStore()
    graph = StateGraph(Trail).add_node("A", first).add_node("B", second).add_edge("A", "B").compile(durable=False)
    runner = Runner(graph, store)
    assert isinstance(await runner.run("t", Trail()), Failed)
    assert isinstance(await runner.resume("t"), Failed)
    assert await log(store) == ["failed:B>B", "resumed:B>B", "failed:B>B"]
    switch.append(True)
    assert (await Runner(graph, store).resume("t")).unwrap().trail == "AB"
    assert calls == {"A": 1, "B": 3}


async def test_ret_06_after_a_failure_nothing_else_runs() -> None:
    ran: list[str] = []

    def bug(state: Trail) -> Trail:
        raise ValueError

    def after(state: Trail) -> Trail:
        ran.append("after")
        return state

    graph = one(bug).add_node("C", after).add_edge("B", "C").compile()
    assert isinstance(await Runner(graph, MemoryStore()).run("t", Trail()), Failed)
    assert not ran


async def test_a_failure_is_logged_once_with_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    def bug(state: Trail) -> Trail:
        raise ValueError("a bug")

    await Runner(one(bug).compile(), MemoryStore()).run("t", Trail())
    (logged,) = caplog.records
    assert logged.getMessage() == "thread 't' failed at node 'B': ValueError: a bug"
    assert logged.exc_info is not None


# What a handler gives back


class Longer(Trail):
    more: str = ""


class Other(State):
    trail: str = ""


async def forgotten(state: Trail) -> Trail:
    return state


WRONG: list[tuple[Callable[[Trail], Any], str]] = [
    (lambda state: None, "did you forget to return the state"),
    (lambda state: forgotten(state), "an await was forgotten"),  # noqa: PLW0108 - as a sync function it is a mistake
    (lambda state: Longer(), "a subclass of Trail"),
    (lambda state: Other(), "where Trail is expected"),
    (lambda state: {"trail": "x"}, "where Trail is expected"),
    (lambda state: Trail, "where Trail is expected"),
    (lambda state: state.replace(n="three"), "Trail.n: expected int"),
    (lambda state: state.replace(n=2**64), "Trail.n: expected"),
    (lambda state: state.replace(trail="\ud800"), "Trail.trail: expected"),
    (lambda state: state.replace(n=True), "Trail.n: expected int, found bool"),
]


@pytest.mark.parametrize("durable", [True, False])
@pytest.mark.parametrize(("handler", "text"), WRONG)
async def test_mig_01_mig_06_what_is_no_state_fails_the_node_and_is_not_stored(handler: Callable[[Trail], Any], text: str, durable: bool) -> None:
    store = MemoryStore()
    outcome = await Runner(one(handler, inline=True).compile(durable=durable), store).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, StateRefused)
    assert text in outcome.message
    assert outcome.message.startswith("node 'B' returned ")
    last = (await checkpoints(store))[-1]
    assert (last.status, last.suspended_node) == ("failed", "B")
    assert bytes(last.frozen_state) == b'{"trail":"A","n":1}'


class Pile(State):
    items: list[Any] = msgspec.field(default_factory=list[Any])


def keep(state: Pile) -> Pile:
    return state


async def put_lock(state: Pile) -> Pile:
    state.items.append(threading.Lock())
    return state


async def test_a_run_whose_state_was_made_unstorable_in_place_ends_with_words_though_nothing_can_be_recorded() -> None:
    store = MemoryStore()
    graph = StateGraph(Pile).add_node("Put", put_lock).add_node("Ask", keep, inline=True).add_node("Send", keep, inline=True)
    graph.add_edge("Put", "Ask").add_edge("Ask", "Send")
    runner = Runner(graph.add_interrupt_boundary("Ask").compile(durable=False), store)
    outcome = await runner.run("t", Pile())
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, StateRefused)
    assert (outcome.path, outcome.kind) == ("Ask", "fatal")
    assert "Pile.items[0]: " in outcome.message
    assert await checkpoints(store) == []


async def test_a_boundary_that_returns_what_cannot_be_stored_does_not_pause() -> None:
    store = MemoryStore()
    graph = (
        line("A", "B")
        .add_node("A", lambda state: state.replace(trail="\ud800"), inline=True)
        .add_interrupt_boundary("A")
        .compile(durable=False, check="type")
    )
    outcome = await Runner(graph, store).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert await log(store) == ["failed:A>A"]


@pytest.mark.parametrize("given", [None, {"trail": "x"}, Other(), Longer(), Trail, 5])
async def test_a_run_starts_with_a_state_of_its_graph_only(given: Any) -> None:
    store = MemoryStore()
    runner = Runner(line("A").compile(), store)
    with pytest.raises(OptionRefused, match=r"^the state to start from cannot be used: Trail: expected Trail, found"):
        await runner.run("t", given)
    assert await store.load_latest("t") is None


async def test_a_first_state_that_cannot_be_stored_is_refused_with_its_field() -> None:
    with pytest.raises(OptionRefused, match=r"^the state to start from cannot be used: Trail\.n: expected"):
        await Runner(line("A").compile(), MemoryStore()).run("t", Trail(n=2**70))


def test_ex18_an_inline_node_cannot_be_timed_out() -> None:
    with pytest.raises(GraphInvalid) as raised:
        one(adds("B"), inline=True, timeout=1).compile()
    text = "node 'B' runs inline and can't be timed out: add it with add_node or add_fallible_node to have its timeout honoured"
    assert [problem.text for problem in raised.value.problems] == [text]
    one(adds("B"), inline=True, timeout=1).add_node("B", adds("B"), timeout=1).compile()
