"""The rows of the table, their goals, and how they are printed."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bench.imports import Cost
from bench.machine import DISTURBED_SHARE

CONTENDERS = ("limit", "strata", "rust", "langgraph", "burr")
IMPORT_RATIO, IMPORT_MEGABYTES = 1.25, 3.0


class Row(NamedTuple):
    """A workload: what it is, the goal as a multiple of the limit, whether Rust is to be beaten, and each contender's function."""

    name: str
    unit: str
    goal: float
    beats_rust: bool
    functions: Mapping[str, str]


def _row(name: str, unit: str, goal: float, *, beats_rust: bool = True, peers: str | None = None, **own: str) -> Row:
    """`peers` is the function of all who have no `own` one."""
    functions = {who: own.get(who, peers or name) for who in CONTENDERS}
    return Row(name, unit, goal, beats_rust, {who: function for who, function in functions.items() if function})


ROWS = (
    _row("w1", "us/hop", 8.0, beats_rust=False),
    _row("w1s", "us/hop", 12.0, beats_rust=False),
    _row("w2", "us/hop", 2.2),
    _row("w2 full", "us/hop", 4.0, peers="w2", strata="w2__full"),
    _row("w3", "us/hop", 1.25),
    _row("w3n", "us/hop", 1.4),
    _row("w6", "us/task", 2.0, beats_rust=False, rust="", burr=""),
    _row("w6 map", "us/task", 2.0, beats_rust=False, peers="w6", strata="w6__map", rust="", burr=""),
    _row("w7", "us/step", 1.8),
    _row("w9", "us/resume", 1.5),
    _row("w9 durable", "us/resume", 1.3, peers="w9", limit="w9__durable", strata="w9__durable", rust="w9__durable"),
)

Runs = Mapping[tuple[str, str], Sequence[Mapping[str, Any]]]


def print_table(rows: Sequence[Row], runs: Runs) -> None:
    """`runs` holds what each (contender, function) measured, round by round."""
    lines = [["workload", *CONTENDERS, "strata / limit", "goal", "strata / rust", "verdict"]]
    lines += [_line(row, {who: _median(runs.get((who, function), ())) for who, function in row.functions.items()}) for row in rows]
    _print(lines)
    for fault in _faults(runs):
        print(fault)


def print_imports(costs: Mapping[str, Cost]) -> None:
    limit, ours = costs.get("limit"), costs.get("strata")
    if limit is None or ours is None:
        return
    lines = [["w10 import", "ms", "RSS MB", "ms / limit", "MB more", "verdict"]]
    for name, cost in costs.items():
        ratio, more = cost.milliseconds / limit.milliseconds, cost.megabytes - limit.megabytes
        verdict = _verdict(ratio <= IMPORT_RATIO and more <= IMPORT_MEGABYTES) if name == "strata" else ""
        lines.append([name, f"{cost.milliseconds:.0f}", f"{cost.megabytes:.1f}", f"{ratio:.2f}x", f"{more:+.1f}", verdict])
    print()
    _print(lines)


def _line(row: Row, medians: Mapping[str, float | None]) -> list[str]:
    limit, ours, rust = medians.get("limit"), medians.get("strata"), medians.get("rust")
    to_limit = ours / limit if ours and limit else None
    to_rust = ours / rust if ours and rust else None
    met = to_limit is not None and to_limit <= row.goal and not (row.beats_rust and to_rust is not None and to_rust >= 1)
    goal = f"{row.goal:g}x" + (", ahead of rust" if row.beats_rust else "")
    verdict = _verdict(met) if to_limit is not None else ""
    return [f"{row.name} {row.unit}", *(_figure(medians.get(who)) for who in CONTENDERS), _ratio(to_limit), goal, _ratio(to_rust), verdict]


def _median(measured: Sequence[Mapping[str, Any]]) -> float | None:
    figures = [float(one["us"]) for one in measured if "us" in one]
    return statistics.median(figures) if figures else None


def _faults(runs: Runs) -> list[str]:
    lines = [f"{who} {function}: {one['error']}" for (who, function), measured in runs.items() for one in measured[:1] if "error" in one]
    shares = [float(one["others"]) for measured in runs.values() for one in measured]
    disturbed = sum(share > DISTURBED_SHARE for share in shares)
    if disturbed:
        lines.append(f"{disturbed} of {len(shares)} runs were disturbed by other processes: mind the ratios")
    return lines


def _figure(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}x"


def _verdict(met: bool) -> str:
    return "met" if met else "MISSED"


def _print(lines: Sequence[Sequence[str]]) -> None:
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for number, line in enumerate(lines):
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))
