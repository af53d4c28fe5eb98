"""Servers of the command line as real processes, and the official client that talks to them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters


def over_pipes(folder: Path, *command: str) -> Client:
    """A client that starts `strata COMMAND...` in the folder when it is entered, and ends it."""
    return Client(StdioServerParameters(command=sys.executable, args=["-m", "strata", *command], cwd=folder, env=dict(_environment())))


@contextlib.asynccontextmanager
async def over_http(folder: Path, *command: str) -> AsyncGenerator[Client, None]:
    """A client of `strata COMMAND... --http` at a free port, once it answers."""
    async with http_server(folder, *command) as (_, address), Client(address) as client:
        yield client


@contextlib.asynccontextmanager
async def http_server(folder: Path, *command: str) -> AsyncGenerator[tuple[asyncio.subprocess.Process, str], None]:
    """`strata COMMAND... --http` at a free port, once it answers, and its address."""
    port = _free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "strata", *command, "--http", f"127.0.0.1:{port}", cwd=folder, env=dict(_environment()), stderr=asyncio.subprocess.PIPE
    )
    try:
        await _answers(process, port)
        yield process, f"http://127.0.0.1:{port}/mcp"
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()


class Wire:
    """A server's pipes, for a client that writes what no other would."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    def send(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())

    def call(self, number: int, params: str) -> None:
        """Call a tool."""
        self.send(f'{{"jsonrpc": "2.0", "id": {number}, "method": "tools/call", "params": {params}}}')

    async def answer(self, number: int | None) -> dict[str, Any]:
        """The answer to the request of that id, whatever comes before it."""
        while (answer := await self.next_answer())["id"] != number:
            pass
        return answer

    async def next_answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        async with asyncio.timeout(60):
            while "method" in (answer := json.loads(await self.process.stdout.readline())):
                pass
        found: dict[str, Any] = answer
        return found

    async def printed(self) -> str:
        """A line that code of the server has printed."""
        assert self.process.stderr is not None
        async with asyncio.timeout(60):
            return (await self.process.stderr.readline()).decode().strip()

    async def ended(self) -> int:
        """With what the process ends by itself."""
        async with asyncio.timeout(60):
            return await self.process.wait()


@contextlib.asynccontextmanager
async def over_wire(folder: Path, *command: str) -> AsyncGenerator[Wire, None]:
    """`strata COMMAND...`, once it has greeted."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "strata", *command, cwd=folder, env=dict(_environment()), stdin=pipe, stdout=pipe, stderr=pipe
    )
    wire = Wire(process)
    hello = '{"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}'
    wire.send(f'{{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {hello}}}')
    wire.send('{"jsonrpc": "2.0", "method": "notifications/initialized"}')
    try:
        await wire.answer(0)
        yield wire
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def _environment() -> Mapping[str, str]:
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


async def _answers(process: asyncio.subprocess.Process, port: int) -> None:
    for _ in range(600):
        assert process.returncode is None, f"the server ended with {process.returncode}"
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
            continue
        writer.close()
        await writer.wait_closed()
        return
    raise AssertionError("the server does not listen")
