"""Time, ids and chance, in one place that tests can replace."""

from __future__ import annotations

import asyncio
import os
import time as system
from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    """A callback that is due later."""

    def cancel(self) -> None: ...


class Clock(Protocol):
    """What the engine asks of the world's time. `strata.testing` has one that a test moves by hand."""

    def time(self) -> float:
        """Seconds since 1970, UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        ...

    def call_later(self, seconds: float, callback: Callable[[], object], /) -> Timer:
        """Call `callback` on the running loop after `seconds`."""
        ...

    async def sleep(self, seconds: float, /) -> None: ...

    def random(self) -> float:
        """A number in [0, 1), for jitter."""
        ...

    def new_id(self) -> str:
        """A fresh run id: a UUID of version 7."""
        ...


class SystemClock:
    """The machine's clock and the running asyncio loop's timers."""

    time = staticmethod(system.time)
    monotonic = staticmethod(system.monotonic)

    def call_later(self, seconds: float, callback: Callable[[], object], /) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, callback)

    async def sleep(self, seconds: float, /) -> None:
        await asyncio.sleep(seconds)

    def random(self) -> float:
        from random import random  # 3 ms to import, and only jitter asks for it

        return random()

    def new_id(self) -> str:
        stamp = system.time_ns() // 1_000_000
        value = (stamp & 0xFFFF_FFFF_FFFF) << 80 | int.from_bytes(os.urandom(10))
        value = value & ~(0xF << 76) | 0x7 << 76
        value = value & ~(0x3 << 62) | 0x2 << 62
        text = f"{value:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


SYSTEM = SystemClock()
