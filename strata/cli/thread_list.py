"""`strata thread list`: the threads of a store, newest first."""

from __future__ import annotations

import asyncio
from typing import Annotated

from cyclopts import Parameter

from strata.checkpoint.record import ThreadState
from strata.cli import terminal
from strata.cli.faults import CannotDo
from strata.cli.parameters import AsJson, StoreUrl
from strata.cli.shapes import Listing, Summary, listing
from strata.cli.stores import opened
from strata.ports import ThreadPage, ThreadQuery


def thread_list(
    *,
    store: StoreUrl,
    state: Annotated[list[ThreadState] | None, Parameter(negative_iterable="", help="Only threads in this state; may be given again.")] = None,
    graph_id: Annotated[str | None, Parameter(help="Only threads of this graph.")] = None,
    metadata: Annotated[list[str] | None, Parameter(negative_iterable="", help="Only threads with this KEY=VALUE; may be given again.")] = None,
    limit: Annotated[int, Parameter(help="At most so many, 1 to 1000.")] = 100,
    cursor: Annotated[str | None, Parameter(help="Go on behind a page: what it gave as the next cursor.")] = None,
    as_json: AsJson = False,
) -> int:
    """List the threads of a store, newest first. No graph is needed.

    Exit code 1: there are rows that cannot be read; they are shown as such.
    """
    query = ThreadQuery(states=tuple(state or ()), graph_id=graph_id, metadata=_pairs(metadata or []), limit=limit, cursor=cursor)
    found = listing(asyncio.run(_page(store, query)))
    if as_json:
        terminal.show_json(found)
    else:
        _show(found)
    return int(bool(found.unreadable))


async def _page(url: str, query: ThreadQuery) -> ThreadPage:
    async with opened(url) as store:
        return await store.list_threads(query)


def _pairs(texts: list[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise CannotDo(f"--metadata {text!r} is not KEY=VALUE")
        pairs[key] = value
    return pairs


def _show(found: Listing) -> None:
    if found.threads:
        terminal.show_table(("thread", "state", "at", "next", "graph", "updated"), map(_row, found.threads))
    elif not found.unreadable:
        terminal.show("no threads")
    for row in found.unreadable:
        terminal.show(f"{row.thread_id}: cannot be read: {row.error}", style="red")
    if found.next_cursor is not None:
        terminal.show(f"there are more: --cursor {found.next_cursor}")


def _row(thread: Summary) -> tuple[str, ...]:
    graph = "" if thread.graph is None else thread.graph.id if thread.graph.version is None else f"{thread.graph.id}/{thread.graph.version}"
    return (thread.thread_id, thread.state_name, "/".join(thread.waiting_at), thread.next_node or "", graph, thread.updated_at)
