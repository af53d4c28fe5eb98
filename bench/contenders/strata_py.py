"""Strata for Python: the graph is built and compiled outside the timed part, the thread and its first state are made inside."""

from __future__ import annotations

import asyncio
from typing import Literal

import msgspec

import measure
from measure import BIG, BIG_TEXT, DURABLE_HOPS, FAN, HOPS, RESUMES, SMALL, SMALL_TEXT, THREAD_HOPS, THREADS, WARM_RESUMES, Result, database, timed
from strata import CompiledGraph, Runner, State, StateGraph, boundary, branch, edge, node, when
from strata.graph.bodies import Branch
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore

Check = Literal["full", "fields", "type"]
Durability = Literal["full", "normal"]


class Counter(State):
    count: int = 0


class Message(msgspec.Struct, frozen=True):
    role: str
    content: str


class Chat(State):
    messages: list[Message]
    limit: int
    count: int = 0


def message(number: int, length: int = SMALL_TEXT) -> Message:
    return Message(measure.role(number), measure.content(number, length))


def chat(limit: int, *, count: int = SMALL, length: int = SMALL_TEXT) -> Chat:
    return Chat(limit=limit, messages=[message(number, length) for number in range(count)])


def counter_unfinished(state: Counter) -> bool:
    return state.count < HOPS


def chat_unfinished(state: Chat) -> bool:
    return state.count < state.limit


@node
@edge("pong")
async def ping(state: Counter) -> Counter:
    return state.replace(count=state.count + 1)


@node
@when(counter_unfinished, to=ping)
@edge("stop")
async def pong(state: Counter) -> Counter:
    return state.replace(count=state.count + 1)


@node(inline=True)
def stop(state: Counter) -> Counter:
    return state


@node("ping", inline=True)
@edge("pong")
def ping_inline(state: Counter) -> Counter:
    return state.replace(count=state.count + 1)


@node("pong", inline=True)
@when(counter_unfinished, to=ping_inline)
@edge("stop")
def pong_inline(state: Counter) -> Counter:
    return state.replace(count=state.count + 1)


@node
@edge("reply")
async def say(state: Chat) -> Chat:
    count = state.count + 1
    return state.replace(count=count, messages=[*state.messages[1:], message(count)])


@node
@when(chat_unfinished, to=say)
@edge("stop")
async def reply(state: Chat) -> Chat:
    count = state.count + 1
    return state.replace(count=count, messages=[*state.messages[1:], message(count)])


@node("stop", inline=True)
def stop_chat(state: Chat) -> Chat:
    return state


@node(inline=True)
@boundary
@edge("append")
def pause(state: Chat) -> Chat:
    return state


@node
async def append(state: Chat) -> Chat:
    count = state.count + 1
    return state.replace(count=count, messages=[*state.messages, message(count, BIG_TEXT)])


def chats(check: Check = "full") -> CompiledGraph[Chat]:
    return StateGraph(Chat).start(say).nodes(reply, stop_chat).compile(id="bench", version="1", check=check)


async def w1() -> Result:
    runner = Runner(StateGraph(Counter).start(ping).nodes(pong, stop).compile())

    async def run(number: int) -> None:
        outcome = await runner.run(f"t{number}", Counter())
        assert outcome.unwrap().count == HOPS

    return await timed(run, HOPS, runs=30, warm=5)


async def w1s() -> Result:
    runner = Runner(StateGraph(Counter).start(ping_inline).nodes(pong_inline, stop).compile())

    async def run(number: int) -> None:
        outcome = await runner.run(f"t{number}", Counter())
        assert outcome.unwrap().count == HOPS

    return await timed(run, HOPS, runs=30, warm=5)


def doubling(number: int) -> Branch[Counter]:
    async def double(state: Counter) -> Counter:
        return state.replace(count=number * 2)

    return branch(f"b{number}", double)


def total(state: Counter, results: list[Counter]) -> Counter:
    return state.replace(count=sum(result.count for result in results))


async def w6() -> Result:
    runner = Runner(StateGraph(Counter).add_parallel_group("fan", [doubling(number) for number in range(FAN)], total).compile())

    async def run(number: int) -> None:
        assert (await runner.run(f"t{number}", Counter())).unwrap().count == FAN * (FAN - 1)

    return await timed(run, FAN, runs=30, warm=5)


class Fan(State):
    size: int
    total: int = 0


@node
async def double(state: Counter) -> Counter:
    return state.replace(count=state.count * 2)


def grand_total(state: Fan, results: list[Counter]) -> Fan:
    return state.replace(total=sum(result.count for result in results))


async def w6__map() -> Result:
    item = StateGraph(Counter).start(double).compile()
    fan = StateGraph(Fan).add_map(
        "fan",
        item,
        items=lambda state: range(state.size),
        key=str,
        enter=lambda state, number: Counter(count=number),
        merge=grand_total,
        max_concurrency=None,
    )
    runner = Runner(fan.compile())

    async def run(number: int) -> None:
        assert (await runner.run(f"t{number}", Fan(size=FAN))).unwrap().total == FAN * (FAN - 1)

    return await timed(run, FAN, runs=30, warm=5)


async def chain_once(runner: Runner[Chat], thread: str, hops: int) -> None:
    state = (await runner.run(thread, chat(hops))).unwrap()
    assert state.count == hops
    assert len(state.messages) == SMALL


async def w2(check: Check = "fields") -> Result:
    graph = chats(check)

    async def run(number: int) -> None:
        async with MemoryStore() as store:  # as the limit's dict, which goes with its run
            await chain_once(Runner(graph, store), f"t{number}", HOPS)

    return await timed(run, HOPS, runs=20, warm=3)


async def w2__full() -> Result:
    return await w2("full")


async def w3(durability: Durability = "full") -> Result:
    with database() as path:
        async with SqliteStore(path, durability=durability) as store:
            runner = Runner(chats(), store)
            return await timed(lambda number: chain_once(runner, f"t{number}", DURABLE_HOPS), DURABLE_HOPS)


async def w3n() -> Result:
    return await w3("normal")


async def w7() -> Result:
    with database() as path:
        async with SqliteStore(path) as store:
            runner = Runner(chats(), store)

            async def one(name: str) -> None:
                assert (await runner.run(name, chat(THREAD_HOPS))).unwrap().count == THREAD_HOPS

            async def run(number: int) -> None:
                await asyncio.gather(*[one(f"{number}-{thread}") for thread in range(THREADS)])

            return await timed(run, THREADS * THREAD_HOPS, runs=3)


async def w9(*, durable: bool = False) -> Result:
    graph = StateGraph(Chat).start(pause).nodes(append).compile(id="bench", version="1", durable=durable)
    with database() as path:
        async with SqliteStore(path) as store:
            runner = Runner(graph, store)
            for thread in range(RESUMES + WARM_RESUMES):
                await runner.run(f"t{thread}", chat(1, count=BIG, length=BIG_TEXT))

            async def run(thread: int) -> None:
                outcome = await runner.resume(f"t{thread}", graph.approve("editor"))
                assert len(outcome.unwrap().messages) == BIG + 1

            return await timed(run, 1, runs=RESUMES, warm=WARM_RESUMES)


async def w9__durable() -> Result:
    return await w9(durable=True)


if __name__ == "__main__":
    measure.main(globals())
