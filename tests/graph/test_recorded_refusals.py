"""What compile refuses, beside what the real engine was recorded to say: the same texts, and the sheet's code where it has one."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from strata import Backoff, CompiledGraph, GraphInvalid, GraphWarning, StateGraph, branch, quorum
from tests.definitions import RECORDED as WIRE
from tests.graphs.batches import batches
from tests.graphs.books import books_over
from tests.graphs.charge import busy, charge_after
from tests.graphs.counts import Count, first, same
from tests.graphs.essays import Essay, essays_from_data, reviewed_essays
from tests.graphs.orders import order_nodes, orders_with_routes
from tests.graphs.waits import event, timer


def group(*names: str, **options: Any) -> StateGraph[Count]:
    return StateGraph(Count).add_parallel_group("g", [branch(name, same) for name in names], first, **options)


def map_over(child: CompiledGraph[Any]) -> StateGraph[Count]:
    def items(count: Count) -> list[int]:
        return []

    def enter(count: Count, item: int) -> Any:
        raise NotImplementedError

    return StateGraph(Count).add_map("m", child, items=items, key=str, enter=enter, merge=lambda count, results: count)


def charge() -> StateGraph[Any]:
    return charge_after(9, busy)


CASES: dict[str, Callable[[], object]] = {
    "max_node_hops 0": lambda: essays_from_data().compile(max_node_hops=0),
    "graph id blank": lambda: essays_from_data().compile(id=" "),
    "graph version without id": lambda: essays_from_data().compile(version="1"),
    "graph version blank": lambda: essays_from_data().compile(id="a", version=" "),
    "migration without id": lambda: essays_from_data().compile(migrate=lambda level: level),
    "parallel group without branches": lambda: group().compile(),
    "parallel group with a duplicate branch": lambda: group("x", "x").compile(),
    "group max_concurrency 0": lambda: group("x", max_concurrency=0).compile(),
    "group branch timeout 0": lambda: group("x", branch_timeout=timedelta(0)).compile(),
    "group quorum above branches": lambda: group("x", join=quorum(2)).compile(),
    "map max_concurrency 0": lambda: batches(max_concurrency=0).compile(),
    "map item timeout 0": lambda: batches(item_timeout=0).compile(),
    "map max_items 0": lambda: batches(max_items=0).compile(),
    "map quorum 0": lambda: batches(join=quorum(0)).compile(),
    "map over a child with a boundary": lambda: map_over(reviewed()).compile(),
    "map over a child with a wait": lambda: map_over(event().compile()).compile(),
    "map over a child with a boundary in its subgraph": lambda: map_over(books_over(reviewed()).compile()).compile(),
    "timer delay 0": lambda: timer(0).compile(),
    "wait timeout 0": lambda: event(0).compile(),
    "wait timeout route without timeout": lambda: event(route=True).compile(),
    "wait node that is a boundary": lambda: event().add_interrupt_boundary("await_payment").compile(),
    "boundary timeout 0": lambda: orders_with_routes(timeout=0).compile(),
    "boundary timeout route without timeout": lambda: orders_with_routes(route=True).compile(),
    "recovery policy on an unknown node": lambda: essays_from_data().set_recovery_policy("ghost", retries=1).compile(),
    "fallback to an unknown node": lambda: charge().set_recovery_policy("charge", fallback="ghost").compile(),
    "backoff max below initial": lambda: charge().set_recovery_policy("charge", retries=1, backoff=Backoff(initial=0.02, maximum=0.01)).compile(),
    "timeout on an unknown node": lambda: essays_from_data().set_timeout("ghost", 1).compile(),
    "timeout 0": lambda: essays_from_data().set_timeout("draft", 0).compile(),
    "timeout on an inline node": lambda: StateGraph(Count).add_node("a", same, inline=True, timeout=1).compile(),
    "metadata for an unknown node": lambda: essays_from_data().set_node_metadata("ghost", {"a": "b"}).compile(),
    "metadata with an empty key": lambda: essays_from_data().set_node_metadata("draft", {"": "b"}).compile(),
    "metadata with a reserved key": lambda: essays_from_data().set_node_metadata("draft", {"strata.x": "b"}).compile(),
    "metadata for an unknown branch": lambda: group("x").set_branch_metadata("g", "y", {"a": "b"}).compile(),
    "branch metadata with a reserved key": lambda: group("x").set_branch_metadata("g", "x", {"strata.x": "b"}).compile(),
    "several structural errors": lambda: StateGraph(Count).add_node("a", same).add_node("b", same).add_edge("a", "x").add_edge("b", "b").compile(),
}

DIFFERENT = {"recovery policy on a plain node"}
"""reference.md section 4, GB9: every kind but waits may fail."""

CODES = {
    "parallel group without branches": "STRATA_ERR_EMPTY_GROUP",
    "parallel group with a duplicate branch": "STRATA_ERR_DUPLICATE_BRANCH",
    "map over a child with a boundary": "STRATA_ERR_BOUNDARY_IN_MAP",
    "map over a child with a wait": "STRATA_ERR_WAIT_IN_MAP",
    "map over a child with a boundary in its subgraph": "STRATA_ERR_BOUNDARY_IN_MAP",
    "fallback to an unknown node": "STRATA_ERR_DANGLING_EDGE",
}
"""Of the faults that the sheet has two texts for: its code, with compile's own text."""


def reviewed() -> CompiledGraph[Essay]:
    """Its loop leaves a boundary: a guard there is a warning of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        return reviewed_essays().compile()


def recorded() -> dict[str, Any]:
    lines = (WIRE / "validation" / "builder.jsonl").read_text().splitlines()
    return {entry["case"]: entry["result"] for entry in map(json.loads, lines)}


@pytest.mark.parametrize("case", CASES)
def test_compile_refuses_what_the_rust_engine_refuses_with_its_text(case: str) -> None:
    result = recorded()[case]
    texts = [result["text"]] if "text" in result else [error["message"] for error in result["errors"]]
    with pytest.raises(GraphInvalid) as raised:
        CASES[case]()
    assert [problem.text for problem in raised.value.problems] == texts
    if case in CODES:
        assert [problem.code for problem in raised.value.problems] == [CODES[case]]


def test_every_recorded_refusal_is_tried() -> None:
    assert set(recorded()) == {*CASES, *DIFFERENT}


def test_gb9_every_node_but_a_wait_may_have_a_recovery_policy() -> None:
    assert essays_from_data().set_recovery_policy("draft", retries=3).validate() == ()
    assert order_nodes().set_recovery_policy("pay", fallback="ship").validate() == ()
    for waiting, name in ((event(), "await_payment"), (timer(3), "cool_off")):
        [problem] = waiting.set_recovery_policy(name, retries=1).validate()
        assert problem.text == f"recovery policy set for '{name}', which is not a fallible node"
