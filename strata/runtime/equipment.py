"""What a runner lends to each of its calls."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any

from strata.checkpoint import given
from strata.engine.plan import GraphPlan
from strata.engine.threads import WorkerThreads
from strata.errors import OptionRefused
from strata.graph.clock import Clock
from strata.graph.compiled import CompiledGraph
from strata.ports import CheckpointStore
from strata.ports.instrument import Instrument
from strata.ports.progress import ProgressStore
from strata.runtime.active import ActiveRuns
from strata.runtime.leases import Lease
from strata.runtime.observers import Observer
from strata.runtime.options import by_type, callables
from strata.runtime.scheduler import Scheduler
from strata.stores.base import StoreBase
from strata.stores.memory import MemoryStore


class Equipment:
    """The graph's plan, which says where sync nodes run, the store, and what else the runner was given.

    Raises:
        OptionRefused: something is not what its option asks.
    """

    def __init__(
        self,
        graph: CompiledGraph[Any],
        store: CheckpointStore | None,
        *,
        services: Iterable[object],
        observers: Iterable[Observer],
        instrument: Instrument | None,
        lease: Lease | None,
        scheduler: Scheduler | None,
        clock: Clock,
        max_threads: int,
    ) -> None:
        if given.whole_number(max_threads, "max_threads") < 1:
            raise OptionRefused("max_threads must be at least 1")
        _check_kinds(instrument, lease, scheduler, clock)
        self.plan = GraphPlan(graph, in_place=False)
        self.store = MemoryStore(clock=clock) if store is None else store
        self.durable = graph.durable and store is not None
        self.has_log = type(self.store).get_log is not StoreBase.get_log
        self.progress_store = self.store if self.durable and isinstance(self.store, ProgressStore) else None
        self.clock = clock
        self.services = by_type(services)
        self.observers = callables(observers)
        self.instrument = instrument
        self.lease = lease
        self.scheduler = scheduler
        self.threads = WorkerThreads(max_threads, clock)
        self.active = ActiveRuns()

    def in_place(self) -> Equipment:
        """The same with sync nodes called in place, for programs without a loop: there is none to keep free."""
        twin = copy(self)
        twin.plan = GraphPlan(self.plan.graph, in_place=True)
        return twin


def _check_kinds(instrument: object, lease: object, scheduler: object, clock: object) -> None:
    if instrument is not None:
        given.answering(instrument, ("span", "record"), "a runner's instrument takes spans and metrics")
    if lease is not None:
        given.instance(lease, Lease, "a runner's lease is a Lease(owner, ttl)")
    if scheduler is not None:
        given.instance(scheduler, Scheduler, "a runner's scheduler is a Scheduler(...)")
    given.answering(clock, ("time", "monotonic", "call_later", "sleep"), "a runner's clock tells the time and waits")
