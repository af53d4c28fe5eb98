"""Makes the recorded calls of a scenario on our engine, and says in the record's own words what came of them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from strata import (
    Cancelled,
    CompiledGraph,
    Completed,
    Failed,
    HopLimitExceeded,
    Interrupted,
    NodeEnded,
    NodeStarted,
    NoMatchingEdge,
    Outcome,
    Refused,
    Runner,
    StreamEvent,
    ThreadNotFound,
    Token,
)
from strata.ports import CheckpointStore
from strata.runtime.options import RunOptions
from strata.stores.memory import MemoryStore
from strata.wire.checkpoint import decode_checkpoint, encode_checkpoint
from tests.graphs.stopped_orders import Death, Stop
from tests.wire.calls import WRITTEN_TIME, Call, calls_of, plain_text, text_of

Records = list[dict[str, Any]]
Result = Mapping[str, Any]

ADDRESSED = re.compile(r"a signal for level \[(.*)\] too")


class Differs(msgspec.Struct, frozen=True, kw_only=True):
    """A call that we answer differently; `row` is where that was decided.

    `ask` changes how the call is made, `result` what it answers, `records` what it writes, each from the recorded one.
    """

    row: str
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
    differs: Mapping[int, Differs | Left] = {}
    tells_recovery: bool = False
    """The nodes write down whether they are recovered: a recovery does not give the recorded records."""

    def graph_of(self, call: Call) -> CompiledGraph[Any]:
        return self.graphs.get(call.number, self.graph)


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a call came to: its result in the record's words, and the records that it wrote, as stored."""

    result: Result
    records: tuple[bytes, ...]


async def stocked(records: Iterable[bytes]) -> MemoryStore:
    """A store that holds these records, as if their engine had left them there."""
    store = MemoryStore()
    for record in records:
        await store.save(decode_checkpoint(record))
    return store


async def play(name: str, scenario: Scenario, *, start: int = 0) -> None:
    """Make the calls from number `start` on, and hold each answer against the record.

    The store begins with what the calls before wrote. It is put back to the record after a call that we answer
    differently, so that the next one meets what the record's engine met.
    """
    calls = calls_of(name)
    store = await stocked(written_before(calls, start))
    for call in calls[start:]:
        difference = scenario.differs.get(call.number, Differs(row=""))
        if isinstance(difference, Differs):
            answer = await make(scenario, call, store, ask=difference.ask)
            expect(answer, call, difference)
        if isinstance(difference, Left) or difference.row:
            store = await stocked(written_before(calls, call.number + 1))


def expect(answer: Answer, call: Call, difference: Differs) -> None:
    recorded = [json.loads(record) for record in call.records]
    written = [text_of(json.loads(record)) for record in answer.records]
    assert written == [text_of(record) for record in difference.records(recorded)], f"records of call {call.number} ({call.do})"
    assert said(answer.result) == said(difference.result(call.result)), f"answer to call {call.number} ({call.do})"


def said(result: Result) -> str:
    return WRITTEN_TIME.sub("T", plain_text(result))


def written_before(calls: Sequence[Call], number: int) -> list[bytes]:
    return [record for call in calls[:number] for record in call.records]


async def log_of(store: CheckpointStore, thread_id: str) -> list[bytes]:
    page = await store.get_log(thread_id, limit=1000)
    return [encode_checkpoint(logged.checkpoint) for logged in page.records if not isinstance(logged.checkpoint, Refused)]


async def make(scenario: Scenario, call: Call, store: CheckpointStore, *, ask: Mapping[str, Any] | None = None) -> Answer:
    """Make one call on a runner of its own."""
    before = len(await log_of(store, call.thread_id))
    graph = scenario.graph_of(call)
    runner = Runner(graph, store, services=scenario.services.get(call.number, ()))
    given = {**call.given, **(ask or {})}
    try:
        result = await _make(runner, graph, call, given)
    except Refused as refusal:
        kind = "node_not_found" if isinstance(refusal, ThreadNotFound) else "execution_aborted"
        result = {"outcome": "failed", "error": kind, "text": str(refusal)}
    return Answer(result=result, records=tuple((await log_of(store, call.thread_id))[before:]))


async def _make(runner: Runner[Any], graph: CompiledGraph[Any], call: Call, given: Mapping[str, Any]) -> Result:
    thread_id, config = call.thread_id, given.get("config", {})
    options = _options(config, runner, thread_id)
    match given["do"]:
        case "run":
            return result_of(await runner.run(thread_id, _state(graph, call), start_over=given.get("start_over", False), **options), graph)
        case "resume":
            return result_of(await runner.resume(thread_id, _answer(graph, given["signal"]), **options), graph)
        case "recover":
            return result_of(await runner.recover(thread_id, **options), graph)
        case "end":
            return result_of(await runner.end(thread_id, by=given["ended_by"], metadata=config.get("metadata")), graph)
        case "run_streaming":
            return await _streamed(runner, graph, thread_id, _state(graph, call))
        case "run, then the process dies in node pay":
            death = Death()
            return await _dies(death, runner.run(thread_id, _state(graph, call), services=[death]))
        case "recover, then the process dies in node pay":
            death = Death()
            return await _dies(death, runner.recover(thread_id, services=[death]))
        case other:
            raise NotImplementedError(f"'{other}' is not a call that we make: leave it out, with a reason")


def _options(config: Mapping[str, Any], runner: Runner[Any], thread_id: str) -> RunOptions:
    options = RunOptions()
    if "metadata" in config:
        options["metadata"] = config["metadata"]
    if "run_id" in config:
        options["run_id"] = config["run_id"]
    if "max_node_hops" in config:
        options["max_node_hops"] = config["max_node_hops"]
    if "deadline" in config:
        options["deadline"] = {"80 ms from the start": 0.080, "already passed": -1.0}[config["deadline"]]
    if config.get("cancellation") == "fired by node pay":
        options["services"] = [Stop(lambda: runner.cancel(thread_id))]
    return options


def _state(graph: CompiledGraph[Any], call: Call) -> Any:
    """The state that the run was given; where the call does not say, the one of its first record."""
    given = call.given.get("state") or json.loads(call.records[0])["frozen_state"]
    return msgspec.convert(given, graph.state)


def _answer(graph: CompiledGraph[Any], signal: str | Mapping[str, Any]) -> Any:
    if isinstance(signal, str):
        addressed = ADDRESSED.fullmatch(signal)
        assert addressed is not None, signal
        path = addressed[1].split("/") if addressed[1] else []
        return graph.approve().at(*path, signal=graph.amend())
    verdict = graph.approve if signal["is_approved"] else graph.reject
    answer: Any = verdict(signal["reviewer"])
    names = dict(zip(graph.state.__struct_encode_fields__, graph.state.__struct_fields__, strict=True))
    overrides = {**signal["overrides"], **signal["field_overrides"]}
    return answer.override(**{names.get(name, name): value for name, value in overrides.items()})


async def _dies(death: Death, call: Any) -> Result:
    """An abandoned durable run writes nothing, and leaves what a dead process leaves."""
    run = asyncio.ensure_future(call)
    await death.is_near.wait()
    run.cancel()
    await asyncio.wait({run})
    return {}


async def _streamed(runner: Runner[Any], graph: CompiledGraph[Any], thread_id: str, state: Any) -> Result:
    async with runner.stream(thread_id, state) as events:
        chunks = [chunk async for event in events if (chunk := _chunk(event)) is not None]
    return {"chunks": chunks, **result_of(events.outcome, graph)}


def _chunk(event: StreamEvent) -> Result | None:
    match event:
        case NodeStarted(path=path, node=node):
            return {"type": "NodeStart", "node": path, "content": node}
        case NodeEnded(path=path, node=node):
            return {"type": "NodeEnd", "node": path, "content": node}
        case Token(path=path, text=text):
            return {"type": "Token", "node": path, "content": text}
        case _:
            return None


def result_of(outcome: Outcome[Any], graph: CompiledGraph[Any]) -> Result:
    """An outcome as `calls.jsonl` has it."""
    state = json.loads(graph.codec.encode(outcome.state))
    match outcome:
        case Completed():
            return {"outcome": "completed", "state": state}
        case Interrupted(suspended_node=node, next_node=next_node, waiting_at=path, wait=None):
            return {
                "outcome": "interrupted",
                "thread_id": outcome.thread_id,
                "suspended_node": node,
                "next_node": next_node or "",
                "waiting_at": list(path),
                "wait": None,
                "state": state,
            }
        case HopLimitExceeded(node=node, hops=hops, limit=limit):
            return {"outcome": "failed", "error": "hop_limit_exceeded", "node": node, "hops": hops, "limit": limit}
        case Failed(node=node, error=NoMatchingEdge()):
            return {"outcome": "failed", "error": "no_matching_edge", "node": node}
        case Failed(node=node, attempts=attempts, message=message):
            return {"outcome": "failed", "error": "node_failed", "node": node, "attempts": attempts, "message": message}
        case Cancelled(node=node, reason=reason, stopped_at=path):
            return {
                "outcome": "cancelled",
                "thread_id": outcome.thread_id,
                "node": node,
                "reason": reason,
                "stopped_at": list(path),
                "state": state,
            }
        case Interrupted():
            raise NotImplementedError("a wait with a time limit")
