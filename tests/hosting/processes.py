"""Servers of the command line as real processes, and the official client that talks to them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

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
