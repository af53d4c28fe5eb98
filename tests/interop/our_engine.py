"""Our engine as the other one is used: the same graphs, the same commands, and a process that can be killed in any node.

    python -m tests.interop.our_engine DATABASE start|resume|recover essay|order|wait|book THREAD NODE [STATE]

runs the thread until NODE is about to run, says so on a line of JSON, and hangs.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import msgspec

from strata import CompiledGraph, Context, Event, Outcome, Runner, StateGraph
from strata.stores.sqlite import SqliteStore
from strata.wire.checkpoint import encode_checkpoint
from tests.graphs.books import Book, plan, print_book, to_essay
from tests.graphs.essays import Essay, essays_from_data, reviewed_essays
from tests.graphs.orders import Order, expire, orders_that_refuse, receive, ship
from tests.wire.policies import compiled

ROOT = Path(__file__).parents[2]

Name = Literal["essay", "order", "wait", "book"]
Command = Literal["start", "resume", "recover"]
Said = dict[str, Any]

IDS = {"essay": "essays", "order": "orders", "wait": "waits", "book": "books"}


def builder_of(name: Name, *, hangs_at: str = "") -> StateGraph[Any]:
    """The graph as the other engine has it; the node of the path `hangs_at` never returns."""
    match name:
        case "essay":
            builder: StateGraph[Any] = essays_from_data()
        case "order":
            builder = orders_that_refuse()
        case "wait":
            builder = waits()
        case "book":
            child = _hanging(reviewed_essays(), hangs_at.removeprefix("write/") if "/" in hangs_at else "")
            builder = books(compiled(child, id="essays", version="7"))
    return _hanging(builder, "" if "/" in hangs_at else hangs_at)


def waits() -> StateGraph[Order]:
    """receive -> await_payment, for 90 s, else `expire` -> cool_off, for 60 s -> ship."""
    return (
        StateGraph(Order)
        .add_node("receive", receive)
        .add_wait_for_event("await_payment", "payment.received", timeout=90, on_timeout="expire")
        .add_timer("cool_off", 60)
        .add_node("ship", ship)
        .add_node("expire", expire)
        .add_edge("receive", "await_payment")
        .add_edge("await_payment", "cool_off")
        .add_edge("cool_off", "ship")
    )


def books(child: CompiledGraph[Essay]) -> StateGraph[Book]:
    """plan -> write, which is the child -> print."""

    def written(book: Book, essay: Essay) -> Book:
        return book.replace(chapters=[*book.chapters, f"{essay.topic} r{essay.revision} s{essay.score} q{book.quality}"])

    return (
        StateGraph(Book)
        .add_node("plan", plan)
        .add_subgraph("write", child, enter=to_essay, leave=written)
        .add_node("print", print_book)
        .add_edge("plan", "write")
        .add_edge("write", "print")
    )


def graph_of(name: Name, **options: Any) -> CompiledGraph[Any]:
    """The graph as the other engine has it: the same nodes, edges and identity."""
    given: dict[str, Any] = {"id": IDS[name], "version": "1", **options}
    return builder_of(name).compile(**given)


class OurEngine:
    """Each call is a runner and a store of its own, as another worker would have."""

    async def start(
        self,
        database: Path,
        name: Name,
        thread_id: str,
        state: Mapping[str, object],
        *,
        graph: CompiledGraph[Any] | None = None,
        **options: Any,
    ) -> Outcome[Any]:
        graph = graph or graph_of(name)
        async with SqliteStore(database) as store:
            return await Runner(graph, store).run(thread_id, msgspec.convert(state, graph.state), **options)

    async def resume(
        self,
        database: Path,
        name: Name,
        thread_id: str,
        *,
        reviewer: str = "",
        reject: bool = False,
        override: Mapping[str, object] | None = None,
        graph: CompiledGraph[Any] | None = None,
        **options: Any,
    ) -> Outcome[Any]:
        graph = graph or graph_of(name)
        waiting = graph if name != "book" else builder_of("essay").compile()
        answer: Any = waiting.reject(reviewer) if reject else waiting.approve(reviewer)
        async with SqliteStore(database) as store:
            return await Runner(graph, store).resume(thread_id, answer.override(**(override or {})), **options)

    async def signal(self, database: Path, name: Name, thread_id: str, *, override: Mapping[str, object] | None = None) -> Outcome[Any]:
        async with SqliteStore(database) as store:
            return await Runner(graph_of(name), store).signal(thread_id, Event("payment.received", overrides=override))

    async def wake(self, database: Path, name: Name, *, seconds: int = 0) -> list[tuple[str, str]]:
        """Wake what is due that many seconds from now; gives the threads, and what woke them."""
        async with SqliteStore(database) as store:
            report = await Runner(graph_of(name), store).wake_due(now=datetime.now(UTC) + timedelta(seconds=seconds))
        return [(woken.thread_id, woken.by) for woken in report.woken]

    async def recover(self, database: Path, name: Name, thread_id: str, *, graph: CompiledGraph[Any] | None = None) -> Outcome[Any]:
        async with SqliteStore(database) as store:
            return await Runner(graph or graph_of(name), store).recover(thread_id)

    async def end(
        self, database: Path, name: Name, thread_id: str, *, by: str | None = None, graph: CompiledGraph[Any] | None = None
    ) -> Outcome[Any]:
        async with SqliteStore(database) as store:
            return await Runner(graph or graph_of(name), store).end(thread_id, by=by)

    async def log(self, database: Path, thread_id: str) -> list[str]:
        """All records of the thread, oldest first, as text."""
        async with SqliteStore(database) as store:
            runner = Runner(graph_of("essay"), store)
            return [encode_checkpoint(record.checkpoint).decode() async for record in runner.log(thread_id)]

    def killed_at(
        self, node: str, database: Path, command: Command, name: Name, thread_id: str, *, state: Mapping[str, object] | None = None
    ) -> Said:
        """Run the thread in a process until `node` hangs, then kill it; gives what that node said of itself."""
        given = [] if state is None else [json.dumps(state)]
        arguments = [sys.executable, "-m", "tests.interop.our_engine", str(database), command, name, thread_id, node, *given]
        with subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                line = process.stdout.readline()
            finally:
                process.kill()
        said: Said = json.loads(line)
        return said


def _hanging(builder: StateGraph[Any], node: str) -> StateGraph[Any]:
    return builder.add_node(node, _hang) if node else builder


async def _hang(state: Any, ctx: Context) -> Any:
    sys.stdout.write(json.dumps({"hanging": ctx.path, "idempotency_key": ctx.idempotency_key}) + "\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


async def _run_until_it_hangs(database: str, command: Command, name: Name, thread_id: str, node: str, state: str = "") -> None:
    graph = builder_of(name, hangs_at=node).compile(id=IDS[name], version="1")
    async with SqliteStore(database) as store:
        runner = Runner(graph, store)
        match command:
            case "start":
                await runner.run(thread_id, msgspec.json.decode(state, type=graph.state))
            case "resume":
                await runner.resume(thread_id, graph.approve("ann"))
            case "recover":
                await runner.recover(thread_id)


if __name__ == "__main__":
    asyncio.run(_run_until_it_hangs(*sys.argv[1:]))  # type: ignore[arg-type]
