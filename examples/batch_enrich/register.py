"""A register of companies that is paid by the question, and gives the same answer to the same key for nothing."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

CITIES = {"acme": "Oslo", "borealis": "Bergen", "cirrus": "Bodø", "delta": "Molde", "ember": "Narvik", "fjord": "Alta"}


class Register:
    """Keeps its bills in a file, as it is elsewhere and outlives the process. `lives` is for the story: questions until the kill."""

    def __init__(self, bills: Path, *, lives: int | None = None) -> None:
        self.bills, self._lives = bills, lives

    async def city_of(self, name: str, *, key: str) -> str:
        await asyncio.sleep(0.01)
        if key not in self.paid():
            if self._lives is not None and len(self.paid()) == self._lives:
                os.kill(os.getpid(), signal.SIGKILL)
            with self.bills.open("a", encoding="utf-8") as bills:
                bills.write(f"{key}\n")
        if name not in CITIES:
            raise LookupError(f"no company is called {name}")
        return CITIES[name]

    def paid(self) -> list[str]:
        return self.bills.read_text(encoding="utf-8").splitlines() if self.bills.exists() else []
