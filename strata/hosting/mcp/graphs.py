"""Graphs as tools: a call runs a thread, and its reply is what the run came to."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from anyio import CancelScope

from strata.engine.outcomes import Cancelled, Completed, Failed, Interrupted, Outcome
from strata.engine.stream import NodeStarted
from strata.errors import StrataError, ToolInvalid
from strata.graph.clock import SYSTEM, Clock
from strata.graph.compiled import CompiledGraph
from strata.graph.state import State
from strata.hosting.mcp.offers import Listed, Progress, Reply
from strata.runtime.runner import Runner
from strata.runtime.stream import RunStream
from strata.tools.problems import argument_problems
from strata.tools.providers import provider_names, without_default_nulls


@dataclass(frozen=True, slots=True)
class ServedGraph:
    """A graph offered as one tool: its arguments are the fields of the graph's state, and each call is a thread of its own.

    A thread that pauses for a person ends the call with `"status": "interrupted"`: a model is told what the thread waits for,
    and cannot answer in the person's place. Of a failed thread it is told the node, and not
    what that raised. A client that takes its call back cancels the thread; it can be resumed.
    """

    runner: Runner[Any]
    listing: Listed
    graph: CompiledGraph[Any]
    decoder: msgspec.json.Decoder[State]
    clock: Clock = SYSTEM

    def listed(self) -> Sequence[Listed]:
        return (self.listing,)

    async def call(self, name: str, arguments: bytes, progress: Progress) -> Reply:
        if name != self.listing.name:
            return Reply(f"tool '{name}' was not found", is_error=True)
        try:
            state = self._read(arguments)
        except (ValueError, RecursionError) as error:  # what else a __post_init__ of the state raises is its fault, and no client's
            problems = argument_problems(arguments, self.listing.parameters) or str(error)
            return Reply(f"invalid arguments for tool '{name}': {problems}", is_error=True)
        thread_id = self.clock.new_id()
        try:
            return _reply(await self._run(thread_id, state, progress), self.graph)
        except StrataError as error:  # a refusal, or the store's: the client is told, and the server goes on
            return Reply(f"thread '{thread_id}': {error}", is_error=True)

    def _read(self, arguments: bytes) -> State:
        """The state; null is a field's default where it is no value of it, as for the arguments of a tool."""
        try:
            return self.decoder.decode(arguments)
        except ValueError:
            return self.decoder.decode(without_default_nulls(arguments.decode(), self.listing.parameters))

    async def _run(self, thread_id: str, state: State, progress: Progress) -> Outcome[Any]:
        async with self.runner.stream(thread_id, state) as events:
            try:
                await _report(events, progress)
            except asyncio.CancelledError:
                await self._cancel(thread_id, events)
                raise
        return events.outcome

    async def _cancel(self, thread_id: str, events: RunStream[Any]) -> None:
        """Nobody waits for the reply any more: the thread's record says so, and is not left to look as if it ran."""
        with CancelScope(shield=True):
            self.runner.cancel(thread_id)
            async for _ in events:
                pass


def served_graph(runner: Runner[Any], graph: CompiledGraph[Any], *, name: str, description: str = "") -> ServedGraph:
    """The graph as one tool, run by `runner`.

    Args:
        name: what a model calls it by; characters that providers do not take become `_`.
        description: what a model is told it does; the docstring of the graph's state where it has one.

    Raises:
        ToolInvalid: msgspec knows no JSON Schema of the state.
    """
    schema = graph.state_schemas().state
    if schema is None:
        raise ToolInvalid(f"graph '{name}' cannot be a tool: its state {graph.state.__name__} has no JSON Schema")
    text = description or graph.state.__dict__.get("__doc__") or f"Runs the graph '{name}'."
    [safe] = provider_names([name])
    state: type[State] = graph.state
    return ServedGraph(runner=runner, listing=Listed(safe, text, _parameters(schema)), graph=graph, decoder=msgspec.json.Decoder(state))


def _parameters(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """With the object of the state's fields at the root, where clients want it."""
    definitions = dict(schema.get("$defs", {}))
    root = dict(schema)
    if "$ref" in root:
        root = dict(definitions[root["$ref"].rpartition("/")[2]])
    if definitions:
        root["$defs"] = definitions
    return root


async def _report(events: RunStream[Any], progress: Progress) -> None:
    done = 0
    async for event in events:
        if isinstance(event, NodeStarted):
            await progress(done, event.path)
            done += 1


def _reply(outcome: Outcome[Any], graph: CompiledGraph[Any]) -> Reply:
    match outcome:
        case Completed(state):
            fields = {"state": msgspec.Raw(graph.codec.encode(state))}
            return _told("completed", outcome, fields, is_error=False)
        case Interrupted():
            return _told("interrupted", outcome, _what_it_waits_for(outcome), is_error=False)
        case Failed():
            return _told("failed", outcome, {"node": outcome.path}, is_error=True)
        case Cancelled():
            return _told("cancelled", outcome, {"stopped_at": outcome.stopped_at, "reason": outcome.reason}, is_error=True)


def _what_it_waits_for(outcome: Interrupted[Any]) -> dict[str, Any]:
    questions = [question.asked for question in outcome.questions]
    waiting_for = "human" if outcome.wait is None else outcome.wait.kind
    told: dict[str, Any] = {"waiting_at": outcome.waiting_at, "waiting_for": waiting_for}
    return {**told, "questions": questions} if questions else told


def _told(status: str, outcome: Outcome[Any], fields: Mapping[str, Any], *, is_error: bool) -> Reply:
    told = msgspec.json.encode({"status": status, "thread_id": outcome.thread_id, **fields})
    return Reply(told.decode(), is_error=is_error, structured=msgspec.json.decode(told))
