"""The order in which a definition has its routes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def in_node_order(marked: Iterable[str], nodes: Mapping[str, object]) -> list[str]:
    """Names in node order; those that are no node come last, in byte order (strata-graph.md 4.1)."""
    names = set(marked)
    return [*(name for name in nodes if name in names), *sorted(names - nodes.keys())]
