"""A definition as a picture: a Mermaid flowchart, or lines for a terminal. Made here, without any service.

Both are functions of the definition alone; `facts`, the same graph as the compiler saw it, adds the names of guards, which
an export does not have. Neither recurses: a graph may be nested deeper than Python's stack.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from strata.graph.captions import edge_note, ending_nodes, node_notes, title, visible
from strata.graph.definition import Definition, EdgeDefinition, NodeDefinition
from strata.rules.facts import GraphFacts


class _Level(msgspec.Struct, frozen=True, kw_only=True):
    """One graph to draw: `key` keeps the ids of its nodes apart from those of other levels, `margin` is its indentation."""

    definition: Definition
    facts: GraphFacts
    key: str = ""
    margin: str = ""

    def inside(self, position: int, margin: str) -> _Level | None:
        """The graph inside the node at a position."""
        graph, facts = self.definition.nodes[position].graph, self.facts.nodes[position].graph
        if graph is None or facts is None:
            return None
        return _Level(definition=graph, facts=facts, key=f"{self.key}{position}_", margin=margin)

    def noted_edges(self) -> list[tuple[EdgeDefinition, str]]:
        return [(edge, edge_note(edge, fact.guard)) for edge, fact in zip(self.definition.edges, self.facts.edges, strict=True)]

    def strangers(self) -> list[str]:
        """Names that the entry or an edge has and no node: a broken graph is drawn too."""
        known = {node.name for node in self.definition.nodes}
        named = [self.definition.entry_point] if self.definition.entry_point else []
        for edge in self.definition.edges:
            named += [edge.source, edge.target]
        return [name for name in dict.fromkeys(named) if name not in known]


# Mermaid


def mermaid(definition: Definition, facts: GraphFacts | None = None) -> str:
    """The graph as a Mermaid flowchart; the same definition gives the same text.

    A dot starts each level and a ringed one ends it. Boundaries are hexagons, waits are rounded, groups have double sides, graphs
    inside a node are boxes, guarded edges and routes are dashed. Any name may be drawn: ids are ours and labels are escaped.
    """
    declared: list[str] = ["flowchart TD"]
    edges: list[str] = []
    waiting: list[str | _Level] = [_Level(definition=definition, facts=facts or definition.facts(), margin="    ")]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            declared.append(part)
        else:
            edges.extend(_mermaid_edges(part))
            waiting.extend(reversed(list(_mermaid_nodes(part))))
    # Edges stand behind all nodes: one inside a box would pull the nodes that it names into that box.
    return "\n".join([*declared, *(f"    {edge}" for edge in edges)]) + "\n"


def _mermaid_nodes(level: _Level) -> Iterator[str | _Level]:
    yield f'{level.margin}start{level.key}((" "))'
    for position, node in enumerate(level.definition.nodes):
        label = _mermaid_label(title(node.name), *node_notes(node))
        inner = level.inside(position, level.margin + "    ")
        if inner is None:
            opening, closing = _mermaid_shape(node)
            yield f"{level.margin}n{level.key}{position}{opening}{label}{closing}"
        else:
            yield f"{level.margin}subgraph g{level.key}{position}[{label}]"
            yield inner
            yield f"{level.margin}end"
    for position, name in enumerate(level.strangers()):
        yield f"{level.margin}x{level.key}{position}>{_mermaid_label(title(name), 'no such node')}]"
    if level.key or ending_nodes(level.definition):  # a box is always left by its ringed dot
        yield f'{level.margin}done{level.key}(((" ")))'


def _mermaid_edges(level: _Level) -> Iterator[str]:
    entrances: dict[str, str] = {name: f"x{level.key}{position}" for position, name in enumerate(level.strangers())}
    exits = dict(entrances)
    for position, node in enumerate(level.definition.nodes):
        own = f"{level.key}{position}"
        entrances.setdefault(node.name, f"n{own}" if node.graph is None else f"start{own}_")
        exits.setdefault(node.name, f"n{own}" if node.graph is None else f"done{own}_")
    if level.definition.entry_point in entrances:
        yield f"start{level.key} --> {entrances[level.definition.entry_point]}"
    for edge, note in level.noted_edges():
        arrow = "-.->" if edge.guarded else "-->"
        yield f"{exits[edge.source]} {arrow}{f'|{_mermaid_label(note)}|' if note else ''} {entrances[edge.target]}"
    for name in ending_nodes(level.definition):
        yield f"{exits[name]} --> done{level.key}"


def _mermaid_shape(node: NodeDefinition) -> tuple[str, str]:
    if node.interrupt is not None:
        return "{{", "}}"
    if node.kind == "wait":
        return "([", "])"
    return ("[[", "]]") if node.kind is not None else ("[", "]")


def _mermaid_label(*lines: str) -> str:
    """A quoted label; all but letters, digits and plain punctuation is written as a character reference."""
    return '"' + "<br/>".join("".join(_mermaid_char(char) for char in line) for line in lines) + '"'


def _mermaid_char(char: str) -> str:
    return char if char.isalnum() or char in " _-.,:/()+=?!" else f"#{ord(char)};"


# Terminal


def terminal(definition: Definition, facts: GraphFacts | None = None) -> str:
    """The graph as lines of text: each node with what it is, the graph inside it, and its ways out, in the order they are tried.

    `→` is a plain edge, `⇢` a guarded one or a route. What does not print is shown as `<U+001B>`: a name cannot steer the terminal.
    """
    lines: list[str] = [] if definition.identity is None else [visible(f"graph {definition.identity}")]
    waiting: list[str | _Level] = [_Level(definition=definition, facts=facts or definition.facts())]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            lines.append(part)
        else:
            waiting.extend(reversed(list(_terminal_parts(part))))
    return "\n".join(lines) + "\n"


def _terminal_parts(level: _Level) -> Iterator[str | _Level]:
    ways = _ways_out(level)
    ending = set(ending_nodes(level.definition))
    if not level.definition.nodes:
        yield f"{level.margin}(no nodes)"
    for position, node in enumerate(level.definition.nodes):
        notes = ["start"] if node.name == level.definition.entry_point else []
        notes += node_notes(node)
        notes += ["end"] if node.name in ending else []
        yield f"{level.margin}● {title(node.name)}{_in_brackets(notes)}"
        inner = level.inside(position, f"{level.margin}  │ ")
        if inner is not None:
            yield inner
        yield from _branches(level.margin, ways.pop(node.name, []))
    for name in level.strangers():
        if name in ways or name == level.definition.entry_point:
            yield f"{level.margin}? {title(name)} ({'start; ' if name == level.definition.entry_point else ''}no such node)"
            yield from _branches(level.margin, ways.pop(name, []))


def _ways_out(level: _Level) -> dict[str, list[str]]:
    strangers = set(level.strangers())
    ways: dict[str, list[str]] = {}
    for edge, note in level.noted_edges():
        arrow = "⇢" if edge.guarded else "→"
        missing = " (no such node)" if edge.target in strangers else ""
        ways.setdefault(edge.source, []).append(f"{arrow} {title(edge.target)}{missing}{f'  {note}' if note else ''}")
    return ways


def _branches(margin: str, ways: list[str]) -> Iterator[str]:
    for way in ways[:-1]:
        yield f"{margin}  ├{way}"
    for way in ways[-1:]:
        yield f"{margin}  └{way}"


def _in_brackets(notes: list[str]) -> str:
    return f" ({'; '.join(notes)})" if notes else ""
