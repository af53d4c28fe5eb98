"""A listing of threads, page after page."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from strata.ports.checkpoints import CheckpointStore, ThreadPage, ThreadQuery


async def pages_of(store: CheckpointStore, query: ThreadQuery) -> AsyncIterator[ThreadPage]:
    """All pages of what the query asks for, from its own cursor on."""
    while True:
        page = await store.list_threads(query)
        yield page
        if page.next_cursor is None:
            return
        query = msgspec.structs.replace(query, cursor=page.next_cursor)
