"""What surrounds a call on a thread: its slot in the scheduler, its watch, its lease, its deadline."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from types import MappingProxyType
from typing import Any

from strata.checkpoint.asked import AnswerRecord, Results, Told, kept_from, results_of, told_of
from strata.engine.decide.admission import Entry
from strata.engine.interrupt import Interrupt, Scope
from strata.engine.kept import once_only
from strata.engine.level import Level
from strata.engine.measures import latency
from strata.engine.outcomes import Cancelled, Completed, Failed, HopLimitExceeded, Interrupted, Outcome
from strata.engine.plan import NodePlan
from strata.engine.progress import Progress
from strata.engine.recorder import Recorder, Save
from strata.engine.run import Run
from strata.engine.stream import Channel
from strata.engine.watch import Watch
from strata.errors import CheckpointUnreadable, LeaseHeld, StoreLacksLeases
from strata.ports import Stored
from strata.ports.events import Interrupted as WasInterrupted
from strata.ports.events import LeaseAcquired, LeaseLost, RunMode, RunStarted
from strata.ports.progress import Items
from strata.runtime import lease_answers
from strata.runtime.equipment import Equipment
from strata.runtime.leases import LeaseKeeper
from strata.runtime.observers import watched
from strata.runtime.options import CheckedOptions
from strata.runtime.slot_metrics import measured


class Frame:
    """Of one call. `watch` is None where nobody watches, and before the call is told of; `queued_for` where there is no scheduler."""

    def __init__(self, lent: Equipment, mode: RunMode, thread_id: str, options: CheckedOptions, queued_for: float | None, *, swept: bool) -> None:
        self.lent = lent
        self.swept = swept
        self.mode: RunMode = mode
        self.thread_id = thread_id
        self.options = options
        self.watch: Watch | None = None
        self.queued_for = queued_for
        self.open = AsyncExitStack()
        self.save: Save = lent.store.save_if_latest

    async def load(self) -> Stored | None:
        """The thread's newest record."""
        instrument, clock = self.lent.instrument, self.lent.clock
        if instrument is None:
            return await self.lent.store.load_latest(self.thread_id)
        began = clock.monotonic()
        stored = await self.lent.store.load_latest(self.thread_id)
        took = latency("load", None if stored is None else stored.checkpoint.status, clock.monotonic() - began)
        instrument.record(took.metric, took.value, took.labels)
        return stored

    async def tell(self) -> None:
        """From here on the call is a run: it has a span, and observers hear of it."""
        lent, options = self.lent, self.options
        if not options.observers and lent.instrument is None:
            return
        self.watch = await self.open.enter_async_context(
            watched(
                self.mode,
                thread_id=self.thread_id,
                run_id=options.run_id,
                clock=lent.clock,
                observers=options.observers,
                instrument=lent.instrument,
                priority=None if lent.scheduler is None else options.priority,
            )
        )

    def run(self, metadata: Mapping[str, str], sequence: int | None, channel: Channel | None) -> Run:
        lent = self.lent
        recorder = Recorder(self.save, sequence=sequence, watch=self.watch, has_log=lent.has_log)
        return Run(
            thread_id=self.thread_id,
            run_id=self.options.run_id,
            metadata=MappingProxyType(dict(metadata)),
            services=self.options.services,
            deadline=self.options.deadline,
            durable=lent.durable,
            clock=lent.clock,
            threads=lent.threads,
            recorder=recorder,
            channel=channel,
            scope=Scope(Interrupt(lent.clock)),
            watch=self.watch,
            progress=None if lent.progress_store is None else Progress(lent.progress_store, self.thread_id, recorder),
        )

    async def progress(self, entry: Entry) -> Items:
        """What the store has kept of the node that the thread goes on with; of one that waits, its record says it all."""
        store, sequence = self.lent.progress_store, entry.sequence
        if store is None or sequence is None or entry.checkpoint.status == "interrupted":
            return {}
        items = await store.load_progress(self.thread_id, sequence)
        return items if entry.level.is_as_stored else once_only(items)

    async def kept_before(self, entry: Entry) -> tuple[Told, Results]:
        """What is kept for the thread by records before its newest, where that says that there are some.

        Raises:
            CheckpointUnreadable: one of them cannot be read.
        """
        told: dict[str, tuple[AnswerRecord, ...]] = {}
        results: dict[tuple[str, str], bytes] = {}
        first, newest = kept_from(entry.checkpoint.innermost), entry.sequence
        if first is None or newest is None:
            return told, results
        after: int | None = first - 1
        while after is not None and after < newest:
            page = await self.lent.store.get_log(self.thread_id, after=after if after >= 0 else None)
            for logged in page.records:
                if isinstance(logged.checkpoint, CheckpointUnreadable):
                    raise logged.checkpoint
                told |= told_of(logged.checkpoint.innermost, self.thread_id)
                results |= results_of(logged.checkpoint.innermost, self.thread_id)
            after = page.next_after
        return told, results

    def level(self, run: Run, *, at: NodePlan, state: Any) -> Level:
        lent, given = self.lent, self.options.max_node_hops
        limit = given if given is not None else lent.plan.hop_limit
        return Level(lent.plan, at=at, state=state, limit=limit, stores=lent.durable, scope=run.scope)

    def started(self, mode: RunMode, node: str, metadata: Mapping[str, str]) -> None:
        """The node to start at is known."""
        if self.watch is not None:
            identity = self.lent.plan.identity
            self.watch.emit(RunStarted(mode=mode, node=node, metadata=dict(metadata), graph=identity, queued_for=self.queued_for))

    def completed(self, outcome: Outcome[Any]) -> None:
        """The last event, behind the lease."""
        if self.watch is None:
            return
        match outcome:
            case Completed():
                self.watch.completed("completed")
            case Interrupted(waiting_at=waiting_at, next_node=next_node, wait=wait):
                self.watch.emit(WasInterrupted(waiting_at=waiting_at, next_node=next_node or "", wait=wait))
                self.watch.completed("interrupted")
            case HopLimitExceeded(message=text):
                self.watch.completed("failed", error=text, error_type="hop_limit")
            case Failed(message=text):
                self.watch.completed("failed", error=text)
            case Cancelled(reason=reason):
                self.watch.completed("cancelled", cancel_reason=reason)

    @contextmanager
    def stoppable(self, run: Run) -> Generator[None]:
        """While in the block, `runner.cancel` and the deadline stop the run."""
        due, clock = self.options.due, self.lent.clock
        timer = None
        if due is not None:
            left = due - clock.monotonic()
            if left > 0:
                timer = clock.call_later(left, lambda: run.stop("deadline"))
            else:
                run.stop("deadline")
        try:
            with self.lent.active.listed(self.thread_id, lambda: run.stop("requested")):
                yield
        finally:
            if timer is not None:
                timer.cancel()

    @asynccontextmanager
    async def leased(self, run: Run | None = None) -> AsyncGenerator[None]:
        """While in the block, the thread is this call's alone, and its saves go under the lease; without a lease nothing.

        Losing it stops `run`.

        Raises:
            LeaseHeld: somebody else has the thread; nothing was written.
        """
        lease = self.lent.lease
        if lease is None:
            yield
            return
        keeper: LeaseKeeper | None = None

        def lost() -> None:
            if self.watch is not None and keeper is not None:
                self.watch.emit(LeaseLost(owner=keeper.held.owner, token=keeper.held.token))
            if run is not None:
                run.stop("lease_lost")

        try:
            keeper = await LeaseKeeper.acquire(self.lent.store, self.thread_id, lease, clock=self.lent.clock, on_lost=lost)
        except LeaseHeld:
            if self.watch is not None:
                self.watch.lease_is_held()
            raise
        if self.watch is not None:
            held = keeper.held
            self.watch.emit(LeaseAcquired(owner=held.owner, token=held.token, expires_at=held.until))
        self.save = keeper.save
        try:
            yield
        finally:
            await keeper.release()

    async def refuse_leased(self) -> None:
        """A running thread that a live lease holds is somebody's: without a lease of our own it is left alone.

        Raises:
            LeaseHeld: so it is.
        """
        if self.lent.lease is not None:
            return
        try:
            held = lease_answers.holder(await self.lent.store.get_lease(self.thread_id), self.lent.store)
        except StoreLacksLeases:
            return
        if held is not None:
            raise LeaseHeld(self.thread_id, owner=held.owner, expires_at=held.expires_at)


@asynccontextmanager
async def framed(
    lent: Equipment, mode: RunMode, thread_id: str, options: CheckedOptions, *, tenant: str | None = None, swept: bool = False
) -> AsyncGenerator[Frame]:
    """Around a call, once its options are found sound: wait for a slot, then watch.

    What a sweep leaves alone was no run: such a call (`swept`) says itself from when on it is one.

    Raises:
        NotAdmitted: the scheduler has no place for it.
    """
    async with _slot(lent, mode, thread_id, options, tenant) as queued_for:
        frame = Frame(lent, mode, thread_id, options, queued_for, swept=swept)
        async with frame.open:
            if not swept:
                await frame.tell()
            yield frame


@asynccontextmanager
async def _slot(lent: Equipment, mode: RunMode, thread_id: str, options: CheckedOptions, tenant: str | None) -> AsyncGenerator[float | None]:
    scheduler = lent.scheduler
    if scheduler is None or mode == "end":
        yield None
        return
    left = None if options.due is None else options.due - lent.clock.monotonic()
    whose = options.metadata.get(scheduler.tenant_key, tenant)
    slot = scheduler.slot(priority=options.priority, tenant=whose, deadline=left, clock=lent.clock)
    with lent.active.listed(thread_id, slot.cancel):  # a slot that was given stays given
        instrument, clock = lent.instrument, lent.clock
        if instrument is None:
            async with slot as admission:
                yield admission.waited
            return
        async with measured(slot, name=scheduler.name, priority=options.priority, clock=clock, instrument=instrument) as admission:
            yield admission.waited
