"""The quote: three sellers are asked at once, the best price is chosen. The graphs that the recorded quotes were written by."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias, Unpack

from strata import Context, FatalError, Join, Outcomes, State, StateGraph, TransientError, branch
from strata.graph.fanout_decorators import GroupOptions


class Quote(State):
    item: str = "desk"
    prices: list[int] = []  # noqa: RUF012 (msgspec copies it)
    best: int | None = None
    report: list[str] = []  # noqa: RUF012 (msgspec copies it)


Seller: TypeAlias = Callable[[Quote, Context], Coroutine[Any, Any, Quote]]


def price(amount: int, *, after: float = 0) -> Seller:
    """Says a price after so many milliseconds."""

    async def offer(quote: Quote, ctx: Context) -> Quote:
        await _wait(ctx, after)
        return quote.replace(prices=[*quote.prices, amount])

    return offer


def fatal(*, after: float = 0) -> Seller:
    """Fails for good after so many milliseconds."""

    async def closed(quote: Quote, ctx: Context) -> Quote:
        await _wait(ctx, after)
        raise FatalError(f"{ctx.node} is closed")

    return closed


def transient(*, after: float = 0) -> Seller:
    """Fails for now after so many milliseconds."""

    async def busy(quote: Quote, ctx: Context) -> Quote:
        await _wait(ctx, after)
        raise TransientError(f"{ctx.node} is busy")

    return busy


def is_below_25(quote: Quote) -> bool:
    return quote.prices[-1] < 25


def quotes(north: Seller, south: Seller, west: Seller, *, join: Join[Quote] | None = None, **options: Unpack[GroupOptions]) -> StateGraph[Quote]:
    """ask -> quotes, the group of the three -> choose."""
    sellers = [branch("north", north), branch("south", south), branch("west", west)]
    return (
        StateGraph(Quote)
        .add_node("ask", ask)
        .add_parallel_group("quotes", sellers, merge, join=join, **options)
        .add_node("choose", choose)
        .add_edge("ask", "quotes")
        .add_edge("quotes", "choose")
    )


def ask(quote: Quote) -> Quote:
    return quote.replace(report=[*quote.report, "ask"])


def merge(quote: Quote, outcomes: Outcomes[Quote]) -> Quote:
    names = ", ".join(f'"{name}"' for name in outcomes.deciding)
    report = [*quote.report, f"join_met {str(outcomes.join_met).lower()} deciding [{names}]"]
    prices = list(quote.prices)
    for outcome in outcomes:
        report.append(f"{outcome.name} {outcome.status} {outcome.error or '-'}")
        if outcome.state is not None:
            prices.extend(outcome.state.prices)
    return quote.replace(report=report, prices=prices)


def choose(quote: Quote) -> Quote:
    return quote.replace(best=min(quote.prices, default=None))


async def _wait(ctx: Context, milliseconds: float) -> None:
    if milliseconds:
        await ctx.sleep(milliseconds / 1000)
