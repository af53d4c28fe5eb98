"""Boundaries and waits that were moved or changed under the threads that they have paused (strata-checkpoint.md 7)."""

from __future__ import annotations

from collections.abc import Iterator

from strata.graph.changes.finding import Effect, Finding, Reach
from strata.graph.changes.pair import Pair
from strata.graph.definition import Definition, NodeDefinition


def pause_changes(pair: Pair) -> Iterator[Finding]:
    """Events, timers and timeouts need the same wait in the new graph; a person's answer needs only the node, and its routes."""
    for old, new in pair.kept_nodes():
        if old.wait is None and old.interrupt is None:
            if new.wait is not None or new.interrupt is not None:
                text = f"node '{pair.qualified(new.name)}' pauses now; what has passed it does not come back"
                yield _finding(pair, new, "pause_added", "harmless", "node", text)
        elif (lost := _lost_wait(pair, old, new)) is not None:
            yield lost
        else:
            yield from _changed_pause(pair, old, new)


def _lost_wait(pair: Pair, old: NodeDefinition, new: NodeDefinition) -> Finding | None:
    """What a thread waits for is stored with it, and it takes that or nothing."""
    if old.wait is None or (new.wait is not None and (new.wait.kind, new.wait.event_type) == (old.wait.kind, old.wait.event_type)):
        return None
    waits = _awaited(old)
    text = f"node '{pair.qualified(old.name)}' waits for {_awaited(new)} and no more for {waits}: what a thread waits for there is refused"
    hint = f"keep the wait for {waits} until nothing waits there, and put the new one under another name"
    return _finding(pair, old, "wait_changed", "breaks", "pause", text, hint)


def _awaited(node: NodeDefinition) -> str:
    if node.wait is not None:
        return f"event '{node.wait.event_type}'" if node.wait.kind == "event" else "a timer"
    return "nothing" if node.interrupt is None else "a person"


def _changed_pause(pair: Pair, old: NodeDefinition, new: NodeDefinition) -> Iterator[Finding]:
    name = pair.qualified(old.name)
    if old.interrupt is not None and new.interrupt is None:
        text = f"node '{name}' pauses for a person no more; a thread that waits there still takes the answer"
        yield _finding(pair, old, "boundary_removed", "caution", "pause", text)
    yield from _changed_timeout(pair, old, new)
    if _route(pair.old.definition, old.name, "on_reject") is not None and _route(pair.new.definition, old.name, "on_reject") is None:
        text = f"node '{name}' has no route for a rejection any more: a thread that is rejected there goes on as if it were approved"
        yield _finding(pair, old, "reject_route_removed", "breaks", "pause", text, f"keep @on_reject on '{old.name}' until nothing waits there")
    yield from _changed_edges(pair, old)


def _changed_timeout(pair: Pair, old: NodeDefinition, new: NodeDefinition) -> Iterator[Finding]:
    if _timeout(old) is None:
        return
    name = pair.qualified(old.name)
    if _timeout(new) is None:
        text = f"node '{name}' has no timeout any more: a thread that waits there until a time cannot be woken by it"
        yield _finding(pair, old, "timeout_removed", "breaks", "timeout", text, f"keep a timeout on '{old.name}' until nothing waits there")
    elif _route(pair.old.definition, old.name, "on_timeout") is not None and _route(pair.new.definition, old.name, "on_timeout") is None:
        text = f"node '{name}' has no route for a timeout any more: a thread whose time is over there is ended"
        yield _finding(pair, old, "timeout_route_removed", "breaks", "timeout", text, f"keep @on_timeout on '{old.name}' until nothing waits there")


def _changed_edges(pair: Pair, old: NodeDefinition) -> Iterator[Finding]:
    """The next node was chosen and stored at the pause; a node that is gone is a finding of its own."""
    kept, now = {node.name for node in pair.new.definition.nodes}, set(_targets(pair.new.definition, old.name))
    for target in _targets(pair.old.definition, old.name):
        if target in kept and target not in now:
            name, leads = pair.qualified(old.name), pair.qualified(target)
            text = f"the edge from '{name}' to '{leads}' is gone; a thread that '{name}' has paused goes there all the same"
            yield _finding(pair, old, "edge_removed", "caution", "pause", text)


def _targets(definition: Definition, name: str) -> list[str]:
    return list(dict.fromkeys(edge.target for edge in definition.edges if edge.source == name and edge.condition not in _ROUTES))


def _route(definition: Definition, name: str, condition: str) -> str | None:
    return next((edge.target for edge in definition.edges if edge.source == name and edge.condition == condition), None)


def _timeout(node: NodeDefinition) -> int | None:
    pause = node.interrupt if node.interrupt is not None else node.wait
    return None if pause is None else pause.timeout_ms


def _finding(pair: Pair, node: NodeDefinition, code: str, effect: Effect, reach: Reach, text: str, hint: str | None = None) -> Finding:
    return Finding(code=code, effect=effect, reach=reach, level=pair.path, node=node.name, text=text, hint=hint)


_ROUTES = ("on_failure", "on_reject", "on_timeout")
