"""LangGraph, each workload in its fastest documented way: a TypedDict state, `durability="sync"` (stored before the next step)."""

from __future__ import annotations

import asyncio
import operator
import sqlite3
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt

import measure
from measure import (
    BIG,
    BIG_TEXT,
    DURABLE_HOPS,
    FAN,
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


class Counter(TypedDict):
    count: int


class Fan(TypedDict):
    doubled: Annotated[list[int], operator.add]


class Chat(TypedDict):
    count: int
    messages: list[dict[str, str]]


async def say(state: Chat) -> dict[str, Any]:
    count = state["count"] + 1
    return {"count": count, "messages": turn(state["messages"], count)}


def say_sync(state: Chat) -> dict[str, Any]:
    count = state["count"] + 1
    return {"count": count, "messages": turn(state["messages"], count)}


def count_sync(state: Counter) -> dict[str, int]:
    return {"count": state["count"] + 1}


def loop(schema: type, node: Callable[..., Any], limit: int, saver: Any = None) -> Any:
    def unfinished_sync(state: Any) -> str:
        return "ping" if state["count"] < limit else END

    async def unfinished(state: Any) -> str:  # in an async run a plain function goes to a thread, which costs more than the hop
        return unfinished_sync(state)

    graph = StateGraph(schema)
    graph.add_node("ping", node)
    graph.add_node("pong", node)
    graph.add_edge(START, "ping")
    graph.add_edge("ping", "pong")
    graph.add_conditional_edges("pong", unfinished if asyncio.iscoroutinefunction(node) else unfinished_sync, ["ping", END])
    return graph.compile(checkpointer=saver)


def settings(thread: str = "t") -> dict[str, Any]:
    return {"recursion_limit": 1_000_000, "configurable": {"thread_id": thread}}


def first() -> dict[str, Any]:
    return {"count": 0, "messages": messages()}


async def w1() -> Result:
    async def ping(state: Counter) -> Command[str]:
        return Command(goto="pong", update={"count": state["count"] + 1})

    async def pong(state: Counter) -> Command[str]:
        count = state["count"] + 1
        return Command(goto="ping" if count < HOPS else END, update={"count": count})

    graph = StateGraph(Counter)
    graph.add_node("ping", ping, destinations=("pong",))
    graph.add_node("pong", pong, destinations=("ping", END))
    graph.add_edge(START, "ping")
    compiled = graph.compile()

    async def run(_: int) -> None:
        assert (await compiled.ainvoke({"count": 0}, settings()))["count"] == HOPS

    return await timed(run, HOPS)


def w1s() -> Result:
    graph = loop(Counter, count_sync, HOPS)

    def run(_: int) -> None:
        assert graph.invoke({"count": 0}, settings())["count"] == HOPS

    return timed_sync(run, HOPS)


async def w6() -> Result:
    async def double(task: dict[str, int]) -> dict[str, list[int]]:
        return {"doubled": [task["number"] * 2]}

    async def tasks(state: Fan) -> list[Send]:
        return [Send("double", {"number": number}) for number in range(FAN)]

    graph = StateGraph(Fan)
    graph.add_node("double", double)
    graph.add_conditional_edges(START, tasks, ["double"])
    graph.add_edge("double", END)
    compiled = graph.compile()

    async def run(_: int) -> None:
        assert sum((await compiled.ainvoke({"doubled": []}, settings()))["doubled"]) == FAN * (FAN - 1)

    return await timed(run, FAN)


async def w2() -> Result:
    graph = loop(Chat, say, HOPS, InMemorySaver())

    async def run(number: int) -> None:
        state = await graph.ainvoke(first(), settings(f"t{number}"), durability="sync")
        assert (state["count"], len(state["messages"])) == (HOPS, SMALL)

    return await timed(run, HOPS, runs=3)


def w3(synchronous: str = "FULL") -> Result:
    with database() as path:
        connection = sqlite3.connect(path, check_same_thread=False)
        saver = SqliteSaver(connection)
        saver.setup()
        connection.execute(f"PRAGMA synchronous={synchronous}")
        graph = loop(Chat, say_sync, DURABLE_HOPS, saver)

        def run(number: int) -> None:
            assert graph.invoke(first(), settings(f"t{number}"), durability="sync")["count"] == DURABLE_HOPS

        return timed_sync(run, DURABLE_HOPS, runs=3)


def w3n() -> Result:
    return w3("NORMAL")


async def w7() -> Result:
    with database() as path:
        async with AsyncSqliteSaver.from_conn_string(path) as saver:
            await saver.setup()
            await saver.conn.execute("PRAGMA synchronous=FULL")
            graph = loop(Chat, say, THREAD_HOPS, saver)

            async def one(name: str) -> None:
                assert (await graph.ainvoke(first(), settings(name), durability="sync"))["count"] == THREAD_HOPS

            async def run(number: int) -> None:
                await asyncio.gather(*[one(f"{number}-{thread}") for thread in range(THREADS)])

            await one("warm")
            return await timed(run, THREADS * THREAD_HOPS, runs=1, warm=0)


async def w9() -> Result:
    async def ask(state: Chat) -> dict[str, Any]:
        number = interrupt("go?")
        return {"count": state["count"] + 1, "messages": [*state["messages"], message(number, BIG_TEXT)]}

    graph = StateGraph(Chat)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", END)
    with database() as path:
        async with AsyncSqliteSaver.from_conn_string(path) as saver:
            await saver.setup()
            await saver.conn.execute("PRAGMA synchronous=FULL")
            compiled = graph.compile(checkpointer=saver)
            for thread in range(RESUMES + WARM_RESUMES):
                await compiled.ainvoke({"count": 0, "messages": messages(BIG, BIG_TEXT)}, settings(f"t{thread}"), durability="sync")

            async def run(thread: int) -> None:
                state = await compiled.ainvoke(Command(resume=1), settings(f"t{thread}"), durability="sync")
                assert (state["count"], len(state["messages"])) == (1, BIG + 1)

            return await timed(run, 1, runs=RESUMES, warm=WARM_RESUMES)


if __name__ == "__main__":
    measure.main(globals())
