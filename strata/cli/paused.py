"""The threads of a store that have not finished, to be held against what a change breaks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from strata.checkpoint.record import Checkpoint, ThreadState
from strata.cli.stores import opened
from strata.errors import CheckpointUnreadable
from strata.graph.identity import Identity
from strata.ports import ThreadQuery, ThreadSummary
from strata.ports.paging import pages_of
from strata.stores import StoreBase
from strata.wire.listing import MOST_PER_PAGE

UNFINISHED: Final[tuple[ThreadState, ...]] = ("interrupted", "failed", "cancelled", "resumed", "running")


class Paused(msgspec.Struct, frozen=True):
    """The newest records of a graph's unfinished threads, and the rows that cannot be read."""

    records: Sequence[Checkpoint]
    unreadable: Sequence[CheckpointUnreadable]


async def paused_threads(url: str, identity: Identity | None) -> Paused:
    """The unfinished threads of the graph with this identity; without one, those that no graph has signed.

    Each record is loaded, since a listing does not say where the levels inside a thread go on.
    """
    found: list[Checkpoint | CheckpointUnreadable | None] = []
    async with opened(url) as store:
        async for page in pages_of(store, _query(identity)):
            # a query without an id or a version asks for all of them
            found += [await _newest(store, thread) for thread in page.threads if thread.graph == identity]
            found += page.unreadable
    return Paused([one for one in found if isinstance(one, Checkpoint)], [one for one in found if isinstance(one, CheckpointUnreadable)])


def _query(identity: Identity | None) -> ThreadQuery:
    query = ThreadQuery(states=UNFINISHED, limit=MOST_PER_PAGE)
    return query if identity is None else msgspec.structs.replace(query, graph_id=identity.id, graph_version=identity.version)


async def _newest(store: StoreBase, thread: ThreadSummary) -> Checkpoint | CheckpointUnreadable | None:
    """The thread's record, or why it cannot be read; None if the thread was purged since it was listed."""
    try:
        stored = await store.load_latest(thread.thread_id)
    except CheckpointUnreadable as error:
        return error
    return None if stored is None else stored.checkpoint
