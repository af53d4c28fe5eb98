"""Whatever a run says of a node or branch, its path is one that the exported graph has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from strata import Completed, Context, Interrupted, Runner, State, StateGraph, StreamEvent, branch
from strata.engine.stream import Token
from strata.runtime.stream import RunStream
from strata.stores.memory import MemoryStore


class Incident(State):
    reports: int = 0


async def speak(incident: Incident, ctx: Context) -> Incident:
    await ctx.token(ctx.path)
    return incident


def merge(incident: Incident, results: list[Incident]) -> Incident:
    return incident.replace(reports=len(results))


def enter(incident: Incident) -> Incident:
    return incident


def leave(incident: Incident, child: Incident) -> Incident:
    return child


def fixing() -> StateGraph[Incident]:
    return StateGraph(Incident).add_node("Apply", speak).add_node("Verify", speak).add_edge("Apply", "Verify")


def remedying() -> StateGraph[Incident]:
    """Plan -> Approve, which asks -> Fix, a graph."""
    return (
        StateGraph(Incident)
        .add_node("Plan", speak)
        .add_node("Approve", speak)
        .add_subgraph("Fix", fixing().compile(), enter=enter, leave=leave)
        .add_edge("Plan", "Approve")
        .add_edge("Approve", "Fix")
        .add_interrupt_boundary("Approve")
    )


def incidents() -> StateGraph[Incident]:
    """Triage -> Investigate, three at once -> Remediate, a graph that pauses and holds another -> Report."""
    return (
        StateGraph(Incident)
        .add_node("Triage", speak)
        .add_parallel_group("Investigate", [branch(name, speak) for name in ("Kubernetes", "Prometheus", "GitHub")], merge)
        .add_subgraph("Remediate", remedying().compile(), enter=enter, leave=leave)
        .add_node("Report", speak)
        .add_edge("Triage", "Investigate")
        .add_edge("Investigate", "Remediate")
        .add_edge("Remediate", "Report")
    )


def paths_in(definition: dict[str, Any], above: str = "") -> Iterator[str]:
    for node in definition["nodes"]:
        path = above + node["name"]
        yield path
        yield from (f"{path}/{each['name']}" for each in node.get("branches") or ())
        if node.get("graph") is not None:
            yield from paths_in(node["graph"], f"{path}/")


async def read(stream: RunStream[Incident]) -> tuple[list[StreamEvent], object]:
    async with stream as events:
        seen = [event async for event in events]
    return seen, events.outcome


async def test_gx12_every_path_that_an_event_names_stands_in_the_export() -> None:
    graph = incidents().compile()
    runner = Runner(graph, MemoryStore())
    first, paused = await read(runner.stream("t", Incident()))
    assert isinstance(paused, Interrupted)
    second, ended = await read(runner.stream_resume("t", remedying().compile().approve("ana")))
    assert isinstance(ended, Completed)
    exported = set(paths_in(msgspec.json.decode(graph.definition().to_json())))
    assert {event.path for event in (*first, *second)} <= exported
    spoke = {event.text for event in (*first, *second) if isinstance(event, Token)}
    assert spoke == exported - {"Investigate", "Remediate", "Remediate/Fix"}
