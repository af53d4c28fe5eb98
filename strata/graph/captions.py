"""What drawings write at nodes and edges, in words that need no legend."""

from __future__ import annotations

from strata.graph.definition import Definition, EdgeDefinition, JoinDefinition, NodeDefinition, WaitDefinition
from strata.rules.routing import ROUTES

_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"), (1, "ms"))


def visible(text: str) -> str:
    """The text on one line, with what does not print, or could steer a terminal, as `<U+001B>`."""
    return "".join(char if char.isprintable() else f"<U+{ord(char):04X}>" for char in text)


def title(name: str) -> str:
    """A name as a drawing shows it; a broken graph may have an empty one."""
    return visible(name) or "(no name)"


def node_notes(node: NodeDefinition) -> list[str]:
    """What a node is and where it pauses; nothing for a plain one."""
    notes: list[str] = []
    if node.kind == "parallel_group":
        notes.append(f"parallel: {', '.join(title(branch.name) for branch in node.branches or ())}")
    elif node.kind is not None and node.kind != "wait":
        notes.append(node.kind)
    if node.join is not None:
        notes.append(_join_note(node.join))
    if node.wait is not None:
        notes.append(_wait_note(node.wait))
    if node.interrupt is not None:
        notes.append(f"pauses for a person{_at_most(node.interrupt.timeout_ms)}")
    return notes


def edge_note(edge: EdgeDefinition, guard: str | None) -> str:
    """When an edge is taken: its route, or its guard's name; nothing for a plain edge or a guard without a name."""
    if edge.condition is not None:
        return visible(edge.condition)
    return f"if {visible(guard)}" if guard else ""


def ending_nodes(definition: Definition) -> list[str]:
    """The nodes after which a run ends: they have no ordinary edges, and do not pause (strata-graph.md 6.2)."""
    going_on = {edge.source for edge in definition.edges if edge.condition not in ROUTES}
    names = [node.name for node in definition.nodes if node.interrupt is None and node.kind != "wait"]
    return [name for name in dict.fromkeys(names) if name not in going_on]


def duration(milliseconds: int) -> str:
    """`1 h 30 min`, `1 s 500 ms`, `0 ms`."""
    parts: list[str] = []
    for size, unit in _UNITS:
        count, milliseconds = divmod(milliseconds, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts) or "0 ms"


def _join_note(join: JoinDefinition) -> str:
    what = "all" if join.policy == "all" else join.policy.replace("_", " ")
    if join.policy == "quorum" and join.count is not None:
        what = f"quorum of {join.count}"
    if join.condition is not None:
        what = f"{what}: {visible(join.condition)}"
    return f"{what}, keeps what succeeded" if join.partial == "keep_succeeded" else what


def _wait_note(wait: WaitDefinition) -> str:
    if wait.kind == "timer":
        return "timer until a time in the state" if wait.delay_ms is None else f"timer, {duration(wait.delay_ms)}"
    what = "an answer" if wait.event_type is None else f"event {visible(wait.event_type)}"
    return f"waits for {what}{_at_most(wait.timeout_ms)}"


def _at_most(milliseconds: int | None) -> str:
    return "" if milliseconds is None else f", at most {duration(milliseconds)}"
