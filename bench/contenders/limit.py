"""The limit: what hand-written code costs with no engine at all. msgspec states, a bare loop, the bare driver on the wire's own tables."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

import measure
from measure import (
    BIG,
    BIG_TEXT,
    DURABLE_HOPS,
    FAN,
    HOPS,
    RESUMES,
    SMALL,
    SMALL_TEXT,
    THREAD_HOPS,
    THREADS,
    WARM_RESUMES,
    Result,
    database,
    timed,
    timed_sync,
)

LAYOUT = (Path(__file__).parents[1] / "shared_layout.sql").read_text()

INSERT = """
INSERT INTO checkpoints (thread_id, sequence, schema_version, status, suspended_node, next_node, frozen_state, metadata, created_at,
                         graph_id, graph_version)
VALUES (?1, (SELECT coalesce(max(sequence), 0) + 1 FROM checkpoints WHERE thread_id = ?1), '1.7.0', 'running', 'ping', 'pong', ?2, ?3, ?4,
        'bench', '1')
"""
LOAD = """
SELECT c.frozen_state, c.sequence FROM checkpoint_threads h
JOIN checkpoints c ON c.thread_id = h.thread_id AND c.sequence = h.sequence WHERE h.thread_id = ?
"""
STAMP = """
INSERT INTO checkpoints (thread_id, sequence, schema_version, status, suspended_node, next_node, frozen_state, metadata, created_at,
                         resumed_at, graph_id, graph_version)
SELECT thread_id, sequence + 1, schema_version, status, suspended_node, next_node, frozen_state, metadata, created_at,
       ?2, graph_id, graph_version
FROM checkpoints WHERE thread_id = ?1 AND sequence = ?3 AND (SELECT sequence FROM checkpoint_threads WHERE thread_id = ?1) = ?3
"""


class Counter(msgspec.Struct):
    count: int = 0


class Message(msgspec.Struct):
    role: str
    content: str


class Chat(msgspec.Struct):
    messages: list[Message]
    count: int = 0


encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(Chat).decode


def message(number: int, length: int = SMALL_TEXT) -> Message:
    return Message(measure.role(number), measure.content(number, length))


def chat(count: int = SMALL, length: int = SMALL_TEXT) -> Chat:
    return Chat([message(number, length) for number in range(count)])


async def ping(state: Counter) -> Counter:
    state.count += 1
    return state


async def pong(state: Counter) -> Counter:
    state.count += 1
    return state


def ping_inline(state: Counter) -> Counter:
    state.count += 1
    return state


def pong_inline(state: Counter) -> Counter:
    state.count += 1
    return state


async def say(state: Chat) -> Chat:
    state.count += 1
    state.messages = [*state.messages[1:], message(state.count)]
    return state


async def reply(state: Chat) -> Chat:
    state.count += 1
    state.messages = [*state.messages[1:], message(state.count)]
    return state


async def append(state: Chat) -> Chat:
    state.count += 1
    state.messages.append(message(state.count, BIG_TEXT))
    return state


async def w1() -> Result:
    async def run(_: int) -> None:
        state, node = Counter(), ping
        while state.count < HOPS:
            state = await node(state)
            node = pong if node is ping else ping
        assert state.count == HOPS

    return await timed(run, HOPS, runs=30, warm=5)


def w1s() -> Result:
    def run(_: int) -> None:
        state, node = Counter(), ping_inline
        while state.count < HOPS:
            state = node(state)
            node = pong_inline if node is ping_inline else ping_inline
        assert state.count == HOPS

    return timed_sync(run, HOPS, runs=30, warm=5)


async def double(number: int) -> Counter:
    state = Counter()
    state.count = number * 2
    return state


async def w6() -> Result:
    async def run(_: int) -> None:
        results = await asyncio.gather(*[double(number) for number in range(FAN)])
        assert sum(result.count for result in results) == FAN * (FAN - 1)

    return await timed(run, FAN, runs=30, warm=5)


async def hops(count: int, save: Callable[[int, Chat], Awaitable[object] | None]) -> None:
    state, node = chat(), say
    for number in range(count):
        state = await node(state)
        node = reply if node is say else say
        if (saved := save(number, state)) is not None:
            await saved
    assert state.count == count
    assert len(state.messages) == SMALL


async def w2() -> Result:
    async def run(_: int) -> None:
        kept: dict[int, bytes] = {}

        def save(number: int, state: Chat) -> None:
            kept[number] = encode(state)

        await hops(HOPS, save)

    return await timed(run, HOPS, runs=20, warm=3)


def open_shared(path: str, synchronous: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute(f"PRAGMA synchronous={synchronous}")
    connection.executescript(LAYOUT)
    return connection


def row(thread: str, number: int, state: Chat) -> tuple[str, str, str, str]:
    return thread, encode(state).decode(), f'{{"strata.hops":"{number}"}}', time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


async def w3(synchronous: str = "FULL") -> Result:
    with database() as path:
        connection = open_shared(path, synchronous)

        async def run(number: int) -> None:
            def save(hop: int, state: Chat) -> None:
                connection.execute(INSERT, row(f"t{number}", hop, state))

            await hops(DURABLE_HOPS, save)

        return await timed(run, DURABLE_HOPS)


async def w3n() -> Result:
    return await w3("NORMAL")


class TurnCommit:
    """Group commit with no thread: what is saved in one turn of the event loop is committed together at its end, on the loop."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.rows: list[tuple[str, str, str, str]] = []
        self.waiting: asyncio.Future[None] | None = None
        self.loop = asyncio.get_running_loop()

    def save(self, values: tuple[str, str, str, str]) -> asyncio.Future[None]:
        self.rows.append(values)
        if self.waiting is None:
            self.waiting = self.loop.create_future()
            self.loop.call_soon(self.flush)
        return self.waiting

    def flush(self) -> None:
        rows, waiting, self.rows, self.waiting = self.rows, self.waiting, [], None
        self.connection.execute("BEGIN IMMEDIATE")
        self.connection.executemany(INSERT, rows)
        self.connection.execute("COMMIT")
        assert waiting is not None
        waiting.set_result(None)


async def w7(synchronous: str = "FULL") -> Result:
    with database() as path:
        writer = TurnCommit(open_shared(path, synchronous))

        async def run(number: int) -> None:
            async def one(thread: int) -> None:
                await hops(THREAD_HOPS, lambda hop, state: writer.save(row(f"{number}-{thread}", hop, state)))

            await asyncio.gather(*[one(thread) for thread in range(THREADS)])

        return await timed(run, THREADS * THREAD_HOPS, runs=3)


async def w9() -> Result:
    """A resume that is not durable: the newest record, a stamp that is conditional on its sequence, one node."""
    with database() as path:
        connection = open_shared(path, "FULL")
        for thread in range(RESUMES + WARM_RESUMES):
            connection.execute(INSERT, row(f"t{thread}", 0, chat(BIG, BIG_TEXT)))

        async def run(thread: int) -> None:
            text, sequence = connection.execute(LOAD, (f"t{thread}",)).fetchone()
            state = decode(text)
            assert connection.execute(STAMP, (f"t{thread}", "2026-11-30T00:00:00Z", sequence)).rowcount == 1
            assert len((await append(state)).messages) == BIG + 1

        return await timed(run, 1, runs=RESUMES, warm=WARM_RESUMES)


async def w9__durable() -> Result:
    """The same, durable: a claim instead of the stamp, and a record after the node."""
    with database() as path:
        connection = open_shared(path, "FULL")
        for thread in range(RESUMES + WARM_RESUMES):
            connection.execute(INSERT, row(f"t{thread}", 0, chat(BIG, BIG_TEXT)))

        async def run(thread: int) -> None:
            state = decode(connection.execute(LOAD, (f"t{thread}",)).fetchone()[0])
            connection.execute(INSERT, row(f"t{thread}", 1, state))
            state = await append(state)
            connection.execute(INSERT, row(f"t{thread}", 2, state))
            assert len(state.messages) == BIG + 1

        return await timed(run, 1, runs=RESUMES, warm=WARM_RESUMES)


if __name__ == "__main__":
    measure.main(globals())
