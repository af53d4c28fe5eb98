"""What else the machine does while something is measured."""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import time
from collections.abc import Sequence
from typing import Any

from bench.environments import HERE

SECONDS = 300
QUIET_SHARE = 0.2
DISTURBED_SHARE = 0.3


def measure(command: Sequence[str]) -> dict[str, Any]:
    """Run one workload in a process of its own; `others` is the share of all cores that other processes used meanwhile."""
    wait_until_quiet()
    busy, used, start = _busy_seconds(), _children_seconds(), time.time()
    measured = _run(command)
    elapsed = time.time() - start
    others = (_busy_seconds() - busy) - (_children_seconds() - used)
    return {**measured, "others": others / (os.cpu_count() or 1) / elapsed}


def wait_until_quiet(*, patience: float = 8.0) -> None:
    """Wait until others leave the machine alone, for `patience` seconds at most."""
    end = time.time() + patience
    while time.time() < end:
        busy, start = _busy_seconds(), time.time()
        time.sleep(0.5)
        if (_busy_seconds() - busy) / (os.cpu_count() or 1) / (time.time() - start) < QUIET_SHARE:
            return


def shuffled(jobs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return random.sample(jobs, len(jobs))


def _run(command: Sequence[str]) -> dict[str, Any]:
    environment = {
        **os.environ,
        "STRATA_BENCH_DATA": str(HERE / "data"),
        "PYTHONPATH": str(HERE),
        "PYTHONHASHSEED": "0",
        "PYTHONWARNINGS": "ignore",
        "LANGSMITH_TRACING": "false",
        "DO_NOT_TRACK": "1",
    }
    try:
        done = subprocess.run(list(command), capture_output=True, text=True, timeout=SECONDS, env=environment, check=False)
    except subprocess.TimeoutExpired:
        return {"error": f"not done after {SECONDS} s"}
    for line in reversed(done.stdout.splitlines()):
        if line.startswith("RESULT "):
            measured: dict[str, Any] = json.loads(line.removeprefix("RESULT "))
            return measured
    return {"error": (done.stderr or done.stdout).strip()[-400:]}


def _busy_seconds() -> float:
    """Processor seconds of all processes since the start of the machine, waiting left out."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, interrupts, soft, stolen = [int(word) for word in file.readline().split()[1:9]]
    return (user + nice + system + interrupts + soft + stolen) / os.sysconf("SC_CLK_TCK")


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
