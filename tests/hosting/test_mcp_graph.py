"""A graph served as a tool, called by the official client of the Model Context Protocol."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

import anyio
import mcp_types as protocol
import msgspec
import pytest
from mcp.client import Client
from msgspec import Meta

from strata import Context, Pause, Runner, State, StateGraph, boundary, edge, node, parallel, when
from strata.hosting.mcp.graphs import served_graph
from strata.hosting.mcp.server import server_of
from strata.ports.events import NodeStarted, RunCompleted, RunEvent
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore
from tests.hosting.processes import over_http, over_pipes


class Line(msgspec.Struct, frozen=True):
    article: str
    pieces: Annotated[int, Meta(ge=1)] = 1


class Order(State):
    """Prices an order, and ships it."""

    lines: list[Line]
    total: int = 0
    shipped: bool = False


def is_large(order: Order) -> bool:
    return order.total > 10


@node
@when(is_large, to="approval")
@edge("ship")
async def price(order: Order) -> Order:
    if any(line.article == "nothing" for line in order.lines):
        raise ValueError("nobody sells nothing")
    return order.replace(total=sum(line.pieces for line in order.lines))


@node
@boundary
@edge("ship")
async def approval(order: Order) -> Order:
    return order


@node
async def ship(order: Order, ctx: Context) -> Order:
    if order.lines[0].article == "far":
        await asyncio.Event().wait()
    if order.lines[0].article == "art":
        order = order.replace(total=ctx.interrupt("which price?", returns=int))
    return order.replace(shipped=True)


orders = StateGraph(Order).start(price).nodes(approval, ship).compile(id="orders", version="7")

MODULE = """
from strata import State, StateGraph, node


class Order(State):
    pieces: int
    total: int = 0


@node
def price(order: Order) -> Order:
    print("what a node prints is no message of the protocol")
    return order.replace(total=order.pieces * 3)


orders = StateGraph(Order).start(price).compile(id="orders", version="7")
"""


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
async def client(store: MemoryStore) -> AsyncIterator[Client]:
    """Of a server in this process."""
    server = server_of(served_graph(Runner(orders, store), orders, name="orders"), name="orders", version="7")
    async with Client(server) as client:
        yield client


def one_line(article: str, pieces: int) -> dict[str, Any]:
    return {"lines": [{"article": article, "pieces": pieces}]}


def text_of(result: protocol.CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, protocol.TextContent)
    return content.text


async def test_a_graph_is_listed_with_the_fields_of_its_state(client: Client) -> None:
    [tool] = (await client.list_tools()).tools
    assert (tool.name, tool.description) == ("orders", "Prices an order, and ships it.")
    assert tool.input_schema["type"] == "object"
    assert tool.input_schema["required"] == ["lines"]
    assert list(tool.input_schema["properties"]) == ["lines", "total", "shipped"]


async def test_a_call_runs_a_thread_and_tells_its_progress(client: Client) -> None:
    told: list[tuple[float, str | None]] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        assert total is None
        told.append((progress, message))

    result = await client.call_tool("orders", one_line("tea", 3), progress_callback=tell)
    assert not result.is_error
    assert result.structured_content == msgspec.json.decode(text_of(result))
    assert result.structured_content["status"] == "completed"
    assert result.structured_content["state"] == {"lines": [{"article": "tea", "pieces": 3}], "total": 3, "shipped": True}
    assert told == [(0.0, "price"), (1.0, "ship")]


async def test_a_thread_that_waits_for_a_person_ends_the_call_and_stays_in_the_store(client: Client, store: MemoryStore) -> None:
    result = await client.call_tool("orders", one_line("tea", 11))
    thread_id = result.structured_content["thread_id"]
    expected = {"status": "interrupted", "thread_id": thread_id, "waiting_at": ["approval"], "waiting_for": "human"}
    assert result.structured_content == expected
    assert not result.is_error
    assert (await Runner(orders, store).thread(thread_id)).state_name == "interrupted"


async def test_a_question_of_a_node_is_in_the_reply(client: Client) -> None:
    result = await client.call_tool("orders", one_line("art", 1))
    told = result.structured_content
    assert (told["status"], told["waiting_at"], told["questions"]) == ("interrupted", ["ship"], ["which price?"])


@pytest.mark.parametrize("name", ["order approval", "order.approval"])
def test_a_name_is_made_one_that_providers_take(name: str) -> None:
    [listed] = served_graph(Runner(orders, MemoryStore()), orders, name=name).listed()
    assert listed.name == "order_approval"


async def test_what_is_wrong_with_the_arguments_is_told(client: Client) -> None:
    absent = await client.call_tool("orders", {})
    deep = await client.call_tool("orders", one_line("tea", 0))
    assert (absent.is_error, text_of(absent)) == (True, "invalid arguments for tool 'orders': argument 'lines' is missing")
    assert deep.is_error
    assert "$.lines[0].pieces" in text_of(deep)


async def test_a_failed_node_is_an_error_that_says_which(client: Client) -> None:
    result = await client.call_tool("orders", one_line("nothing", 1))
    again = await client.call_tool("orders", one_line("tea", 1))
    assert result.is_error
    thread_id = result.structured_content["thread_id"]
    assert result.structured_content == {"status": "failed", "thread_id": thread_id, "node": "price"}
    assert not again.is_error


class Leaving(State):
    """Where a node raises what is no error of a graph."""

    how: str = ""
    where: str = "nowhere"

    def leave(self, here: str) -> Leaving:
        if here == self.where:
            raise {"exit": SystemExit(2), "interrupt": KeyboardInterrupt(), "pause": Pause(), "other": BaseException("other")}[self.how]
        return self


@node
@edge("thread")
async def task(state: Leaving) -> Leaving:
    return state.leave("task")


@node
@edge("group")
def thread(state: Leaving) -> Leaving:
    return state.leave("thread")


async def branch_task(state: Leaving) -> Leaving:
    return state.leave("branch")


def branch_thread(state: Leaving) -> Leaving:
    return state.leave("branch thread")


@parallel(branch_task, branch_thread)
def group(state: Leaving, results: list[Leaving]) -> Leaving:
    return state


leaving = StateGraph(Leaving).start(task).nodes(thread, group).compile(id="leaving", version="1")


@pytest.mark.parametrize("where", ["task", "thread", "branch", "branch thread"])
@pytest.mark.parametrize("how", ["exit", "interrupt", "pause", "other"])
async def test_what_a_node_raises_ends_its_own_call_alone(how: str, where: str) -> None:
    async with Client(server_of(served_graph(Runner(leaving, MemoryStore()), leaving, name="leaving"), name="leaving")) as client:
        result = await client.call_tool("leaving", {"how": how, "where": where})
        again = await client.call_tool("leaving", {})
    assert (result.is_error, text_of(result)) == (True, "tool 'leaving' failed")
    assert again.structured_content["status"] == "completed"


async def test_null_means_the_default_where_null_is_no_value(client: Client) -> None:
    result = await client.call_tool("orders", {"lines": [{"article": "tea", "pieces": None}], "total": None})
    assert result.structured_content["state"] == {"lines": [{"article": "tea", "pieces": 1}], "total": 1, "shipped": True}
    refused = await client.call_tool("orders", {"lines": None})
    assert text_of(refused) == "invalid arguments for tool 'orders': argument 'lines' must be an array"


async def test_another_name_is_no_tool(client: Client) -> None:
    result = await client.call_tool("invoices", {})
    assert (result.is_error, text_of(result)) == (True, "tool 'invoices' was not found")


async def test_a_call_that_is_taken_back_cancels_its_thread() -> None:
    started, ended = anyio.Event(), anyio.Event()
    results: list[str] = []

    def watch(event: RunEvent) -> None:
        if isinstance(event, NodeStarted) and event.node_path == "ship":
            started.set()
        if isinstance(event, RunCompleted):
            results.append(event.outcome)
            ended.set()

    runner = Runner(orders, MemoryStore(), observers=[watch])
    async with Client(server_of(served_graph(runner, orders, name="orders"), name="orders")) as client, anyio.create_task_group() as calls:
        calls.start_soon(client.call_tool, "orders", one_line("far", 1))
        await started.wait()
        calls.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await ended.wait()
    assert results == ["cancelled"]


async def test_a_graph_is_served_over_pipes_with_a_store(tmp_path: Path) -> None:
    (tmp_path / "orders.py").write_text(MODULE)
    async with over_pipes(tmp_path, "mcp", "serve", "orders:orders", "--store", "sqlite:orders.db") as client:
        result = await client.call_tool("orders", {"pieces": 2})
    thread_id = result.structured_content["thread_id"]
    assert result.structured_content == {"status": "completed", "thread_id": thread_id, "state": {"pieces": 2, "total": 6}}
    async with SqliteStore(tmp_path / "orders.db") as store:
        stored = await store.load_latest(thread_id)
    assert stored is not None
    assert stored.checkpoint.status == "completed"


async def test_a_graph_is_served_over_http(tmp_path: Path) -> None:
    (tmp_path / "orders.py").write_text(MODULE)
    async with over_http(tmp_path, "mcp", "serve", "orders:orders", "--name", "price", "--description", "Prices.") as client:
        [tool] = (await client.list_tools()).tools
        result = await client.call_tool("price", {"pieces": 2})
    assert (tool.name, tool.description) == ("price", "Prices.")
    assert result.structured_content["state"] == {"pieces": 2, "total": 6}
