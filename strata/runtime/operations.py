"""The calls that run something, each a few steps: check, load, admit, write the first record, walk, conclude."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Mapping
from datetime import datetime
from functools import cached_property
from typing import Any, TypeVar

import msgspec

from strata.checkpoint import given
from strata.checkpoint.metadata import merge, recoveries_of
from strata.checkpoint.record import Checkpoint
from strata.checkpoint.transitions import EndReason, ended, reopened, stamped
from strata.engine.decide.admission import Due, Entry, admit_recover, admit_resume, admit_run, check_answer
from strata.engine.decide.beginning import Beginning, beginning
from strata.engine.decide.ending import Endable, admit_end, admit_reopen
from strata.engine.decide.preflight import TimesOut
from strata.engine.decide.takeover import owns
from strata.engine.level import Level
from strata.engine.outcomes import Cancelled, CancelReason, Outcome
from strata.engine.recorder import Recorder, Superseded
from strata.engine.records import running_record
from strata.engine.run import Run
from strata.engine.stream import Channel, Overflow, StreamEvent
from strata.errors import LeaseLost, OptionRefused, StateRefused, ThreadChanged, ThreadNotFound
from strata.graph.answers import Event, Resume, Signal
from strata.graph.times import wire_datetime, wire_time
from strata.ports import Stored
from strata.ports.events import Recovered
from strata.runtime.driving import First, claim_of, drive, goes_on_at, resumed_event
from strata.runtime.equipment import Equipment
from strata.runtime.frame import Frame, framed
from strata.runtime.options import CheckedOptions, RunOptions, check_id, check_options, check_stream
from strata.runtime.stream import RunStream
from strata.runtime.sweeps import moment_of
from strata.runtime.thread import Record, Thread
from strata.stores.base import StoreBase

R = TypeVar("R")

ROUNDS = 3  # how often an end decides anew when the thread changes under it (strata-waits.md 6)


class Operations:
    """The calls of one runner, over what it lends to each of them.

    It stands behind the runner's door so that importing the door does not load the engine.
    """

    def __init__(self, lent: Equipment) -> None:
        self.lent = lent

    @cached_property
    def in_place(self) -> Operations:
        """The same for programs without a loop."""
        return Operations(self.lent.in_place())

    async def start(
        self,
        thread_id: str,
        state: Any,
        chosen: RunOptions,
        *,
        start_over: bool,
        channel: Channel | None,
    ) -> Outcome[Any]:
        """Run a thread from the entry node."""
        options = self._check(chosen, thread_id)
        given.yes_or_no(start_over, "start_over=")
        stored = _storable(self.lent, state)
        async with framed(self.lent, "run", thread_id, options) as frame:
            latest = await frame.load()
            frame.started("run", self.lent.plan.entry.name, options.metadata)
            run = frame.run(options.metadata, admit_run(latest, thread_id, start_over=start_over), channel)
            level = frame.level(run, at=self.lent.plan.entry, state=state)
            level.stored = stored

            async def begin() -> First:
                return First(
                    record=running_record(level, run.stamp(), after=None, behind=None) if self.lent.durable else None,
                    changed=f"thread '{thread_id}' changed before it could be started: another run got there first",
                )

            return await drive(frame, run, level, begin)

    async def resume(
        self,
        thread_id: str,
        answer: Signal[Any] | Resume | Event | Due | None,
        chosen: RunOptions,
        *,
        at_sequence: int | None,
        channel: Channel | None,
        tenant: str | None = None,
        swept: bool = False,
    ) -> Outcome[Any]:
        """Go on with a waiting, failed or cancelled thread; a timeout without a route ends it.

        `swept`: a sweep does it, and so a timeout's end is told as an end.
        """
        options = self._check(chosen, thread_id)
        if at_sequence is not None:
            given.whole_number(at_sequence, "at_sequence=")
        if answer is not None:
            check_answer(answer, thread_id)
        async with framed(self.lent, "resume", thread_id, options, tenant=tenant, swept=swept) as frame:
            stored = await frame.load()
            metadata = _merged(stored, options)
            now = wire_time(self.lent.clock.time())
            if not swept:
                self._told(frame, stored, answer, metadata)
            try:
                entry = admit_resume(stored, thread_id, self.lent.plan, answer, at_sequence=at_sequence, now=now)
            except TimesOut:
                entry = None
            if swept:
                await frame.tell()
                self._told(frame, stored, answer, metadata)
            if entry is None:
                return await self._time_out(frame, stored)
            run, level = _entered(frame, entry, metadata, channel)

            async def begin() -> First:
                await _load_kept(frame, entry, level)
                kept = level.kept.metadata()
                return First(
                    record=claim_of(entry.level, metadata, now, kept=kept) if self.lent.durable else stamped(entry.checkpoint, now=now),
                    changed=f"checkpoint for thread '{thread_id}' changed before it could be resumed: another resume or end got there first",
                    event=resumed_event(entry, answer),
                )

            return await drive(frame, run, level, begin)

    async def signal(self, thread_id: str, event: Event, chosen: RunOptions, *, at_sequence: int | None) -> Outcome[Any]:
        """Tell a thread what has happened: a resume that is never without an answer."""
        check_answer(event, thread_id)
        return await self.resume(thread_id, event, chosen, at_sequence=at_sequence, channel=None)

    async def wake(
        self,
        thread_id: str,
        now: datetime | None,
        chosen: RunOptions,
        *,
        channel: Channel | None,
        tenant: str | None = None,
        swept: bool = False,
    ) -> Outcome[Any]:
        """Go on with a thread whose time has come."""
        due = Due(wire_datetime(moment_of(now, self.lent.clock.time())))
        return await self.resume(thread_id, due, chosen, at_sequence=None, channel=channel, tenant=tenant, swept=swept)

    async def recover(
        self,
        thread_id: str,
        chosen: RunOptions,
        *,
        channel: Channel | None,
        tenant: str | None = None,
        look: Callable[[Stored | None], None] | None = None,
    ) -> Outcome[Any]:
        """Go on with a running thread whose process died; a sweep's `look` sees what was loaded, and may raise what refuses it."""
        options = self._check(chosen, thread_id)
        async with framed(self.lent, "recover", thread_id, options, tenant=tenant, swept=look is not None) as frame:
            stored = await frame.load()
            metadata = _merged(stored, options)
            node = "" if stored is None else stored.checkpoint.next_node or ""
            if look is None:
                frame.started("recover", node, metadata)
            else:
                look(stored)
            now = wire_time(self.lent.clock.time())
            entry = admit_recover(stored, thread_id, self.lent.plan, durable=self.lent.durable, now=now)
            await frame.refuse_leased()
            if look is not None:
                await frame.tell()
                frame.started("recover", node, metadata)
            run, level = _entered(frame, entry, metadata, channel)
            level.recover(recoveries=recoveries_of(entry.checkpoint) + 1)

            async def begin() -> First:
                await _load_kept(frame, entry, level)
                return First(
                    record=claim_of(entry.level, metadata, now, kept=level.kept.metadata(), recoveries=level.recoveries),
                    changed=f"thread '{thread_id}' changed before it could be recovered: its run went on, or another recovery got there first",
                    event=Recovered(at=goes_on_at(entry.level), recoveries=level.recoveries),
                )

            return await drive(frame, run, level, begin)

    async def end(self, thread_id: str, chosen: RunOptions, *, by: str | None, force: bool) -> Cancelled[Any]:
        """End a thread for good. If it changes meanwhile, decide anew."""
        options = self._check(chosen, thread_id)
        if by is not None:
            check_id(by, "the name of who ends a thread")
        given.yes_or_no(force, "force=")
        async with framed(self.lent, "end", thread_id, options) as frame:
            is_first = True
            for _ in range(ROUNDS):
                stored = await frame.load()
                if is_first and stored is not None:
                    frame.started("end", stored.checkpoint.suspended_node or "", merge(stored.checkpoint.metadata, options.metadata))
                is_first = False
                found = admit_end(stored, thread_id, self.lent.plan, force=force)
                if found.already:
                    return self._ended(frame, found, found.checkpoint)
                if found.checkpoint.status == "running":
                    await frame.refuse_leased()
                try:
                    return await self._end(frame, found, reason="requested", by=by)
                except ThreadChanged:
                    continue
        raise ThreadChanged(f"thread '{thread_id}' kept changing while it was being ended", thread_id=thread_id)

    async def reopen(self, thread_id: str, *, by: str | None) -> Thread[Any]:
        """Give a thread that is stuck behind a stamp its record again, so that it can be resumed once more."""
        check_id(thread_id, "a thread id")
        if by is not None:
            check_id(by, "the name of who reopens a thread")
        checkpoint, sequence = admit_reopen(await self.lent.store.load_latest(thread_id), thread_id, self.lent.plan)
        record = reopened(checkpoint, by=by, now=wire_time(self.lent.clock.time()))
        return Thread[Any].of(Stored(record, await self.lent.store.save_if_latest(record, sequence)), self.lent.plan.codec)

    async def thread(self, thread_id: str) -> Thread[Any]:
        """Where the thread stands."""
        check_id(thread_id, "a thread id")
        stored = await self.lent.store.load_latest(thread_id)
        if stored is None:
            raise ThreadNotFound(thread_id)
        return Thread[Any].of(stored, self.lent.plan.codec)

    async def log(self, thread_id: str, *, after: int | None) -> AsyncIterator[Record[Any]]:
        """The thread's records behind `after`, a page at a time."""
        check_id(thread_id, "a thread id")
        if after is not None:
            given.whole_number(after, "the after= of a log")
        while True:
            page = await self.lent.store.get_log(thread_id, after=after)
            for logged in page.records:
                yield Record[Any].of(logged, self.lent.plan.codec)
            if page.next_after is None:
                return
            after = page.next_after

    def owns(self, record: Record[Any] | Thread[Any]) -> bool:
        given.instance(record, (Record, Thread), "owns() is asked of a record of a log, or of a thread")
        return owns(record.checkpoint, self.lent.plan.graph)

    def cancel(self, thread_id: str) -> bool:
        """Tell the thread's run of this runner to stop; whether there was one."""
        check_id(thread_id, "a thread id")
        return self.lent.active.stop(thread_id)

    def stream(
        self,
        start: Callable[[Channel], Awaitable[Outcome[Any]]],
        *,
        select: Collection[type[StreamEvent]] | None,
        overflow: Overflow,
    ) -> RunStream[Any]:
        """A run with a reader; it starts when the reader enters."""
        check_stream(select, overflow)
        return RunStream(start, Channel(overflow=overflow, select=select))

    def wait(self, call: Coroutine[Any, Any, R]) -> R:
        """Run a call to its end on the loop of the store's `with` block, or on one of its own."""
        if isinstance(self.lent.store, StoreBase) and self.lent.store.has_loop:
            return self.lent.store.run_in_loop(call)
        return asyncio.run(call)

    def check(self, options: RunOptions) -> CheckedOptions:
        """Raises OptionRefused for the first option that cannot be used, TypeError for one that there is not."""
        return check_options(options, services=self.lent.services, observers=self.lent.observers, lease=self.lent.lease, clock=self.lent.clock)

    def _check(self, options: RunOptions, thread_id: str) -> CheckedOptions:
        checked = self.check(options)
        check_id(thread_id, "a thread id")
        return checked

    def _told(self, frame: Frame, stored: Stored | None, answer: Signal[Any] | Resume | Event | Due | None, metadata: Mapping[str, str]) -> None:
        """Tell of a resume's start, whether or not it is then refused; a sweep ends what times out with nowhere to go."""
        if frame.watch is None:
            return
        begins = Beginning("") if stored is None else beginning(stored.checkpoint, self.lent.plan, answer)
        frame.started("end" if begins.ends and frame.swept else "resume", begins.node, metadata)

    async def _time_out(self, frame: Frame, stored: Stored | None) -> Cancelled[Any]:
        """End a thread whose wait timed out and has nowhere to go (strata-waits.md 5.6)."""
        found = admit_end(stored, frame.thread_id, self.lent.plan, force=False)
        try:
            return await self._end(frame, found, reason="timed_out", by=None)
        except ThreadChanged as error:
            text = f"thread '{frame.thread_id}' changed before its timeout could end it: another driver got there first"
            raise ThreadChanged(text, thread_id=frame.thread_id) from error

    async def _end(self, frame: Frame, found: Endable, *, reason: EndReason, by: str | None) -> Cancelled[Any]:
        metadata = merge(found.checkpoint.metadata, frame.options.metadata)
        record = ended(found.checkpoint, metadata=metadata, reason=reason, by=by, now=wire_time(self.lent.clock.time()))
        recorder = Recorder(frame.save, sequence=found.sequence, watch=frame.watch)
        try:
            async with frame.leased():
                recorder.save = frame.save
                await recorder.append(record)
        except Superseded as error:
            raise ThreadChanged(f"thread '{frame.thread_id}' changed before it could be ended", thread_id=frame.thread_id) from error
        except LeaseLost:
            return self._ended(frame, found, found.checkpoint, reason="lease_lost")
        if reason == "timed_out" and frame.watch is not None:
            frame.watch.timed_out()
        return self._ended(frame, found, record)

    def _ended(self, frame: Frame, found: Endable, record: Checkpoint, *, reason: CancelReason = "ended") -> Cancelled[Any]:
        outcome: Cancelled[Any] = Cancelled(
            found.state,
            thread_id=frame.thread_id,
            run_id=frame.options.run_id,
            node=record.suspended_node or "",
            reason=reason,
            stopped_at=record.waiting_at,
        )
        frame.completed(outcome)
        return outcome


def _merged(stored: Stored | None, options: CheckedOptions) -> dict[str, str]:
    """The run's metadata: what is stored, and the call's laid over it."""
    return merge(None if stored is None else stored.checkpoint.metadata, options.metadata)


def _entered(frame: Frame, entry: Entry, metadata: Mapping[str, str], channel: Channel | None) -> tuple[Run, Level]:
    """The run, and its outermost level where the stored one stands."""
    run = frame.run(metadata, entry.sequence, channel)
    level = frame.level(run, at=entry.level.start, state=entry.level.state)
    level.go_on(entry.level)
    return run, level


async def _load_kept(frame: Frame, entry: Entry, level: Level) -> None:
    """Give the level what its node has kept."""
    told, results = await frame.kept_before(entry)
    level.kept.load(await frame.progress(entry), told=told, results=results, behind=entry.sequence)


def _storable(lent: Equipment, state: Any) -> msgspec.Raw | None:
    """The first state's bytes, where the run is durable.

    Raises:
        OptionRefused: it is no state of this graph, or cannot be stored.
    """
    codec, entry = lent.plan.codec, lent.plan.entry.name
    try:
        if lent.durable:
            return msgspec.Raw(codec.storable(None, state, entry))
        codec.check_result(None, state, entry)
    except StateRefused as error:
        raise OptionRefused(f"the state to start from cannot be used: {error.path}: expected {error.expected}, found {error.found}") from error
    return None
