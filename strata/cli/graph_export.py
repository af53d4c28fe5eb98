"""`strata graph export`: write a graph's definition, and the schemas of its states beside it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from strata.cli.described import described
from strata.cli.faults import CannotDo
from strata.cli.parameters import Target
from strata.cli.targets import states_file
from strata.graph.changes.pair import Described


def graph_export(
    target: Target,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"], help="The file to write; by default the terminal.")] = None,
    states: Annotated[bool, Parameter(negative="", help="Write the JSON Schemas of the states instead of the definition.")] = False,
) -> int:
    """Write the definition of a graph as every engine writes it: the same graph gives the same bytes.

    Beside the file that is written, FILE.states.json gets the JSON Schemas of the states, for strata graph diff.
    """
    graph = described(target)
    data = _schemas_in(graph, target) if states else graph.definition.to_json()
    if output is None:
        sys.stdout.buffer.write(data + (b"\n" if sys.stdout.isatty() else b""))
        return 0
    _write(output, data)
    if not states and output.is_file():  # a device or a pipe has nothing beside it
        _write_beside(output, graph)
    return 0


def _schemas_in(graph: Described, target: str) -> bytes:
    if graph.states is None:
        raise CannotDo(f"'{target}' says nothing of its states", hint=f"they are in {states_file(Path(target)).name}, or in the code: module:graph")
    return graph.states.to_json()


def _write_beside(output: Path, graph: Described) -> None:
    """What lay there was of another export: nothing is better than the schemas of other states."""
    beside = states_file(output)
    if graph.states is not None:
        _write(beside, graph.states.to_json())
    elif beside.exists():
        beside.unlink()


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise CannotDo(f"'{path}' cannot be written: {error.strerror}") from error
