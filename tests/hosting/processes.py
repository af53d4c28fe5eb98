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
    port = _free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "strata", *command, "--http", f"127.0.0.1:{port}", cwd=folder, env=dict(_environment()), stderr=asyncio.subprocess.PIPE
    )
    try:
        await _answers(process, port)
        async with Client(f"http://127.0.0.1:{port}/mcp") as client:
            yield client
    finally:
        process.terminate()
        await process.communicate()


async def answer_to(call: str, folder: Path, *command: str) -> dict[str, Any]:
    """What `strata COMMAND...` answers to a tool call whose JSON no client would write."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "strata", *command, cwd=folder, env=dict(_environment()), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    hello = '{"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}'
    process.stdin.write(f'{{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {hello}}}\n'.encode())
    process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    process.stdin.write(f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {call}}}\n'.encode())
    try:
        async with asyncio.timeout(60):
            while (answer := json.loads(await process.stdout.readline())).get("id") != 1:
                pass
    finally:
        process.stdin.close()
        await process.communicate()
    result: dict[str, Any] = answer["result"]
    return result


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
