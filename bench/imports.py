"""W10: what `import` costs in time and memory, less a bare interpreter, in environments that hold nothing else."""

from __future__ import annotations

import os
import random
import statistics
import subprocess
from typing import NamedTuple

from bench.environments import prepare, python_of

STATEMENTS = {
    "limit": "import msgspec, asyncio, sqlite3",
    "strata": "from strata import State, StateGraph, Runner, node",
    "burr": "from burr.core import ApplicationBuilder, State, action",
    "langgraph": "from langgraph.graph import StateGraph",
}
PROGRAM = (
    "import time, resource; start = time.perf_counter(); {statement}; end = time.perf_counter(); "
    "print((end - start) * 1e3, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
)


class Cost(NamedTuple):
    milliseconds: float
    megabytes: float


def measure_imports(names: list[str], *, rounds: int = 9) -> dict[str, Cost]:
    """The medians of interleaved starts; the first one of each, which compiles and pages in, is not counted."""
    for name in names:
        prepare(name)
        _import(name)
    seen: dict[str, list[Cost]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in random.sample(names, len(names)):
            seen[name].append(_import(name))
    return {name: Cost(*(statistics.median(column) for column in zip(*costs, strict=True))) for name, costs in seen.items()}


def _import(name: str) -> Cost:
    program = PROGRAM.format(statement=STATEMENTS[name])
    # an editable install has no bytecode until an import writes it, and pip has compiled the others
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    command = [str(python_of(name)), "-W", "ignore", "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    milliseconds, megabytes = done.stdout.split()[-2:]
    return Cost(float(milliseconds), float(megabytes))
