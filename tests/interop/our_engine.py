"""Our engine as the other one is used: the same graphs, the same commands, and a process that can be killed in any node.

    python -m tests.interop.our_engine DATABASE start|resume|recover essay|order THREAD NODE [STATE]

runs the thread until NODE is about to run, says so on a line of JSON, and hangs.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from strata import CompiledGraph, Context, Outcome, Runner, StateGraph
from strata.stores.sqlite import SqliteStore
from strata.wire.checkpoint import encode_checkpoint
from tests.graphs.essays import essays_from_data
from tests.graphs.orders import orders_that_refuse

ROOT = Path(__file__).parents[2]

Name = Literal["essay", "order"]
Command = Literal["start", "resume", "recover"]
Said = dict[str, Any]

IDS = {"essay": "essays", "order": "orders"}


def builder_of(name: Name) -> StateGraph[Any]:
    return essays_from_data() if name == "essay" else orders_that_refuse()


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
        answer: Any = graph.reject(reviewer) if reject else graph.approve(reviewer)
        async with SqliteStore(database) as store:
            return await Runner(graph, store).resume(thread_id, answer.override(**(override or {})), **options)

    async def recover(self, database: Path, name: Name, thread_id: str) -> Outcome[Any]:
        async with SqliteStore(database) as store:
            return await Runner(graph_of(name), store).recover(thread_id)

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


async def _hang(state: Any, ctx: Context) -> Any:
    sys.stdout.write(json.dumps({"hanging": ctx.path, "idempotency_key": ctx.idempotency_key}) + "\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


async def _run_until_it_hangs(database: str, command: Command, name: Name, thread_id: str, node: str, state: str = "") -> None:
    graph = builder_of(name).add_node(node, _hang).compile(id=IDS[name], version="1")
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
