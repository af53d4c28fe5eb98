"""The names under which mypy knows the surface that the plugin looks at."""

from __future__ import annotations

from typing import Final

STATE: Final = "strata.graph.state.State"
CONTEXT: Final = "strata.graph.context.Context"
NODE: Final = "strata.graph.nodes.Node"
WIRED: Final = "strata.graph.nodes.Wired"
MODIFIER: Final = "strata.graph.marking.Modifier"
NODE_DECORATOR: Final = "strata.graph.decorators.NodeDecorator"
SIGNAL: Final = "strata.graph.answers.Signal"
STATE_GRAPH: Final = "strata.graph.builder.StateGraph"
TOOL_DECORATOR: Final = "strata.tools.declaration.ToolDecorator"
TOOL_CONTEXT: Final = "strata.tools.context.ToolContext"
WIRING: Final = "strata.graph.builder.Wiring"
