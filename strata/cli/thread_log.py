"""`strata thread log`: the records of a thread, oldest first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from cyclopts import Parameter

from strata.cli import terminal
from strata.cli.parameters import AsJson, StoreUrl, ThreadId
from strata.cli.shapes import Shown, shown, unreadable_row
from strata.cli.stores import opened
from strata.errors import CheckpointUnreadable, ThreadNotFound
from strata.ports import CheckpointStore, Logged

STATE_SHOWN = 200
"""Characters of a state on one line; `--json` has all of it."""


def thread_log(
    thread_id: ThreadId,
    /,
    *,
    store: StoreUrl,
    after: Annotated[int | None, Parameter(help="Only records behind this number.")] = None,
    as_json: AsJson = False,
) -> int:
    """Show the records of a thread, oldest first, each with its state as it is stored. No graph is needed.

    With --json each record is one line. Exit code 1: there is no such thread, or a record cannot be read; it is shown as such.
    """
    return asyncio.run(_show_all(store, thread_id, after, as_json=as_json))


async def _show_all(url: str, thread_id: str, after: int | None, *, as_json: bool) -> int:
    show = _show_json if as_json else _show
    count = unreadable = 0
    async with opened(url) as store:
        async for logged in _records(store, thread_id, after):
            read = _read(logged)
            show(read)
            count += 1
            unreadable += isinstance(read, CheckpointUnreadable)
        if not count and await store.load_latest(thread_id) is None:
            raise ThreadNotFound(thread_id)
    return int(unreadable > 0)


async def _records(store: CheckpointStore, thread_id: str, after: int | None) -> AsyncIterator[Logged]:
    while True:
        page = await store.get_log(thread_id, after=after)
        for logged in page.records:
            yield logged
        if page.next_after is None:
            return
        after = page.next_after


def _read(logged: Logged) -> Shown | CheckpointUnreadable:
    if isinstance(logged.checkpoint, CheckpointUnreadable):
        return logged.checkpoint
    try:
        return shown(logged.checkpoint, logged.sequence)
    except CheckpointUnreadable as error:
        return error


def _show_json(read: Shown | CheckpointUnreadable) -> None:
    terminal.show_json(unreadable_row(read) if isinstance(read, CheckpointUnreadable) else read)


def _show(read: Shown | CheckpointUnreadable) -> None:
    if isinstance(read, CheckpointUnreadable):
        terminal.show(f"#{read.sequence} cannot be read: {read}", style="red")
        return
    terminal.show(f"#{read.sequence} {_step(read)}  {read.resumed_at or read.created_at}")
    terminal.show(f"   {_cut(terminal.printable_json(bytes(read.state)))}")
    for level in read.nested:
        terminal.show(f"   inside: {_cut(terminal.printable_json(bytes(level.state)))}")


def _step(record: Shown) -> str:
    way = "/".join(record.waiting_at)
    parts = [record.state_name, f"at {way}" if way else "", f"-> {record.next_node}" if record.next_node else ""]
    parts += [f"hop {record.hops}" if record.hops is not None else "", f"error: {record.error}" if record.error else ""]
    return "  ".join(part for part in parts if part)


def _cut(text: str) -> str:
    return text if len(text) <= STATE_SHOWN else f"{text[:STATE_SHOWN]}… ({len(text):,} characters)"
