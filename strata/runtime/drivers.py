"""The two sweeps over a store: what is due is woken, what died is recovered (strata-waits.md 5.7 and 9.3)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, cast

from strata.checkpoint import given
from strata.checkpoint.metadata import recoveries_of
from strata.checkpoint.record import Checkpoint
from strata.engine.decide.admission import require_durable
from strata.errors import OptionRefused, Refused, StoreError
from strata.ports import Stored, ThreadSummary
from strata.runtime.equipment import Equipment
from strata.runtime.operations import Operations
from strata.runtime.options import RunOptions, SweepOptions
from strata.runtime.sweeps import (
    Recovered,
    RecoveryReport,
    Skipped,
    Sweep,
    WakeReport,
    Woken,
    find,
    moment_of,
    refuse_living,
    skipped_because,
    stale_before,
    sweep_over,
)


async def wake_due(operations: Operations, sweep: Sweep, now: datetime | None, options: SweepOptions) -> WakeReport[Any]:
    """Wake what is due at `now`."""
    chosen = _checked(operations, sweep, options)
    moment = moment_of(now, operations.lent.clock.time())
    found, unreadable = await find(operations.lent.store, operations.lent.plan.graph, sweep, state="interrupted", due_by=moment)

    async def wake(thread: ThreadSummary) -> Woken[Any] | Skipped:
        try:
            outcome = await operations.wake(thread.thread_id, moment, chosen, channel=None, tenant=_tenant(operations.lent, thread), swept=True)
        except (Refused, StoreError) as error:
            return skipped_because(thread.thread_id, error, changed="another driver woke or ended it first", over="it is no longer due")
        by_timer = thread.wait is not None and thread.wait.kind == "timer"
        return Woken(thread_id=thread.thread_id, by="timer" if by_timer else "timeout", outcome=outcome)

    woken, skipped = await sweep_over(found, sweep, wake)
    return WakeReport(woken=tuple(woken), skipped=(*unreadable, *skipped))


async def recover_stale(
    operations: Operations,
    sweep: Sweep,
    now: datetime | None,
    options: SweepOptions,
    *,
    stale_after: timedelta | float | None,
    max_recoveries: int | None,
) -> RecoveryReport[Any]:
    """Recover what died before `now` less `stale_after`."""
    chosen = _checked(operations, sweep, options)
    if max_recoveries is not None and given.whole_number(max_recoveries, "max_recoveries=") < 1:
        raise OptionRefused("max_recoveries must be at least 1")
    require_durable(operations.lent.plan, durable=operations.lent.durable)
    moment = moment_of(now, operations.lent.clock.time())
    before = stale_before(moment, stale_after, has_lease=operations.lent.lease is not None)
    found, unreadable = await find(operations.lent.store, operations.lent.plan.graph, sweep, state="running", updated_before=before)

    async def recover(thread: ThreadSummary) -> Recovered[Any] | Skipped:
        loaded: list[Checkpoint] = []

        def look(stored: Stored | None) -> None:
            if stored is not None and stored.checkpoint.status == "running":
                refuse_living(stored.checkpoint, before=before, max_recoveries=max_recoveries)
                loaded.append(stored.checkpoint)

        try:
            outcome = await operations.recover(thread.thread_id, chosen, channel=None, tenant=_tenant(operations.lent, thread), look=look)
        except (Refused, StoreError) as error:
            return skipped_because(thread.thread_id, error, changed="another run or recovery got there first", over="it is no longer running")
        [was] = loaded
        at = tuple(level.next_node or "" for level in was.levels())
        return Recovered(thread_id=thread.thread_id, at=at, recoveries=recoveries_of(was) + 1, outcome=outcome)

    recovered, skipped = await sweep_over(found, sweep, recover)
    return RecoveryReport(recovered=tuple(recovered), skipped=(*unreadable, *skipped))


def _checked(operations: Operations, sweep: Sweep, options: SweepOptions) -> RunOptions:
    """The options of each run, found sound; every thread would be skipped for an unsound one."""
    sweep.check()
    chosen = cast("RunOptions", {**options, "metadata": sweep.metadata})
    if "services" in chosen:  # each run goes through them, and an iterator would be at its end after the first
        chosen["services"] = tuple(given.several(chosen["services"], "services= of a sweep"))
    if "observers" in chosen:
        chosen["observers"] = tuple(given.several(chosen["observers"], "observers= of a sweep"))
    operations.check(chosen)
    return chosen


def _tenant(lent: Equipment, thread: ThreadSummary) -> str | None:
    """The listed thread's own tenant, for the scheduler."""
    return None if lent.scheduler is None else thread.metadata.get(lent.scheduler.tenant_key)
