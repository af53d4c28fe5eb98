# mypy: allow-untyped-defs, allow-incomplete-defs
"""What `@strata_tool` refuses when the module is imported, so that this one cannot be; and what it takes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Annotated, NewType, Optional, ParamSpec, TypeVar

import strata
from strata import Context, ToolContext, strata_tool
from strata import strata_tool as a_tool

P = ParamSpec("P")
R = TypeVar("R")
Cents = NewType("Cents", int)
Tree = dict[str, "Tree"] | int


class Call(ToolContext, frozen=True, kw_only=True):
    desk: int = 0


# Parameters


@strata_tool
def untyped(order: str, cents) -> str:  # E: tool 'untyped': its parameter 'cents' has no annotation, so a model cannot be told [strata-tool-invalid]
    """Refund it."""
    return order


@a_tool("orders.list")
async def positions(
    order: str,
    *orders: str,  # E: tool 'orders.list': its parameter '*orders' has no place among named arguments [strata-tool-invalid]
) -> str:
    """List them."""
    return order


@strata.strata_tool(description="List them.")
def named(**orders: str) -> str:  # E: tool 'named': its parameter '**orders' names no arguments [strata-tool-invalid]
    return ""


@strata_tool()
def first(order: str, /, cents: int) -> str:  # E: tool 'first': its parameter 'order' is positional only [strata-tool-invalid]
    """Refund it."""
    return order


class Desk:
    @strata_tool
    def refund(self, order: str) -> str:  # E: tool 'refund': it is a method: make a tool of the bound one, strata_tool(instance.method) [strata-tool-invalid]
        """Refund it."""
        return order


# Types


@strata_tool
def strange(
    price: Callable[[int], int],  # E: tool 'strange': its argument 'price': functions and other live objects cannot be stored [strata-tool-invalid]
    orders: Iterator[str],  # E: tool 'strange': its argument 'orders': Iterator does not come back from JSON [strata-tool-invalid]
    *,
    by: dict[str, deque[int]],  # E: tool 'strange': its argument 'by{}': deque does not come back from JSON: use list [strata-tool-invalid]
    kind: list[type[int]] | None = None,  # E: tool 'strange': its argument 'kind[]': type does not come back from JSON [strata-tool-invalid]
) -> str:
    """Refund them."""
    return ""


# Contexts


@strata_tool
def two(order: str, ctx: ToolContext, more: Context) -> str:  # E: tool 'two': its parameters 'ctx' and 'more' are both annotated [strata-tool-invalid]
    """Refund it."""
    return order


@strata_tool
def in_unions(
    ctx: Annotated[Call, "of this call"],
    more: Optional[Context] = None,  # E: tool 'in_unions': its parameters 'ctx' and 'more' are both annotated as the context [strata-tool-invalid]
) -> str:
    """Refund it."""
    return ""


# Descriptions


@strata_tool  # E: tool 'silent': it has no description for the model: write a docstring, or give description= [strata-tool-invalid]
def silent(order: str) -> str:
    return order


@strata_tool("blank", description=None)  # E: tool 'blank': it has no description for the model [strata-tool-invalid]
def blank(order: str) -> str:
    """   """
    return order


def of_shop(shop: str) -> object:
    for _ in range(3):

        @strata_tool
        def inner(*orders: str) -> str:  # E: tool 'inner': its parameter '*orders' has no place among named arguments [strata-tool-invalid]
            """Refund them."""
            return shop

        print(inner)

    @strata_tool
    def ignored(*orders: str) -> str:  # type: ignore[strata-tool-invalid]
        """Refund them."""
        return shop

    return ignored


# What is right, or not known


def traced(inner: Callable[P, R]) -> Callable[P, R]:
    @wraps(inner)
    def outer(*args: P.args, **options: P.kwargs) -> R:
        return inner(*args, **options)

    return outer


@strata_tool
def right(order: str, cents: Cents = Cents(3), *, note: str | None = None, ctx: ToolContext) -> str:
    """Refund it."""
    return order


@strata_tool
@traced
def wrapped(order: str) -> str:
    """Refund it."""
    return order


@strata_tool(description="")
def nothing(__order: str) -> None: ...


method = strata_tool(Desk().refund)
