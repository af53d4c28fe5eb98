"""`strata graph export`: write a graph's definition."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from strata.cli.faults import CannotDo
from strata.cli.parameters import Target
from strata.cli.targets import definition_of, graph_named


def graph_export(
    target: Target,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"], help="The file to write; by default the terminal.")] = None,
) -> int:
    """Write the definition of a graph as every engine writes it: the same graph gives the same bytes."""
    data = definition_of(graph_named(target)).to_json()
    if output is None:
        sys.stdout.buffer.write(data + (b"\n" if sys.stdout.isatty() else b""))
        return 0
    try:
        output.write_bytes(data)
    except OSError as error:
        raise CannotDo(f"'{output}' cannot be written: {error.strerror}") from error
    return 0
