"""A store that fails ends the call with its own error: it is no failure of a node."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from strata import Completed, Failed, Runner, StateGraph, StoreError
from strata.checkpoint.record import Checkpoint
from tests.clocks import HandClock
from tests.graphs.trails import Trail, adds, line
from tests.logs import log
from tests.odd_stores import FailingStore


class Ran:
    def __init__(self) -> None:
        self.nodes: list[str] = []

    def graph(self) -> StateGraph[Trail]:
        graph = StateGraph(Trail)
        for name in "ABC":
            graph.add_node(name, self._node(name), inline=True)
        return graph.add_edge("A", "B").add_edge("B", "C")

    def _node(self, name: str) -> Callable[[Trail], Trail]:
        def node(state: Trail) -> Trail:
            self.nodes.append(name)
            return adds(name)(state)

        return node


async def test_a_load_that_fails_comes_out_and_nothing_runs() -> None:
    ran = Ran()
    store = FailingStore("load")
    runner = Runner(ran.graph().compile(), store)
    for call in (runner.run("t", Trail()), runner.resume("t"), runner.recover("t"), runner.end("t"), runner.thread("t")):
        with pytest.raises(StoreError, match="the disk is on fire") as raised:
            await call
        assert raised.value.written is False
    assert not ran.nodes
    assert store.saves == 0


async def test_a_first_save_that_fails_comes_out_and_nothing_runs() -> None:
    ran, clock = Ran(), HandClock()
    with pytest.raises(StoreError, match="the disk is full"):
        await Runner(ran.graph().compile(), FailingStore(1), clock=clock).run("t", Trail(), deadline=60)
    assert not ran.nodes
    assert clock.timers == 0


@pytest.mark.parametrize("written", [False, None, True])
async def test_ck35_ex21_a_save_in_the_middle_comes_out_as_it_is_and_a_recovery_goes_on(written: bool | None) -> None:
    ran, clock = Ran(), HandClock()
    store = FailingStore(3, written=written)
    runner = Runner(ran.graph().compile(), store, clock=clock)
    with pytest.raises(StoreError, match="the disk is full") as raised:
        await runner.run("t", Trail(), deadline=60)
    assert raised.value.written is written
    assert ran.nodes == ["A", "B"]
    assert await log(store) == ["running:->A", "running:A>B"]
    assert clock.timers == 0
    assert not runner.cancel("t")
    assert isinstance(await runner.recover("t"), Completed)
    assert ran.nodes == ["A", "B", "B", "C"]


async def test_the_record_of_a_completion_that_fails_comes_out() -> None:
    ran = Ran()
    store = FailingStore(4)
    runner = Runner(ran.graph().compile(), store)
    with pytest.raises(StoreError):
        await runner.run("t", Trail())
    assert (await log(store))[-1] == "running:B>C"
    assert isinstance(await runner.recover("t"), Completed)


async def test_a_pause_that_cannot_be_stored_comes_out() -> None:
    store = FailingStore(1)
    graph = line("A", "B").add_interrupt_boundary("A").compile(durable=False)
    with pytest.raises(StoreError):
        await Runner(graph, store).run("t", Trail())
    assert await store.load("t") is None


async def test_a_failure_that_cannot_be_stored_comes_out_with_the_nodes_error_logged(caplog: pytest.LogCaptureFixture) -> None:
    def bug(state: Trail) -> Trail:
        raise ValueError("a bug")

    graph = StateGraph(Trail).add_node("A", bug, inline=True).compile(durable=False)
    with pytest.raises(StoreError):
        await Runner(graph, FailingStore(1)).run("t", Trail())
    assert "ValueError: a bug" in caplog.text


async def test_a_store_error_that_a_handler_raises_is_the_handlers() -> None:
    def uses_another_store(state: Trail) -> Trail:
        raise StoreError("the user's own database")

    outcome = await Runner(StateGraph(Trail).add_node("A", uses_another_store, inline=True).compile()).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert outcome.message == "the user's own database"


async def test_a_bug_of_the_store_comes_out_as_it_is() -> None:
    class Buggy(FailingStore):
        async def save_if_latest(self, checkpoint: Checkpoint, /, expected: int | None) -> int:
            raise ZeroDivisionError

    clock = HandClock()
    runner = Runner(line("A").compile(), Buggy(), clock=clock)
    with pytest.raises(ZeroDivisionError):
        await runner.run("t", Trail(), deadline=60)
    assert clock.timers == 0
    assert not runner.cancel("t")
