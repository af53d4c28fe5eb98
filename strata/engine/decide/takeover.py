"""Whether a graph may take a stored thread over, and as what: identity and migration, level by level (strata-graph.md 5)."""

from __future__ import annotations

from typing import Any

import msgspec

from strata.checkpoint.record import Checkpoint
from strata.checkpoint.transitions import versioned
from strata.engine.plan import GraphPlan
from strata.errors import WrongGraph, at_level
from strata.graph.answers import StoredLevel
from strata.graph.compiled import CompiledGraph
from strata.graph.identity import Identity


def owns(checkpoint: Checkpoint, graph: CompiledGraph[Any]) -> bool:
    """Whether the outermost level is one that `graph` would take over; its migration is not called."""
    wrote, runs = checkpoint.graph, graph.identity
    if wrote is None:
        return True
    if runs is None or runs.id != wrote.id:
        return False
    return runs.version == wrote.version or graph.migrate is not None


def take_over(checkpoint: Checkpoint, plan: GraphPlan, *, thread_id: str, level: tuple[str, ...] = ()) -> Checkpoint:
    """The record as the graph goes on with it: each level as stored or migrated, outermost first.

    An inner level goes to the child of the subgraph node that its outer one goes on with; what is nested under anything
    else is left to the preflight.

    Raises:
        WrongGraph: another graph wrote it, or a version that no migration takes.
    """
    taken = _taken_over(checkpoint, plan.graph, thread_id=thread_id, level=level)
    node = None if taken.next_node is None else plan.nodes.get(taken.next_node)
    if taken.nested is None or node is None or node.child is None:
        return taken
    below = take_over(taken.nested, node.child, thread_id=thread_id, level=(*level, node.name))
    return taken if below is taken.nested else versioned(msgspec.structs.replace(taken, nested=below))


def _taken_over(checkpoint: Checkpoint, graph: CompiledGraph[Any], *, thread_id: str, level: tuple[str, ...]) -> Checkpoint:
    wrote, runs = checkpoint.graph, graph.identity
    if wrote is None or wrote == runs:
        return checkpoint
    start = f"thread '{thread_id}'{at_level(level)} was written by graph {wrote}"

    def refuse(why: str, hint: str) -> WrongGraph:
        return WrongGraph(f"{start}, {why}", thread_id=thread_id, level=level, wrote=wrote, runs=runs, hint=hint)

    if runs is None:
        raise refuse("and this graph has no identity", f"compile this graph with id='{wrote.id}' if it is the same one")
    if runs.id != wrote.id:
        raise refuse(f"not {runs}", f"run the thread with the graph '{wrote.id}'")
    if graph.migrate is None:
        hint = f"give compile(migrate=...) a function that accepts {wrote.version_text}, or run the thread with the version that wrote it"
        raise refuse(f"not {runs.version_text}, and this graph has no migration", hint)
    migrated = _migrate(graph, checkpoint, wrote, start)
    if migrated is None:
        hint = "run the thread with the version that wrote it"
        raise refuse(f"not {runs.version_text}, and this graph's migration refused it", hint)
    return versioned(msgspec.structs.replace(migrated, graph=runs))


def _migrate(graph: CompiledGraph[Any], checkpoint: Checkpoint, wrote: Identity, start: str) -> Checkpoint | None:
    assert graph.migrate is not None
    old = StoredLevel(
        thread_id=checkpoint.thread_id,
        identity=wrote,
        status=checkpoint.status,
        state=msgspec.json.decode(checkpoint.frozen_state),
        suspended_node=checkpoint.suspended_node,
        next_node=checkpoint.next_node,
        metadata=dict(checkpoint.metadata or {}),
    )
    kept = msgspec.json.encode(old.state)
    try:
        new = graph.migrate(old)
        if new is None:
            return None
        state = msgspec.json.encode(new.state)
    except Exception as error:
        text = f"{start}, and this graph's migration raised {type(error).__name__}: {error}"
        raise WrongGraph(text, thread_id=checkpoint.thread_id, wrote=wrote, runs=graph.identity) from error
    return msgspec.structs.replace(
        checkpoint,
        # a state that the migration left alone keeps its own text, numbers and all
        frozen_state=checkpoint.frozen_state if state == kept else msgspec.Raw(state),
        suspended_node=new.suspended_node,
        next_node=new.next_node,
    )
