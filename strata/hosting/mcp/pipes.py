"""A server whose one client is at the process's stdin and stdout."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, Final, Self, cast

import mcp_types as protocol
from anyio import AsyncFile, CancelScope, EndOfStream
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from strata.hosting.mcp.lines import stdin_lines

ENDING: Final = (signal.SIGTERM, signal.SIGINT)
LONGEST_ID: Final = 20
"""Digits of a number that is taken for the id of a request; Python takes long over a million."""


async def serve_pipes(server: Server[Any]) -> signal.Signals | None:
    """Serve until the client closes stdin, or the process is told to stop; what code prints meanwhile goes to stderr.

    Returns the signal that told it to. The calls that ran were cancelled then, and have ended; a second signal ends the process at once.
    """
    told: list[signal.Signals] = []
    with CancelScope() as scope, _until_told(told, scope.cancel), stdin_lines() as lines:
        async with stdio_server(stdin=cast("AsyncFile[str]", lines)) as (requests, answers):
            await server.run(_Understood(requests, answers), answers, server.create_initialization_options())
    return told[0] if told else None


@contextmanager
def _until_told(told: list[signal.Signals], stop: Callable[[], object]) -> Generator[None]:
    loop = asyncio.get_running_loop()

    def heard(which: signal.Signals) -> None:
        told.append(which)
        forget()
        stop()

    def forget() -> None:
        for one in ENDING:
            loop.remove_signal_handler(one)

    with suppress(NotImplementedError, RuntimeError, ValueError):  # no main thread, or a system without such signals
        for one in ENDING:
            loop.add_signal_handler(one, heard, one)
    try:
        yield
    finally:
        with suppress(NotImplementedError):
            forget()


class _Understood:
    """The client's messages. A line that is none is answered here: the package would drop it, and the client wait for ever."""

    def __init__(self, requests: Any, answers: Any) -> None:
        self._requests = requests
        self._answers = answers

    @property
    def last_context(self) -> Any:
        return self._requests.last_context

    async def receive(self) -> SessionMessage:
        while isinstance(item := await self._requests.receive(), Exception):
            if (answer := answer_to(item)) is not None:
                await self._answers.send(SessionMessage(answer))
        return cast("SessionMessage", item)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        await self._requests.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None) -> None:
        await self.aclose()


def answer_to(fault: Exception) -> protocol.JSONRPCError | None:
    """What is said of a line that is no message; nothing where it is no request, which are all that is answered."""
    if not isinstance(fault, ValidationError):
        return None
    first = fault.errors(include_url=False)[0]
    if first["type"] != "json_invalid":
        return _error(protocol.INVALID_REQUEST, None, "the line is no message of JSON-RPC 2.0")
    found = _read_loosely(str(first["input"]))
    if found is not None and "id" not in found:
        return None
    asked = None if found is None else found["id"]
    return _error(protocol.PARSE_ERROR, asked if isinstance(asked, str | int) else None, f"the line is no JSON that can be read here: {first['msg']}")


def _read_loosely(line: str) -> dict[str, Any] | None:
    """As Python reads it, which takes more for JSON: for the id of the request alone."""
    try:
        found = json.loads(line, parse_int=lambda digits: int(digits) if len(digits) <= LONGEST_ID else None)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def _error(code: int, asked: str | int | None, message: str) -> protocol.JSONRPCError:
    return protocol.JSONRPCError(jsonrpc="2.0", id=asked, error=protocol.ErrorData(code=code, message=message))
