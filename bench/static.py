"""`python -m bench.static`: how long `strata check` takes for 300 nodes, beyond starting Python and reading its arguments."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

NODES = 300
ROUNDS = 15

OPENING = """\
from strata import State, StateGraph, edge, node, when


class Count(State):
    count: int = 0


def is_high(state: Count) -> bool:
    return state.count > 100
"""

NODE = """

@node
@when(is_high, to="n{last}")
@edge("n{next}")
def n{at}(state: Count) -> Count:
    return state.replace(count=state.count + {at})
"""

END = """

@node
def n{last}(state: Count) -> Count:
    return state


graph = StateGraph(Count).start(n0).nodes({rest}).compile()
"""


def main() -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "graph.py").write_text(_graph(), encoding="utf-8")
        (folder / "empty.py").write_text("import strata\n", encoding="utf-8")
        commands = {"start and arguments": ["--version"], "an empty file": ["check", "empty.py"], f"{NODES} nodes": ["check", "graph.py"]}
        taken: dict[str, list[float]] = {what: [] for what in commands}
        for number in range(ROUNDS + 1):
            for what, arguments in commands.items():
                seconds = _seconds(arguments, folder)
                if number:  # the first round compiles and pages in
                    taken[what].append(seconds)
    medians = {what: statistics.median(seconds) for what, seconds in taken.items()}
    for what, median in medians.items():
        print(f"{what:20} {median * 1000:6.0f} ms   {(median - medians['start and arguments']) * 1000:+5.0f} ms")


def _graph() -> str:
    last = NODES - 1
    nodes = "".join(NODE.format(at=at, next=at + 1, last=last) for at in range(last))
    return OPENING + nodes + END.format(last=last, rest=", ".join(f"n{at}" for at in range(1, NODES)))


def _seconds(arguments: list[str], folder: Path) -> float:
    """Of a processor: what a clock on the wall says of a shared machine drifts by half."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = str(Path(__file__).parents[1])
    before = os.times()
    subprocess.run([sys.executable, "-m", "strata", *arguments], cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


if __name__ == "__main__":
    main()
