"""What a client writes to the process's stdin, line by line, so that whoever waits for a line can leave."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager, suppress
from typing import Final

STDIN: Final = 0


@contextmanager
def stdin_lines() -> Generator[AsyncIterator[str]]:
    """The lines, from a thread that no end of the process waits for. Whatever else reads stdin meanwhile finds it at its end."""
    wire, nothing = os.dup(STDIN), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, STDIN)
    os.close(nothing)
    lines = _Lines(wire)
    try:
        yield lines
    finally:
        os.dup2(wire, STDIN)  # the descriptor itself stays open: the thread may still stand in it


class _Lines:
    def __init__(self, wire: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._read: asyncio.Queue[str | None] = asyncio.Queue(maxsize=1)
        threading.Thread(target=self._take, args=(wire,), name="strata-stdin", daemon=True).start()

    def __aiter__(self) -> AsyncIterator[str]:
        return self

    async def __anext__(self) -> str:
        line = await self._read.get()
        if line is None:
            raise StopAsyncIteration
        return line

    def _take(self, wire: int) -> None:
        with suppress(RuntimeError), os.fdopen(wire, encoding="utf-8", errors="replace", closefd=False) as written:  # RuntimeError: no loop any more
            for line in written:
                self._put(line)
            self._put(None)

    def _put(self, line: str | None) -> None:
        asyncio.run_coroutine_threadsafe(self._read.put(line), self._loop).result()
