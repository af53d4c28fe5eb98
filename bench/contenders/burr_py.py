"""Apache Burr: function actions, no tracker, its own persisters on a connection that is set to the durability under test."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from typing import Any

import aiosqlite
from burr.core import ApplicationBuilder, Condition, State, action
from burr.core.graph import GraphBuilder
from burr.core.persistence import AsyncInMemoryPersister, SQLitePersister
from burr.integrations.persisters.b_aiosqlite import AsyncSQLitePersister

import measure
from measure import (
    BIG,
    BIG_TEXT,
    DURABLE_HOPS,
    HOPS,
    RESUMES,
    SMALL,
    THREAD_HOPS,
    THREADS,
    WARM_RESUMES,
    Result,
    database,
    message,
    messages,
    timed,
    timed_sync,
    turn,
)

CHAT = {"reads": ["count", "messages"], "writes": ["count", "messages"]}


@action(reads=["count"], writes=["count"])
async def ping(state: State) -> State:
    return state.update(count=state["count"] + 1)


@action(reads=["count"], writes=["count"])
async def pong(state: State) -> State:
    return state.update(count=state["count"] + 1)


@action(reads=["count"], writes=["count"])
def ping_sync(state: State) -> State:
    return state.update(count=state["count"] + 1)


@action(reads=["count"], writes=["count"])
def pong_sync(state: State) -> State:
    return state.update(count=state["count"] + 1)


def spoken(state: State) -> State:
    count = state["count"] + 1
    return state.update(count=count, messages=turn(state["messages"], count))


@action(**CHAT)
async def say(state: State) -> State:
    return spoken(state)


@action(**CHAT)
async def reply(state: State) -> State:
    return spoken(state)


@action(**CHAT)
def say_sync(state: State) -> State:
    return spoken(state)


@action(**CHAT)
def reply_sync(state: State) -> State:
    return spoken(state)


def loop(first: Any, second: Any, limit: int) -> Any:
    unfinished = Condition(["count"], lambda state: state["count"] < limit, f"count < {limit}")
    return GraphBuilder().with_actions(ping=first, pong=second).with_transitions(("ping", "pong"), ("pong", "ping", unfinished)).build()


def application(graph: Any, persister: Any = None, name: str | None = None, **state: Any) -> Any:
    builder = ApplicationBuilder().with_graph(graph).with_entrypoint("ping").with_state(**state)
    if name is not None:
        builder = builder.with_identifiers(app_id=name, partition_key="bench")
    if persister is not None:
        builder = builder.with_state_persister(persister)
    return builder


async def w1() -> Result:
    graph = loop(ping, pong, HOPS)

    async def run(_: int) -> None:
        made = await application(graph, count=0).abuild()
        assert (await made.arun(halt_after=[]))[2]["count"] == HOPS

    return await timed(run, HOPS)


def w1s() -> Result:
    graph = loop(ping_sync, pong_sync, HOPS)

    def run(_: int) -> None:
        assert application(graph, count=0).build().run(halt_after=[])[2]["count"] == HOPS

    return timed_sync(run, HOPS)


async def w2() -> Result:
    """Its in-memory persister keeps references and encodes nothing."""
    graph, persister = loop(say, reply, HOPS), AsyncInMemoryPersister()

    async def run(number: int) -> None:
        made = await application(graph, persister, f"t{time.time()}{number}", count=0, messages=messages()).abuild()
        state = (await made.arun(halt_after=[]))[2]
        assert (state["count"], len(state["messages"])) == (HOPS, SMALL)

    return await timed(run, HOPS, runs=3)


def w3(synchronous: str = "FULL") -> Result:
    with database() as path:
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA synchronous={synchronous}")
        persister = SQLitePersister(db_path=path, connection=connection)
        persister.initialize()
        graph = loop(say_sync, reply_sync, DURABLE_HOPS)

        def run(number: int) -> None:
            made = application(graph, persister, f"t{time.time()}{number}", count=0, messages=messages()).build()
            assert made.run(halt_after=[])[2]["count"] == DURABLE_HOPS

        return timed_sync(run, DURABLE_HOPS, runs=3)


def w3n() -> Result:
    return w3("NORMAL")


async def w7() -> Result:
    with database() as path:
        async with aiosqlite.connect(path) as connection:
            persister = await opened(connection)
            graph = loop(say, reply, THREAD_HOPS)

            async def one(name: str) -> None:
                made = await application(graph, persister, name, count=0, messages=messages()).abuild()
                assert (await made.arun(halt_after=[]))[2]["count"] == THREAD_HOPS

            async def run(number: int) -> None:
                await asyncio.gather(*[one(f"{number}-{thread}") for thread in range(THREADS)])

            await one("warm")
            return await timed(run, THREADS * THREAD_HOPS, runs=1, warm=0)


async def opened(connection: aiosqlite.Connection) -> Any:
    await connection.execute("PRAGMA journal_mode=WAL")
    await connection.execute("PRAGMA synchronous=FULL")
    persister = AsyncSQLitePersister(connection)
    await persister.initialize()
    return persister


@action(**CHAT)
async def pause(state: State) -> State:
    return state.update(count=0)


@action(**CHAT)
async def append(state: State) -> State:
    return state.update(count=state["count"] + 1).append(messages=message(1, BIG_TEXT))


async def w9() -> Result:
    graph = GraphBuilder().with_actions(pause=pause, append=append).with_transitions(("pause", "append")).build()
    with database() as path:
        async with aiosqlite.connect(path) as connection:
            persister = await opened(connection)

            def named(thread: int) -> Any:
                return (
                    ApplicationBuilder()
                    .with_graph(graph)
                    .with_identifiers(app_id=f"t{thread}", partition_key="bench")
                    .with_state_persister(persister)
                )

            for thread in range(RESUMES + WARM_RESUMES):
                made = await named(thread).with_entrypoint("pause").with_state(count=0, messages=messages(BIG, BIG_TEXT)).abuild()
                await made.arun(halt_after=["pause"])

            async def run(thread: int) -> None:
                made = (
                    await named(thread).initialize_from(persister, resume_at_next_action=True, default_state={}, default_entrypoint="pause").abuild()
                )
                state = (await made.arun(halt_after=["append"]))[2]
                assert (state["count"], len(state["messages"])) == (1, BIG + 1)

            return await timed(run, 1, runs=RESUMES, warm=WARM_RESUMES)


if __name__ == "__main__":
    measure.main(globals())
