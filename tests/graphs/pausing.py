"""Lines of nodes that pause in every way, as texts: `boundary`, `event x`, `timer`, `inside`, each in an old and a new form of one graph."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

from strata import CompiledGraph, Event, Outcome, Runner, State, StateGraph
from strata.checkpoint.affected import is_affected
from strata.checkpoint.record import Checkpoint
from strata.graph.changes.between import changes_between
from strata.graph.changes.finding import Effect, Finding
from strata.graph.changes.pair import Described
from strata.ports import CheckpointStore
from strata.testing.clock import START
from tests.clocks import HandClock
from tests.graphs.trails import Trail, adds, line

MINUTE = 60.0


def pausing_line(**kinds: str) -> StateGraph[Trail]:
    """The nodes one after another, by name; `until` in a kind gives it a timeout of a minute."""
    graph = StateGraph(Trail)
    for name, kind in kinds.items():
        _add(graph, name, kind)
    for source, target in pairwise(kinds):
        graph.add_edge(source, target)
    return graph


def _add(graph: StateGraph[Trail], name: str, kind: str) -> None:
    timeout = MINUTE if "until" in kind else None
    match kind.split():
        case ["event", event_type, *_]:
            graph.add_wait_for_event(name, event_type, timeout=timeout)
        case ["timer"]:
            graph.add_timer(name, MINUTE)
        case ["inside", *_]:
            child = line("Read", "Sign", "File").add_interrupt_boundary("Sign").compile()
            graph.add_subgraph(name, child, enter=lambda trail: trail, leave=lambda _, inner: inner)
        case _:
            graph.add_node(name, adds(name), inline=True)
    if "boundary" in kind:
        graph.add_interrupt_boundary(name, timeout=timeout)


def described(graph: CompiledGraph[Any]) -> Described:
    return Described(graph.definition(), graph.state_schemas())


def foretold(old: CompiledGraph[Any], new: CompiledGraph[Any], record: Checkpoint, effect: Effect = "breaks") -> list[Finding]:
    """What the comparison says of the thread with this record."""
    found = changes_between(described(old), described(new))
    return [finding for finding in found if finding.effect == effect and is_affected(record, finding)]


def codes(findings: list[Finding]) -> list[str]:
    return [finding.code for finding in findings]


async def paused(store: CheckpointStore, graph: CompiledGraph[Any], state: State | None = None) -> Checkpoint:
    """The record of thread `t`, run until it pauses or fails."""
    await Runner(graph, store, clock=HandClock()).run("t", Trail() if state is None else state)
    stored = await store.load_latest("t")
    assert stored is not None
    return stored.checkpoint


async def answered(store: CheckpointStore, graph: CompiledGraph[Any], record: Checkpoint) -> Outcome[Any]:
    """The thread goes on in the graph, with the answer that its record waits for."""
    runner, wait = Runner(graph, store, clock=HandClock()), record.innermost.wait
    if record.status != "interrupted":
        return await runner.resume("t")
    if wait is not None and wait.kind == "event":
        return await runner.signal("t", Event(wait.event_type or ""))
    if wait is not None and wait.kind == "timer":
        return await woken(store, graph)
    return await runner.resume("t", graph.approve("ana"))


async def woken(store: CheckpointStore, graph: CompiledGraph[Any]) -> Outcome[Any]:
    """The thread goes on in the graph because its time has come."""
    return await Runner(graph, store, clock=HandClock()).wake("t", now=START + timedelta(seconds=2 * MINUTE))
