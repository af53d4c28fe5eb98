"""`python -m bench.generating`: how long `strata tools generate` takes for 300 tools in 10,000 lines."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

TOOLS = 300
LINES = 10_000
MODULES = 10
ROUNDS = 7

OPENING = """\
from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal

from msgspec import Meta, Struct

from strata import ToolContext, strata_tool
"""

CLASS = '''

class Item{number}(Struct, frozen=True):
    """What is looked for."""

    sku: str
    quantity: Annotated[int, Meta(ge=1, le=99)] = 1
    kind: Literal["part", "whole"] = "part"
    tags: list[str] = []
'''

TOOL = '''

@strata_tool
async def tool_{number}(
    query: Annotated[str, "What to look for"],
    item: Item{item} | None = None,
    since: dt.date | None = None,
    limit: int = 10,
    *,
    context: ToolContext,
) -> list[str]:
    """Search number {number}.

    Args:
        item: Which of them.
        limit: How many, at most.
    """
'''

BODY = '    text = f"{query}:{limit}" if item is None else item.sku.upper()\n'


def many_tools(folder: Path, *, tools: int = TOOLS, lines: int = LINES) -> None:
    """Write modules with so many tools, and a class for every third, whose functions are so long that all have about so many lines."""
    each = tools // MODULES
    spare = lines // tools - TOOL.count("\n") - CLASS.count("\n") // 3 - 1
    folder.mkdir()
    for module in range(MODULES):
        text = OPENING
        for number in range(module * each, (module + 1) * each):
            text += CLASS.format(number=number) if number % 3 == 0 else ""
            text += TOOL.format(number=number, item=number - number % 3) + BODY * spare + "    return []\n"
        (folder / f"tools_{module}.py").write_text(text, encoding="utf-8")


def main() -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        many_tools(folder / "src")
        taken = [_seconds(folder) for _ in range(ROUNDS + 1)][1:]  # the first round compiles and pages in
    walls, processors = zip(*taken, strict=True)
    print(f"{TOOLS} tools in {LINES} lines: {statistics.median(processors):.2f} s of a processor, {min(walls):.2f} s at best")


def _seconds(folder: Path) -> tuple[float, float]:
    """On the wall, which drifts on a shared machine, and of a processor."""
    command = [sys.executable, "-m", "strata", "tools", "generate", "src", "--out", "made"]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = str(Path(__file__).parents[1])
    before, started = os.times(), time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    wall = time.perf_counter() - started
    return wall, after.children_user + after.children_system - before.children_user - before.children_system


if __name__ == "__main__":
    main()
