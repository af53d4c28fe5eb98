"""`strata mcp serve`: a graph as a tool that models call."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import Annotated, Any

from cyclopts import Parameter

from strata.cli.importing import import_compiled
from strata.cli.parameters import HttpAddress
from strata.cli.serving import end_of, serve
from strata.graph.compiled import CompiledGraph
from strata.runtime.runner import Runner
from strata.stores import open_store


def mcp_serve(
    graph: Annotated[str, Parameter(help="What compile() gave: module:graph.")],
    /,
    *,
    store: Annotated[
        str | None,
        Parameter(env_var="STRATA_STORE", help="Where the threads go, as sqlite:PATH. Without one a thread that pauses is lost with this process."),
    ] = None,
    name: Annotated[str | None, Parameter(help="What a model calls it by; the graph's id where it has one.")] = None,
    description: Annotated[str, Parameter(help="What a model is told it does; the docstring of its state where it has one.")] = "",
    http: HttpAddress = None,
) -> int:
    """Serve a graph over the Model Context Protocol as one tool: each call runs a thread, and its arguments are the state's fields.

    Over stdin and stdout; with --http, at http://HOST:PORT/mcp. A thread that pauses for a person ends the call, and says what it
    waits for.
    """
    asyncio.run(_serve(import_compiled(graph), store, name=name, description=description, http=http))
    return 0


async def _serve(graph: CompiledGraph[Any], url: str | None, *, name: str | None, description: str, http: str | None) -> None:
    from strata.hosting.mcp.graphs import served_graph

    identity = graph.identity
    called = name or (graph.state.__name__ if identity is None else identity.id)
    async with nullcontext() if url is None else open_store(url) as store:
        offers = served_graph(Runner(graph, store), graph, name=called, description=description)
        stopped_by = await serve(offers, name=called, version="" if identity is None else identity.version or "", http=http)
    end_of(stopped_by)
