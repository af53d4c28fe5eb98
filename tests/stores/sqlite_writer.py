"""A program of its own that writes to a SQLite file as it is told: `FILE WHAT NUMBER`. It prints what it came to."""

from __future__ import annotations

import asyncio
import sys

from strata.errors import ThreadChanged
from strata.stores.sqlite import SqliteStore
from tests.records import record

THREADS = ("a", "b", "c")


async def race(store: SqliteStore, rounds: int) -> None:
    """Append to threads that others append to as well, each time on what was read; say which sequences were won."""
    for number in range(rounds):
        thread = THREADS[number % len(THREADS)]
        latest = await store.load_latest(thread)
        expected = -1 if latest is None else latest.sequence
        try:
            won = await store.save_if_latest(record(thread, metadata={"number": str(number)}), expected)
        except ThreadChanged:
            continue
        say(thread, won)


async def append(store: SqliteStore, count: int) -> None:
    """Append `count` records to each thread, many at once; say each that is written."""

    async def run(thread: str) -> None:
        for _ in range(count):
            say(thread, await store.save(record(thread, state={"padding": "x" * 3000})))

    await asyncio.gather(*map(run, THREADS))


def say(*words: object) -> None:
    print(*words, flush=True)  # noqa: T201


async def main(path: str, what: str, number: str) -> None:
    async with SqliteStore(path) as store:
        await {"race": race, "append": append}[what](store, int(number))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
