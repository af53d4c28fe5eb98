"""The command line, `strata` or `python -m strata`: one file a command."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from typing import NoReturn


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command that `arguments` (default: the process's own) name, and end the process with its exit code.

    0: fine. 1: it found faults, or the thread refused. 2: it could not do what was asked.
    """
    code = run(sys.argv[1:] if arguments is None else arguments)
    gc.freeze()  # Python looks for garbage once more as it ends, which takes half a second among the syntax trees of 10,000 lines
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """The same, and give the exit code."""
    try:
        from strata.cli.app import answer
    except ModuleNotFoundError as error:
        vendor = (error.name or "").partition(".")[0]
        if vendor not in {"cyclopts", "rich"}:
            raise
        advice = "install strata with its extra `cli`, as in pip install '.[cli]' in a checkout"
        print(f"the command line needs {vendor}, which is not installed: {advice}", file=sys.stderr)
        return 2
    return answer(arguments)
