"""`python -m bench`: all contenders on all workloads, interleaved, each run in a process of its own; then one table."""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from bench.environments import HERE, SCRIPTS, prepare, prepare_rust
from bench.imports import measure_imports
from bench.machine import measure, shuffled
from bench.table import CONTENDERS, ROWS, Row, print_imports, print_table


def main() -> None:
    options = _options()
    rows = [row for row in ROWS if not options.only or row.name.split()[0] in options.only]
    commands = _commands(options.contenders, rows)
    runs: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for number in range(options.rounds):
        for job in _jobs(rows, commands):
            measured = measure(commands[job])
            runs[job].append(measured)
            print(f"{number + 1}/{options.rounds} {job[0]:10} {job[1]:12} {measured.get('us', measured.get('error'))}", flush=True)
    if rows:
        _keep(runs)
        print()
        print_table(rows, runs)
    if not options.only or "w10" in options.only:
        print_imports(measure_imports([name for name in SCRIPTS if name in options.contenders]))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    words: Callable[[str], list[str]] = lambda text: text.split(",")  # noqa: E731
    parser.add_argument("--rounds", type=int, default=5, help="runs of each function; the table has their medians (default 5)")
    parser.add_argument("--only", type=words, default=[], metavar="w1,w3", help="workloads")
    parser.add_argument("--contenders", type=words, default=list(CONTENDERS), metavar="limit,strata", help="who takes part")
    return parser.parse_args()


def _commands(contenders: Sequence[str], rows: Sequence[Row]) -> dict[tuple[str, str], list[str]]:
    """The command of every (contender, function); several rows may share one."""
    programs: dict[str, list[str] | None] = {name: prepare(name) for name in SCRIPTS if name in contenders}
    normal: list[str] | None = None
    if "rust" in contenders and rows:
        programs["rust"] = prepare_rust()
        if programs["rust"] and any(row.name == "w3n" for row in rows):
            normal = prepare_rust(synchronous_normal=True)
    commands: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for who, function in row.functions.items():
            if (who, function) == ("rust", "w3n"):
                if normal:
                    commands[who, function] = [*normal, "w3"]
            elif program := programs.get(who):
                commands[who, function] = [*program, function]
    return commands


def _jobs(rows: Sequence[Row], commands: dict[tuple[str, str], list[str]]) -> list[tuple[str, str]]:
    """Workload by workload, so that what is compared lies close in time; the contenders of one in random order."""
    ordered: dict[tuple[str, str], None] = {}
    for row in rows:
        for job in shuffled([job for job in row.functions.items() if job in commands]):
            ordered[job] = None
    return list(ordered)


def _keep(runs: dict[tuple[str, str], list[dict[str, Any]]]) -> None:
    folder = HERE / "results"
    folder.mkdir(exist_ok=True)
    lines = [json.dumps({"contender": who, "function": function, **one}) for (who, function), measured in runs.items() for one in measured]
    (folder / f"{time.strftime('%Y-%m-%dT%H%M%S')}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
