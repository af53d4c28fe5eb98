"""What a recorded scenario is made of: the graphs of its calls, their services, and where we answer differently."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec

from strata import CompiledGraph
from strata.ports import CheckpointStore
from tests.wire.calls import Call

Records = list[dict[str, Any]]
Result = Mapping[str, Any]


class Differs(msgspec.Struct, frozen=True, kw_only=True):
    """A call that we answer differently; `row` is where that was decided.

    `ask` changes how the call is made, `result` what it answers, `records` what it writes, each from the recorded one.
    """

    row: str
    keeps_store: bool = False
    """What we wrote stands: the store is not put back to the record."""

    ask: Mapping[str, Any] = {}
    result: Callable[[Result], Result] = lambda result: result
    records: Callable[[Records], Records] = lambda records: records


class Left(msgspec.Struct, frozen=True):
    """A call that is not made here: its records are put into the store as the other engine wrote them."""

    reason: str


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """How to make the calls: on which graph, with which services, and where our answers are other ones."""

    graph: CompiledGraph[Any]
    graphs: Mapping[int, CompiledGraph[Any]] = {}
    services: Mapping[int, Sequence[object]] = {}
    services_on: Callable[[CheckpointStore], Sequence[object]] = lambda _: ()
    """Services of all calls that need the store."""

    before: Mapping[int, Callable[[CheckpointStore], Awaitable[object]]] = {}
    """What was done to the store before a call, and is recorded nowhere."""

    differs: Mapping[int, Differs | Left] = {}
    inside: tuple[CompiledGraph[Any], ...] = ()
    """The graphs inside, outermost first: answers are made from the innermost."""

    tells_recovery: bool = False
    """The nodes write down whether they are recovered: a recovery does not give the recorded records."""

    def graph_of(self, call: Call) -> CompiledGraph[Any]:
        return self.graphs.get(call.number, self.graph)

    def levels_of(self, call: Call) -> tuple[CompiledGraph[Any], ...]:
        return (self.graph_of(call), *self.inside)
