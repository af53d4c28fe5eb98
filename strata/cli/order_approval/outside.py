"""What lies outside of the graph: a bank, and a journal that every node writes to."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Ran(NamedTuple):
    """A node that ran, committed or not."""

    process: int
    node: str
    hop: int


class Journal:
    """A side file: nodes append a line when they run, whatever becomes of them, and so it tells what ran twice."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def note(self, node: str, *, hop: int) -> None:
        _append(self.path, f"{os.getpid()} {node} {hop}")
        print(f"ran {node}", flush=True)

    def entries(self) -> Iterator[Ran]:
        for line in _lines(self.path):
            process, node, hop = line.split()
            yield Ran(int(process), node, int(hop))


class Bank:
    """Takes money once for each key, as payment services do. A slow one never says that it has."""

    def __init__(self, path: Path, *, is_slow: bool = False) -> None:
        self.path, self.is_slow = path, is_slow

    async def charge(self, amount: int, *, key: str) -> None:
        if any(line.split(" ", 1)[1] == key for line in self.charges()):
            print(f"bank knows {key} already, and takes nothing", flush=True)
        else:
            _append(self.path, f"{amount} {key}")
            print(f"bank takes {amount} for {key}", flush=True)
        if self.is_slow:
            await asyncio.Event().wait()

    def charges(self) -> list[str]:
        return _lines(self.path)


def _append(path: Path, line: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
        file.flush()
        os.fsync(file.fileno())


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []
