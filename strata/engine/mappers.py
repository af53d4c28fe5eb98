"""Calling the pure functions with which states pass between a node and what runs inside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from strata.engine.plan import NodePlan
from strata.errors import MapperFailed

R = TypeVar("R")


def mapped(node: NodePlan, mapper: str, function: Callable[..., R], *arguments: object) -> R:
    """What the function gives; `mapper` is what texts call it.

    Raises:
        MapperFailed: it raised.
    """
    try:
        return function(*arguments)
    except Exception as error:
        raise MapperFailed(node.name, mapper, error) from error
