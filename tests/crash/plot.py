"""A graph whose runs are killed, and what must become of its threads."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import msgspec

from strata import CompiledGraph, Outcome, Runner, Signal, State, Thread

Trail: TypeAlias = tuple[tuple[str, ...], ...]
"""Stages; the steps of one are committed together, by one record. A step is `path#hops`."""


class Job(msgspec.Struct, frozen=True):
    """A thread, and what it meets outside: a name of its plot's `trails`."""

    thread_id: str
    way: str


class Plot(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """`answer` is the call that goes on with a thread that waits.

    `waits` are nodes that count as a hop before anything is in the trail of them. `begins_twice` are steps that fail at
    first, `untold` those that may begin once more in another process and are not told so.
    """

    name: str
    graph: CompiledGraph[Any]
    start: Callable[[Job], State]
    trails: Mapping[str, Trail]
    answer: Callable[[Runner[Any], Job, Thread[Any]], Awaitable[Outcome[Any]]]
    mended: Signal[Any]
    waits: frozenset[str] = frozenset()
    begins_twice: frozenset[str] = frozenset()
    untold: frozenset[str] = frozenset()


def numbered(*nodes: str) -> Trail:
    """One node after the other."""
    return tuple((f"{node}#{hop}",) for hop, node in enumerate(nodes, 1))
