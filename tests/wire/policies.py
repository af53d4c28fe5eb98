"""Compiles a recorded graph the way its scenario says: with a record after every node, or only where a run stops."""

from __future__ import annotations

import warnings
from typing import Any, TypeAlias

from strata import CompiledGraph, GraphWarning, StateGraph
from strata.graph.builder import Wiring

Builder: TypeAlias = StateGraph[Any] | Wiring[Any, Any, Any]


def compiled(builder: Builder, **options: Any) -> CompiledGraph[Any]:
    """Some of the recorded graphs are such as we warn of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        return builder.compile(**options)


def bounds(builder: Builder, **options: Any) -> CompiledGraph[Any]:
    """With the other engines' default: records only where a run stops."""
    return compiled(builder, durable=False, **options)


def every(builder: Builder, **options: Any) -> CompiledGraph[Any]:
    """With a record after every node."""
    return compiled(builder, **options)
