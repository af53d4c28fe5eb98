"""`strata graph view`: draw a graph."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from strata.cli import terminal
from strata.cli.parameters import Target
from strata.cli.targets import definition_of, facts_of, graph_named
from strata.graph import drawing


def graph_view(target: Target, /, *, mermaid: Annotated[bool, Parameter(negative="", help="Print a Mermaid flowchart.")] = False) -> int:
    """Draw a graph for the terminal, or as a Mermaid flowchart. A graph with faults is drawn too."""
    graph = graph_named(target)
    draw = drawing.mermaid if mermaid else drawing.terminal
    terminal.show_lines(draw(definition_of(graph), facts_of(graph)))
    return 0
