"""Marks, nodes and what makes them, as the decorators of the source say them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

from strata.analysis.values import UNKNOWN, Backoff, Branch, Value
from strata.rules.facts import GraphFacts, JoinFacts, NodeKind, SourcePlace

MarkWord: TypeAlias = Literal["edge", "when", "boundary", "on_reject", "on_timeout", "retry", "on_failure"]
TopWord: TypeAlias = Literal["node", "parallel", "subgraph", "map_each", "wait_for_event", "timer"]


class Mark(Value, frozen=True, eq=False, kw_only=True):
    """What stands under a top decorator; also the decorator itself, on its way to the function.

    `target` is None where it cannot be told, and for what leads nowhere.
    """

    word: MarkWord
    place: SourcePlace | None
    target: str | None = None
    guard: Value | None = None
    timeout: float | None = None
    backoff: Backoff | None = None

    @property
    def is_edge(self) -> bool:
        return self.word in {"edge", "when"}


class Wired(Value, frozen=True, eq=False, kw_only=True):
    """A function with marks, from top to bottom; `is_open`: something that is not known stands below them."""

    function: Value
    marks: tuple[Mark, ...]
    is_open: bool = False


class Role(msgspec.Struct, frozen=True, eq=False):
    """A function of a node, and what errors call it."""

    function: Value
    role: str | None = None
    """None: the function that the node is made of."""
    takes: tuple[str, ...] = ()
    """What a function that must be pure is given; the others take the state, and a context."""

    @property
    def is_pure(self) -> bool:
        return bool(self.takes)

    @property
    def takes_state(self) -> bool:
        return not self.takes or self.takes[0] == "the state"


class Child(msgspec.Struct, frozen=True, eq=False):
    """The compiled graph inside a node; `facts` only of one that is known whole, `durable` only where it is told."""

    facts: GraphFacts | None
    durable: bool | None


class Body(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """What a node does."""

    kind: NodeKind
    word: TopWord
    roles: tuple[Role, ...]
    inline: bool = False
    branches: tuple[Branch, ...] = ()
    has_all_branches: bool = True
    join: JoinFacts | None = None
    max_concurrency: int | None = None
    part_timeout: float | None = None
    max_items: int | None = None
    child: Child | None = None
    event_type: str | None = None
    delay: float | None = None
    timeout: float | None = None
    """Of a wait for an event."""
    names_payload: bool = False
    """Whether the type of the payload is given by itself, and not by the function."""

    @property
    def is_event_wait(self) -> bool:
        return self.word == "wait_for_event"

    @property
    def may_pause_unseen(self) -> bool:
        """Whether it cannot be told if a thread may come to rest inside."""
        return self.kind == "subgraph" and (self.child is None or self.child.facts is None)


class Top(Value, frozen=True, eq=False, kw_only=True):
    """A top decorator on its way to the function; `name` is None for the function's own."""

    body: Body
    name: str | None = None
    has_unknown_name: bool = False
    timeout: float | None = None
    metadata: Mapping[str, str] | None = None


class Node(Value, frozen=True, eq=False, kw_only=True):
    """A node; `is_open`: it may have more ways out than those that are known."""

    name: str
    body: Body
    place: SourcePlace | None
    marks: tuple[Mark, ...] = ()
    timeout: float | None = None
    metadata: Mapping[str, str] | None = None
    is_open: bool = False

    @property
    def edges(self) -> tuple[Mark, ...]:
        return tuple(mark for mark in self.marks if mark.is_edge)

    @property
    def function(self) -> Value:
        return next((role.function for role in self.body.roles if role.role is None), UNKNOWN)

    def mark(self, word: MarkWord) -> Mark | None:
        """The mark of that word, of which there is one at most."""
        return next((mark for mark in self.marks if mark.word == word), None)
