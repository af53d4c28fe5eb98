"""A graph from `module:graph`."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from types import ModuleType
from typing import Any, TypeAlias, TypeGuard

from strata.cli.faults import CannotDo
from strata.cli.modules import module_named, what_it_is
from strata.graph.builder import Drawn
from strata.graph.compiled import CompiledGraph

Graph: TypeAlias = CompiledGraph[Any] | Drawn
"""What a module may hold: what `compile()` gave, or a graph that is not compiled."""


def import_graph(reference: str) -> Graph:
    """The graph that `module:graph` names; the current folder is searched first.

    Raises:
        CannotDo: there is no such module, importing it raised, or it holds no such graph.
        GraphInvalid: the module compiles a graph as it is imported, and that graph has errors.
    """
    module_name, _, attribute = reference.rpartition(":")
    if not module_name or not attribute:
        raise CannotDo(f"'{reference}' does not name a graph", hint="write module:graph, as in orders:orders")
    return _graph_of(module_named(module_name), attribute)


def import_compiled(reference: str) -> CompiledGraph[Any]:
    """The same, where only a graph that was compiled will do.

    Raises:
        CannotDo, GraphInvalid: see `import_graph`; and CannotDo where the graph is not compiled.
    """
    graph = import_graph(reference)
    if not isinstance(graph, CompiledGraph):
        raise CannotDo(f"the graph '{reference}' is not compiled", hint="name what compile() gave")
    return graph


def _graph_of(module: ModuleType, attribute: str) -> Graph:
    names = list(_graphs_in(module))
    known = f"its graphs are: {', '.join(names)}" if names else "it holds no graph at all"
    if not hasattr(module, attribute):
        near = get_close_matches(attribute, names, 1) or get_close_matches(attribute, list(vars(module)), 1)
        meant = f"; did you mean '{near[0]}'?" if near else ""
        raise CannotDo(f"the module '{module.__name__}' has no '{attribute}'{meant}", hint=known)
    value: object = getattr(module, attribute)
    if not _is_graph(value):
        raise CannotDo(f"'{attribute}' of the module '{module.__name__}' is {what_it_is(value)}, not a graph", hint=known)
    return value


def _graphs_in(module: ModuleType) -> Iterator[str]:
    for name, value in vars(module).items():
        if _is_graph(value):
            yield name


def _is_graph(value: object) -> TypeGuard[Graph]:
    return isinstance(value, CompiledGraph | Drawn)
