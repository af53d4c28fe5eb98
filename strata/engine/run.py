"""One call that works on a thread: what it was given, and what it needs of the world."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from math import floor
from typing import Any

from strata.engine.interrupt import Scope, StopReason
from strata.engine.progress import Progress
from strata.engine.recorder import Recorder
from strata.engine.stamp import Stamp
from strata.engine.stream import Channel
from strata.engine.threads import WorkerThreads
from strata.engine.watch import Watch
from strata.graph.clock import Clock
from strata.graph.times import wire_time


class Run:
    """Fixed for the length of the call, but for `scope`, which can be told to stop, and the recorder's sequence.

    Attributes:
        durable: records are written between nodes, not only where the run stops.
        channel: where stream events go; None when nobody reads.
        progress: where what a node has done is kept before it commits; None where nothing is recorded between nodes.
        watch: where run events, spans and metrics come from; None when nobody watches.
        is_followed: somebody watches or reads.
    """

    __slots__ = (
        "_recorded",
        "_second",
        "_stamp",
        "channel",
        "clock",
        "deadline",
        "durable",
        "is_followed",
        "metadata",
        "progress",
        "recorder",
        "run_id",
        "scope",
        "services",
        "thread_id",
        "threads",
        "watch",
    )

    def __init__(
        self,
        *,
        thread_id: str,
        run_id: str,
        metadata: Mapping[str, str],
        services: Mapping[type[Any], object],
        deadline: datetime | None,
        durable: bool,
        clock: Clock,
        threads: WorkerThreads,
        recorder: Recorder,
        channel: Channel | None,
        scope: Scope,
        watch: Watch | None,
        progress: Progress | None = None,
    ) -> None:
        self.thread_id = thread_id
        self.run_id = run_id
        self.metadata = metadata
        self._recorded = dict(metadata)  # a plain dict is copied five times faster than the view that nodes get
        self.services = services
        self.deadline = deadline
        self.durable = durable
        self.clock = clock
        self.threads = threads
        self.recorder = recorder
        self.channel = channel
        self.scope = scope
        self.watch = watch
        self.progress = progress
        self.is_followed = watch is not None or channel is not None
        self._second = floor(clock.time())
        self._stamp = Stamp(thread_id, self._recorded, wire_time(self._second))

    def stop(self, reason: StopReason) -> None:
        """Tell the run to stop: its handlers are cancelled, and nobody waits for its reader any more."""
        self.scope.stop(reason)
        if self.channel is not None:
            self.channel.lift_limit()

    def stamp(self) -> Stamp:
        """What records of this moment have in common. It is one value for a whole second, the finest that their times are."""
        second = floor(self.clock.time())
        if second != self._second:
            self._second, self._stamp = second, Stamp(self.thread_id, self._recorded, wire_time(second))
        return self._stamp
