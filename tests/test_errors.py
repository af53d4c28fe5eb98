"""Errors that leave the process or are copied: pools, test runners and debuggers do both."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Awaitable, Callable

import pytest

from strata import Failed, GraphInvalid, Runner, StateGraph, StrataError
from strata.errors import HopLimitReached, LeaseHeld, NodeTimedOut, SchemaUnsupported, ToolCallDenied, ToolExecutionFailure, ToolInvalid
from strata.stores.memory import MemoryStore
from tests.graphs.trails import Trail, line

GRAPH = line("A", "B").add_interrupt_boundary("A").compile()


def pickled(error: StrataError) -> StrataError:
    made = pickle.loads(pickle.dumps(error))  # noqa: S301 - its own bytes
    assert isinstance(made, StrataError)
    return made


@pytest.fixture(params=[copy.copy, copy.deepcopy, pickled])
def copied(request: pytest.FixtureRequest) -> Callable[[StrataError], StrataError]:
    made: Callable[[StrataError], StrataError] = request.param
    return made


def assert_the_same(error: StrataError, other: StrataError) -> None:
    assert type(other) is type(error)
    assert (str(other), other.hint) == (str(error), error.hint)
    assert getattr(other, "__notes__", None) == getattr(error, "__notes__", None)
    assert {name: repr(value) for name, value in vars(other).items()} == {name: repr(value) for name, value in vars(error).items()}


async def test_a_refusal_is_copied_as_it_is(copied: Callable[[StrataError], StrataError]) -> None:
    runner = Runner(GRAPH, MemoryStore())
    await runner.run("t", Trail())
    calls: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: runner.run("t", Trail()),
        lambda: runner.resume("nowhere"),
        lambda: runner.resume("t"),
        lambda: runner.resume("t", GRAPH.approve("ana"), at_sequence=9),
        lambda: runner.recover("t"),
        lambda: runner.run("u", Trail(), run_id=""),
    )
    for call in calls:
        with pytest.raises(StrataError) as raised:
            await call()
        assert_the_same(raised.value, copied(raised.value))


@pytest.mark.parametrize(
    "error",
    [
        HopLimitReached("A", hops=3, limit=3),
        NodeTimedOut("A", timeout=0.5),
        LeaseHeld("t", owner="ana", expires_at=1_700_000_000_000),
        SchemaUnsupported("9.0.0", readable={"1.0.0"}, thread_id="t", sequence=4, level=("Work",)),
        ToolExecutionFailure("refund", "ValueError: no order"),
        ToolCallDenied("refund", "not you"),
        ToolInvalid("it has no description", place="desk.py:3"),
    ],
)
def test_an_error_of_a_run_is_copied_as_it_is(error: StrataError, copied: Callable[[StrataError], StrataError]) -> None:
    assert_the_same(error, copied(error))


def test_the_faults_of_a_graph_are_copied_with_it(copied: Callable[[StrataError], StrataError]) -> None:
    with pytest.raises(GraphInvalid) as raised:
        StateGraph(Trail).compile()
    other = copied(raised.value)
    assert isinstance(other, GraphInvalid)
    assert other.problems == raised.value.problems
    assert_the_same(raised.value, other)


def counts_beyond_64_bits(state: Trail) -> Trail:
    return state.replace(n=2**64)


async def test_an_outcome_with_an_error_of_ours_is_copied_with_it() -> None:
    graph = StateGraph(Trail).add_node("A", counts_beyond_64_bits).compile()
    outcome = await Runner(graph).run("t", Trail())
    assert isinstance(outcome, Failed)
    other = pickle.loads(pickle.dumps(outcome))  # noqa: S301 - its own bytes
    assert (other.message, str(other.error)) == (outcome.message, str(outcome.error))
