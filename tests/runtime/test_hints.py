"""Whoever gives a waiting thread something else, or nothing, is told how it is answered."""

from __future__ import annotations

import pytest

from strata import Context, Event, Interrupted, NotWaiting, Resume, RunInterrupted, Runner, SignalRefused, StateGraph
from strata.stores.memory import MemoryStore
from tests.graphs.trails import Trail, adds, line


async def asks(state: Trail, ctx: Context) -> Trail:
    return state.replace(n=ctx.interrupt("how many?", returns=int))


async def decides(state: Trail, ctx: Context) -> Trail:
    return state.replace(n=ctx.interrupt("may I?").is_approved)


APPROVE = "answer it with runner.resume(thread_id, graph.approve(reviewer)) or graph.reject(reviewer)"

WAITS: dict[str, tuple[StateGraph[Trail], str]] = {
    "boundary": (line("W", "B").add_interrupt_boundary("W"), APPROVE),
    "boundary with a timeout": (line("W", "B").add_interrupt_boundary("W", timeout=60), APPROVE),
    "decision": (StateGraph(Trail).add_node("W", decides), APPROVE),
    "question": (StateGraph(Trail).add_node("W", asks), 'answer with Resume(value), a value of {"type":"integer"}'),
    "event": (
        StateGraph(Trail).add_wait_for_event("W", "paid").add_node("B", adds("B"), inline=True).add_edge("W", "B"),
        "answer it with runner.signal(thread_id, Event('paid', payload=...))",
    ),
    "timer": (
        StateGraph(Trail).add_timer("W", 60).add_node("B", adds("B"), inline=True).add_edge("W", "B"),
        "wake it with runner.wake(thread_id) or runner.wake_due() when the time has come",
    ),
}


@pytest.mark.parametrize("kind", WAITS)
async def test_an_event_that_it_does_not_wait_for(kind: str) -> None:
    graph, hint = WAITS[kind]
    runner = Runner(graph.compile(), MemoryStore())
    await runner.run("t", Trail())
    with pytest.raises(NotWaiting) as refused:
        await runner.signal("t", Event("x"))
    assert refused.value.hint == hint


@pytest.mark.parametrize("kind", ["boundary", "boundary with a timeout", "decision", "event", "timer"])
async def test_a_value_where_none_was_asked_for(kind: str) -> None:
    graph, hint = WAITS[kind]
    runner = Runner(graph.compile(), MemoryStore())
    await runner.run("t", Trail())
    with pytest.raises(SignalRefused) as refused:
        await runner.resume("t", Resume("x"))
    assert refused.value.hint == hint


@pytest.mark.parametrize("kind", ["question", "event", "timer"])
async def test_an_approval_where_nobody_decides(kind: str) -> None:
    graph, hint = WAITS[kind]
    compiled = graph.compile()
    runner = Runner(compiled, MemoryStore())
    await runner.run("t", Trail())
    with pytest.raises(SignalRefused) as refused:
        await runner.resume("t", compiled.approve("ana"))
    assert refused.value.hint == hint


@pytest.mark.parametrize("kind", WAITS)
async def test_the_outcome_of_a_run_that_waits_is_unwrapped(kind: str) -> None:
    graph, hint = WAITS[kind]
    outcome = await Runner(graph.compile(), MemoryStore()).run("t", Trail())
    assert isinstance(outcome, Interrupted)
    with pytest.raises(RunInterrupted, match=r"waits at \[W\] for an answer") as raised:
        outcome.unwrap()
    assert raised.value.hint == hint
