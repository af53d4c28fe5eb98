"""What the plugin knows of marks, decorators, nodes and graphs, as far as a type can carry it.

No line numbers: an edit above a node must not change what its module offers. Where something stands is looked up when there
is a problem to report (`locating`).
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from strata.rules.facts import GraphFacts, JoinFacts

TopWord = Literal["node", "parallel", "subgraph", "map_each", "wait_for_event", "timer"]
MarkWord = Literal["edge", "when", "boundary", "on_reject", "on_timeout", "retry", "on_failure"]


class Carried(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag=True):
    """What a type can carry."""


class Mark(Carried, frozen=True, kw_only=True, omit_defaults=True):
    """One decorator under a top decorator. `timeout` is a boundary's, `backoff` a retry's first and longest delay in seconds."""

    word: MarkWord
    target: str | None = None
    guard: str | None = None
    timeout: float | None = None
    backoff: tuple[float, float] | None = None


class Marks(Carried, frozen=True, kw_only=True, omit_defaults=True):
    """The marks of a function, from top to bottom."""

    marks: tuple[Mark, ...] = ()


class Chosen(Carried, frozen=True, kw_only=True, omit_defaults=True):
    """When a group or a map is done."""

    join: JoinFacts


class NamedBranch(Carried, frozen=True, kw_only=True, omit_defaults=True):
    """A branch under a name of its own."""

    name: str


class Compiled(Carried, frozen=True, kw_only=True, omit_defaults=True):
    """A compiled graph, which may be the child of a node; `durable` is None where only the run knows it."""

    graph: GraphFacts
    durable: bool | None = True


class Top(Carried, frozen=True, kw_only=True, omit_defaults=True):
    """A top decorator as it was written; `name` is None where the function's own name is the node's."""

    word: TopWord
    name: str | None = None
    timeout: float | None = None
    metadata: tuple[str, ...] = ()
    inline: bool = False
    branches: tuple[str, ...] = ()
    join: JoinFacts | None = None
    max_concurrency: int | None = None
    part_timeout: float | None = None
    max_items: int | None = None
    child: Compiled | None = None
    event_type: str | None = None
    delay: float | None = None

    def named(self, name: str | None) -> Top:
        return msgspec.structs.replace(self, name=name)


class ToolTop(Carried, frozen=True, kw_only=True, omit_defaults=True):
    """`@strata_tool(...)` as it was written; `name` is None where the function's own name is the tool's."""

    name: str | None = None
    has_description: bool = False


class Fault(msgspec.Struct, frozen=True, array_like=True):
    """What is wrong with a node alone; `mark` is the mark that it is about, counted from the top, None for the function."""

    code: str
    text: str
    mark: int | None = None


class Declared(Carried, frozen=True, kw_only=True, omit_defaults=True):
    """A node. `origin` is the function's module and name, `faults` are what is wrong with the function or its marks."""

    name: str
    origin: str
    top: Top
    marks: tuple[Mark, ...] = ()
    faults: tuple[Fault, ...] = ()


class Listed(Carried, frozen=True, kw_only=True, omit_defaults=True):
    """The nodes of a graph that is not compiled yet; the first is its start."""

    nodes: tuple[Declared, ...]


class Broken(Carried, frozen=True, kw_only=True, omit_defaults=True):
    """In place of facts: the plugin itself failed here."""

    error: str


CARRIED: Final[tuple[type[Carried], ...]] = (Mark, Marks, Chosen, NamedBranch, Compiled, Top, ToolTop, Declared, Listed, Broken)
"""All kinds of facts."""
