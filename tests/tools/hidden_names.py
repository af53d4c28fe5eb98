"""Tools whose annotations are text, and name what only checkers import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strata.tools import ToolContext


def looks(order_id: str, ctx: Annotated[ToolContext, "of the call"], tags: list[str] | None = None) -> Mapping[str, int]:
    """Looks."""
    return {}


def asks(order_id: str, options: Mapping[str, int]) -> None:
    """Asks."""
