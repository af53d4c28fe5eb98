"""What every contender shares: sizes, messages, timers and its command line. Standard library only: each runs in an environment of its own."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HOPS = 1_000  # of a run that is not stored on disk
DURABLE_HOPS = 300
FAN = 1_000  # tasks at once, and their join
THREADS = 200  # runs at once, of THREAD_HOPS each
THREAD_HOPS = 50
RESUMES = 30
WARM_RESUMES = 5

SMALL, SMALL_TEXT = 20, 18  # messages of about 51 bytes: 1 KB of state
BIG, BIG_TEXT = 800, 95  # messages of about 128 bytes: 100 KB

DATA = Path(os.environ.get("STRATA_BENCH_DATA", "data"))

Result = dict[str, Any]


def role(number: int) -> str:
    return "user" if number % 2 else "assistant"


def content(number: int, length: int = SMALL_TEXT) -> str:
    return f"{number:06d} " + "x" * (length - 7)


def message(number: int, length: int = SMALL_TEXT) -> dict[str, str]:
    return {"role": role(number), "content": content(number, length)}


def messages(count: int = SMALL, length: int = SMALL_TEXT) -> list[dict[str, str]]:
    return [message(number, length) for number in range(count)]


def turn(old: list[dict[str, str]], count: int) -> list[dict[str, str]]:
    """The work of one durable hop: the oldest message goes, a new one comes, so no store can skip what has not changed."""
    return [*old[1:], message(count)]


@contextmanager
def database() -> Generator[str]:
    """The path of a new database file on the disk under test."""
    DATA.mkdir(parents=True, exist_ok=True)
    folder = tempfile.mkdtemp(dir=DATA)
    try:
        yield os.path.join(folder, "bench.sqlite")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def result(seconds: list[float], units: int) -> Result:
    """Microseconds for one of the `units` (hops, steps, resumes) of a run: the median of the runs and the best of them."""
    return {"us": statistics.median(seconds) / units * 1e6, "best_us": min(seconds) / units * 1e6, "runs": len(seconds)}


async def timed(run: Callable[[int], Awaitable[None]], units: int, *, runs: int = 5, warm: int = 1) -> Result:
    """`run` does the whole work once, and checks its own outcome."""
    seconds: list[float] = []
    for number in range(warm + runs):
        start = time.perf_counter()
        await run(number)
        seconds.append(time.perf_counter() - start)
    return result(seconds[warm:], units)


def timed_sync(run: Callable[[int], None], units: int, *, runs: int = 5, warm: int = 1) -> Result:
    seconds: list[float] = []
    for number in range(warm + runs):
        start = time.perf_counter()
        run(number)
        seconds.append(time.perf_counter() - start)
    return result(seconds[warm:], units)


def main(contender: dict[str, Any]) -> None:
    """`python limit.py w3` runs that function of the contender and prints its result as one line."""
    measured = contender[sys.argv[1]]()
    if asyncio.iscoroutine(measured):
        measured = asyncio.run(measured)
    measured["rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print("RESULT " + json.dumps(measured), flush=True)
    os._exit(0)  # some contenders leave threads behind that would hold the process
