"""Functions that tests make nodes, branches and items of, and graphs around one node."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeAlias, Unpack

from strata import Context, FatalError, Join, Outcomes, State, StateGraph, TransientError, branch
from strata.graph.fanout_decorators import GroupOptions
from tests.graphs.trails import Trail, adds

HANG = 3600.0

Handler: TypeAlias = Callable[[Trail, Context], Coroutine[Any, Any, Trail]]


class Calls:
    """Says who was called, who was cancelled, and how many ran at once."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.ended: list[str] = []
        self.cancelled: list[str] = []
        self.now = 0
        self.peak = 0

    def takes(self, seconds: float, *, score: int = 0) -> Handler:
        """Adds its own name and `score` after so many seconds of the runner's clock."""

        async def wait(state: Trail, ctx: Context) -> Trail:
            await self._sleep(ctx, seconds)
            self.ended.append(ctx.node)
            return state.replace(trail=state.trail + ctx.node, n=score)

        return wait

    def hangs(self) -> Handler:
        return self.takes(HANG)

    def fails(self, error: Exception, *, after: float = 0.0, times: int | None = None) -> Handler:
        """Raises `error`, the first so many times (None: always); then adds its name."""
        failed = 0

        async def fail(state: Trail, ctx: Context) -> Trail:
            nonlocal failed
            await self._sleep(ctx, after)
            self.ended.append(ctx.node)
            if times is not None and failed >= times:
                return state.replace(trail=state.trail + ctx.node)
            failed += 1
            raise error

        return fail

    async def _sleep(self, ctx: Context, seconds: float) -> None:
        self.started.append(ctx.node)
        self.now += 1
        self.peak = max(self.peak, self.now)
        try:
            if seconds:
                await ctx.sleep(seconds)
        except asyncio.CancelledError:
            self.cancelled.append(ctx.node)
            raise
        finally:
            self.now -= 1


class Merges:
    """A merge that keeps what it was given and joins the trails."""

    def __init__(self) -> None:
        self.outcomes: list[Outcomes[Trail]] = []
        self.bases: list[Trail] = []

    def plain(self, state: Trail, results: list[Trail]) -> Trail:
        self.bases.append(state)
        return state.replace(trail=state.trail + "".join(result.trail.removeprefix(state.trail) for result in results))

    def with_outcomes(self, state: Trail, outcomes: Outcomes[Trail]) -> Trail:
        self.outcomes.append(outcomes)
        return self.plain(state, outcomes.succeeded)

    @property
    def statuses(self) -> list[str]:
        """Of the last round, in the order of declaration."""
        return [f"{outcome.name} {outcome.status}" for outcome in self.outcomes[-1]]


def gather(
    branches: dict[str, Any],
    merges: Merges | None = None,
    *,
    join: Join[Trail] | None = None,
    outcomes: bool = False,
    **options: Unpack[GroupOptions],
) -> StateGraph[Trail]:
    """Gather, the group of the branches, between A and End."""
    merges = merges or Merges()
    merge: Any = merges.with_outcomes if outcomes else merges.plain
    return (
        StateGraph(Trail)
        .add_node("A", adds("A"), inline=True)
        .add_parallel_group("Gather", [branch(name, function) for name, function in branches.items()], merge, join=join, **options)
        .add_node("End", adds("Z"), inline=True)
        .add_edge("A", "Gather")
        .add_edge("Gather", "End")
    )


def first_of(state: Trail, results: list[Trail]) -> Trail:
    """The merge that takes the first branch's state."""
    return results[0]


def fatal(text: str) -> FatalError:
    return FatalError(text)


def transient(text: str, *, retry_after: float | None = None) -> TransientError:
    return TransientError(text, retry_after=retry_after)


def fallback(graph: StateGraph[Trail], node: str, **policy: Any) -> StateGraph[Trail]:
    """The graph with Recover, which adds an R, as the fallback of `node`."""
    return graph.add_node("Recover", adds("R"), inline=True).set_recovery_policy(node, fallback="Recover", **policy)


class Items(State):
    """What maps are tested over: `keys` in, `done` out."""

    keys: list[str] = []  # noqa: RUF012 (msgspec copies it)
    done: list[str] = []  # noqa: RUF012
    trail: str = ""


class Item(State):
    key: str = ""
    log: str = ""


ItemHandler: TypeAlias = Callable[[Item, Context], Coroutine[Any, Any, Item]]


def keys_of(state: Items) -> Sequence[str]:
    return state.keys


def to_item(state: Items, key: str) -> Item:
    return Item(key=key)
