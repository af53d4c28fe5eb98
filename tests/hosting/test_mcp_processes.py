"""A server as a process: how it ends, and what it is sent at its pipes that is no message."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from pathlib import Path

import pytest
from mcp.client import Client

from strata.ports import ThreadQuery
from strata.stores.sqlite import SqliteStore
from tests.hosting.processes import http_server, over_wire

MODULE = """
import asyncio
import sys
import threading

from strata import State, StateGraph, node
from strata.tools import strata_tool


class Order(State):
    pieces: int = 0


@node
async def wait(order: Order) -> Order:
    print("waiting")
    sys.stdout.flush()
    await asyncio.Event().wait()
    return order


orders = StateGraph(Order).start(wait).compile(id="orders", version="7")


@strata_tool
def hang(text: str = "") -> str:
    \"\"\"Never ends.\"\"\"
    print("hanging")
    sys.stdout.flush()
    threading.Event().wait()
    return text


@strata_tool(inline=True)
def echo(text: str = "") -> str:
    \"\"\"Says it again.\"\"\"
    return str(text)
"""

UNREADABLE = ((r'"\ud800"', "hex escape"), ("9" * 5000, "number out of range"), ("[" * 200 + "]" * 200, "recursion limit"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(MODULE)
    return tmp_path


async def test_a_line_that_cannot_be_read_is_answered_and_the_next_one_too(folder: Path) -> None:
    async with over_wire(folder, "tools", "serve", "shop") as wire:
        for number, (text, told) in enumerate(UNREADABLE, 1):
            wire.call(number, f'{{"name": "echo", "arguments": {{"text": {text}}}}}')
            error = (await wire.answer(number))["error"]
            assert error["code"] == -32700  # a parse error of JSON-RPC 2.0
            assert error["message"].startswith("the line is no JSON that can be read here: ")
            assert told in error["message"]
        wire.call(10, '{"name": "echo", "arguments": {"text": "tea"}}')
        assert (await wire.answer(10))["result"]["content"][0]["text"] == "tea"


async def test_a_line_without_an_id_is_answered_without_one_and_a_notification_never(folder: Path) -> None:
    async with over_wire(folder, "tools", "serve", "shop") as wire:
        for line, code in (("{", -32700), ("[" * 100_000, -32700), ("[1]", -32600)):
            wire.send(line)
            assert (await wire.answer(None))["error"]["code"] == code
        wire.send(r'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"reason": "\ud800"}}')
        wire.call(1, '{"name": "echo"}')
        assert "result" in await wire.next_answer()


@pytest.mark.parametrize("which", [signal.SIGTERM, signal.SIGINT])
async def test_a_server_that_is_told_to_stop_cancels_its_runs_and_ends(which: signal.Signals, folder: Path) -> None:
    async with over_wire(folder, "mcp", "serve", "shop:orders", "--store", "sqlite:orders.db") as wire:
        wire.call(1, '{"name": "orders", "arguments": {}}')
        assert await wire.printed() == "waiting"
        wire.process.send_signal(which)
        assert await wire.ended() == -which
    async with SqliteStore(folder / "orders.db") as store:
        [thread] = (await store.list_threads(ThreadQuery())).threads
    assert thread.state == "cancelled"


async def test_a_server_of_http_that_is_told_to_stop_waits_for_no_call(folder: Path) -> None:
    started = asyncio.Event()

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        started.set()

    async def call(address: str) -> None:
        with contextlib.suppress(Exception, BaseExceptionGroup):  # its server goes
            async with Client(address) as client:
                await client.call_tool("orders", {}, progress_callback=tell)

    async with http_server(folder, "mcp", "serve", "shop:orders", "--store", "sqlite:orders.db") as (process, address):
        calling = asyncio.create_task(call(address))
        await started.wait()
        process.terminate()
        async with asyncio.timeout(60):
            assert await process.wait() == -signal.SIGTERM
        await calling
    async with SqliteStore(folder / "orders.db") as store:
        [thread] = (await store.list_threads(ThreadQuery())).threads
    assert thread.state == "cancelled"


@pytest.mark.parametrize("called", [True, False])
async def test_no_thread_keeps_a_server_that_is_told_to_stop(called: bool, folder: Path) -> None:
    async with over_wire(folder, "tools", "serve", "shop") as wire:
        if called:
            wire.call(1, '{"name": "hang", "arguments": {}}')
            assert await wire.printed() == "hanging"
        wire.process.send_signal(signal.SIGTERM)
        assert await wire.ended() == -signal.SIGTERM


async def test_a_server_whose_client_leaves_ends_by_itself(folder: Path) -> None:
    async with over_wire(folder, "mcp", "serve", "shop:orders") as wire:
        assert wire.process.stdin is not None
        wire.process.stdin.close()
        assert await wire.ended() == 0
