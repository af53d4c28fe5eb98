"""Makes one recorded call on a runner of its own."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from strata import CompiledGraph, Event, Lease, Outcome, Runner, Signal, Skipped
from strata.graph.clock import SystemClock
from strata.graph.times import wire_time
from strata.ports import CheckpointStore
from strata.ports.instrument import Instrument
from strata.runtime.observers import Observer
from strata.runtime.options import RunOptions
from tests.graphs.stopped_orders import Death, Stop
from tests.wire.admissions import scheduler_of
from tests.wire.calls import Call
from tests.wire.results import chunk_of, result_of
from tests.wire.scenario import Result, Scenario

ADDRESSED = re.compile(r"a signal for level \[(.*)\] too")
STALE: Mapping[str, Mapping[str, Any]] = {
    "no lease and no stale_after": {},
    "stale_after 60 s": {"stale_after": 60},
    "stale_after 1 s, max_recoveries 2, two minutes later": {"stale_after": 1, "max_recoveries": 2, "later": timedelta(minutes=2)},
    "stale_after 60 s, two minutes later": {"stale_after": 60, "later": timedelta(minutes=2)},
}
DUE = re.compile(r"due(?: at now \+ (\d+) s)?")


class RecordedClock(SystemClock):
    """Stands half a second behind the recorded one, which is cut to whole seconds; what is measured goes on as it does."""

    def __init__(self, moment: datetime) -> None:
        self.time = lambda: moment.timestamp() + 0.5


class Maker:
    """One call: on which runner, and how the words of the record become ours."""

    def __init__(
        self,
        scenario: Scenario,
        call: Call,
        store: CheckpointStore,
        later: timedelta = timedelta(),
        *,
        observers: Sequence[Observer] = (),
        instrument: Instrument | None = None,
    ) -> None:
        config = call.given.get("config", {})
        self._observers, self._instrument = observers, instrument
        self._call = call
        self._store = store
        self._later = later
        self._moment = call.moment + later
        self._levels = scenario.levels_of(call)
        self._graph = self._levels[0]
        self._runner = Runner(
            self._graph,
            store,
            services=[*scenario.services.get(call.number, ()), *scenario.services_on(store)],
            observers=observers,
            instrument=instrument,
            lease=Lease(config["lease"]["owner"], config["lease"]["ttl_s"]) if "lease" in config else None,
            clock=RecordedClock(self._moment),
        )

    async def make(self, given: Mapping[str, Any]) -> Result:
        runner, thread_id = self._runner, self._call.thread_id
        config = given.get("config", {})
        options = self._options(config)
        match given["do"]:
            case "run" if "scheduler" in config:
                return await self._admitted(config["scheduler"], options)
            case "run":
                return self._said(await runner.run(thread_id, self._state(), start_over=given.get("start_over", False), **options))
            case "resume" if isinstance(given["signal"], str) and (due := DUE.fullmatch(given["signal"])):
                return self._said(await runner.wake(thread_id, now=self._moment + timedelta(seconds=int(due[1] or 0))))
            case "resume":
                return self._said(await runner.resume(thread_id, self._answer(given["signal"]), **options))
            case "signal":
                return self._said(await runner.signal(thread_id, self._event(given), **options))
            case "recover":
                return self._said(await runner.recover(thread_id, **options))
            case "end":
                return self._said(await runner.end(thread_id, by=given["ended_by"], metadata=config.get("metadata")))
            case _:
                return await self._make_other(given)

    async def _make_other(self, given: Mapping[str, Any]) -> Result:
        runner, thread_id = self._runner, self._call.thread_id
        match given["do"]:
            case "wake_due":
                return await self._wake_due(datetime.fromisoformat(given["now"]) + self._later)
            case "recover_stale":
                return await self._recover_stale(**STALE[given["options"]])
            case "run_streaming":
                return await self._streamed()
            case "run, then the process dies in node pay" | "run, then the process dies in write/review":
                return await _dies(lambda death: runner.run(thread_id, self._state(), services=[death]))
            case "recover, then the process dies in node pay":
                return await _dies(lambda death: runner.recover(thread_id, services=[death]))
            case "try_acquire_lease":
                return await self._acquired(given["owner"], given["ttl_s"])
            case other:
                raise NotImplementedError(f"'{other}' is not a call that we make: leave it out, with a reason")

    def _options(self, config: Mapping[str, Any]) -> RunOptions:
        options = RunOptions()
        if "metadata" in config:
            options["metadata"] = config["metadata"]
        if "run_id" in config:
            options["run_id"] = config["run_id"]
        if "max_node_hops" in config:
            options["max_node_hops"] = config["max_node_hops"]
        if "priority" in config:
            options["priority"] = config["priority"]
        if "deadline" in config:
            options["deadline"] = {"80 ms from the start": 0.080, "already passed": -1.0}[config["deadline"]]
        if config.get("cancellation") in {"fired by node pay", "fired by the child's node review"}:
            options["services"] = [Stop(lambda: self._runner.cancel(self._call.thread_id))]
        return options

    def _state(self) -> Any:
        """The state that the run was given; where the call does not say, the one of its first record, else the scenario's usual one."""
        given = self._call.given.get("state")
        if given is None:
            given = json.loads(self._call.records[0])["frozen_state"] if self._call.records else {"title": "rivers"}
        return msgspec.convert(given, self._graph.state)

    def _answer(self, signal: str | Mapping[str, Any]) -> Signal[Any]:
        innermost = self._levels[-1]
        if isinstance(signal, str):
            addressed = ADDRESSED.fullmatch(signal)
            assert addressed is not None, signal
            path = addressed[1].split("/") if addressed[1] else []
            return innermost.approve().at(*path, signal=innermost.amend())
        if "innermost" not in signal:
            return _answer(innermost, signal)
        answer = _answer(innermost, signal["innermost"])
        for outer in signal["at"]:
            graph = self._levels[len(outer["path"])]
            answer = answer.at(*outer["path"], signal=_overridden(graph.amend(), graph, outer["overrides"]))
        return answer

    def _event(self, given: Mapping[str, Any]) -> Event:
        return Event(given["event_type"], overrides=_python_names(self._levels[-1], given["overrides"]))

    async def _wake_due(self, now: datetime) -> Result:
        report = await self._runner.wake_due(now=now)
        woken = [{"thread_id": one.thread_id, "reason": one.by, "result": self._said(one.outcome)} for one in report.woken]
        return {"woken": woken, "skipped": _skipped(report.skipped)}

    async def _recover_stale(self, *, later: timedelta = timedelta(), **options: Any) -> Result:
        report = await self._runner.recover_stale(now=self._moment + later, **options)
        recovered = [
            {"thread_id": one.thread_id, "at": list(one.at), "recoveries": one.recoveries, "result": self._said(one.outcome)}
            for one in report.recovered
        ]
        return {"recovered": recovered, "skipped": _skipped(report.skipped)}

    async def _admitted(self, words: str, options: RunOptions) -> Result:
        async with scheduler_of(words) as scheduler:
            runner = Runner(self._graph, self._store, observers=self._observers, instrument=self._instrument, scheduler=scheduler)
            return self._said(await runner.run(self._call.thread_id, self._state(), **options))

    async def _acquired(self, owner: str, ttl: float) -> Result:
        acquisition = await self._store.try_acquire_lease("order-1", owner, ttl)
        return {"owner": acquisition.lease.owner, "expires_at": wire_time(acquisition.lease.expires_at / 1000)}

    async def _streamed(self) -> Result:
        async with self._runner.stream(self._call.thread_id, self._state()) as events:
            chunks = [chunk async for event in events if (chunk := chunk_of(event)) is not None]
        return {"chunks": chunks, **self._said(events.outcome)}

    def _said(self, outcome: Outcome[Any]) -> Result:
        return result_of(outcome, self._graph)


def _answer(graph: CompiledGraph[Any], signal: Mapping[str, Any]) -> Signal[Any]:
    verdict = graph.approve if signal["is_approved"] else graph.reject
    return _overridden(verdict(signal["reviewer"]), graph, {**signal["overrides"], **signal.get("field_overrides", {})})


def _overridden(answer: Any, graph: CompiledGraph[Any], overrides: Mapping[str, Any]) -> Signal[Any]:
    changed: Signal[Any] = answer.override(**_python_names(graph, overrides))
    return changed


def _python_names(graph: CompiledGraph[Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    names = dict(zip(graph.state.__struct_encode_fields__, graph.state.__struct_fields__, strict=True))
    return {names.get(name, name): value for name, value in overrides.items()}


def _skipped(threads: Iterable[Skipped]) -> list[Result]:
    return [{"thread_id": thread.thread_id, "reason": thread.reason} for thread in threads]


async def _dies(call: Callable[[Death], Any]) -> Result:
    """An abandoned durable run writes nothing, and leaves what a dead process leaves."""
    death = Death()
    run = asyncio.ensure_future(call(death))
    await death.is_near.wait()
    run.cancel()
    await asyncio.wait({run})
    return {}
