"""What a handler gives its context is held to what can be kept before anything is asked or done, in a run and in a unit test."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from strata import Context, Failed, Runner, StateGraph
from strata.stores.memory import MemoryStore
from strata.testing import context
from tests.graphs.trails import Trail


async def pays() -> str:
    raise AssertionError("nothing is done")


async def in_a_run(call: Callable[[Any], Any]) -> str:
    async def ask(state: Trail, ctx: Context) -> Trail:
        given = call(ctx)
        await given
        return state

    outcome = await Runner(StateGraph(Trail).add_node("Ask", ask).compile(), MemoryStore()).run("t", Trail())
    assert isinstance(outcome, Failed)
    return outcome.message


async def by_hand(call: Callable[[Any], Any]) -> str:
    with pytest.raises(TypeError) as raised:
        await call(context())
    return f"TypeError: {raised.value}"


Call = Callable[[Any], Any]

WRONG: list[tuple[Call, str]] = [
    (lambda ctx: ctx.once(5, pays), "a key is text, not 5"),
    (lambda ctx: ctx.once("half \ud800", pays), "a key is text that UTF-8 can encode, and 'half \\ud800' is not"),
    (lambda ctx: ctx.once("pay", 5), "ctx.once() takes a function, not 5"),
    (lambda ctx: ctx.once("pay", pays()), "ctx.once() takes the function and calls it: give pays, not pays(...)"),
    (lambda ctx: ctx.once_sync("pay", None), "ctx.once_sync() takes a function, not None"),
    (lambda ctx: ctx.once_sync("pay", pays), "ctx.once_sync() calls a sync function, and pays is async: await ctx.once(...) in an async node"),
    (
        lambda ctx: ctx.once_sync("pay", partial(pays)),
        "ctx.once_sync() calls a sync function, and pays is async: await ctx.once(...) in an async node",
    ),
    (lambda ctx: ctx.interrupt("well?", key=5), "a key is text, not 5"),
]


@pytest.mark.parametrize("told", [in_a_run, by_hand])
@pytest.mark.parametrize(("call", "text"), WRONG)
async def test_what_cannot_be_kept_or_called_is_named(call: Call, text: str, told: Callable[[Call], Awaitable[str]]) -> None:
    assert await told(call) == f"TypeError: {text}"


@pytest.mark.parametrize(("returns", "name"), [(3, "3"), (Callable, "<class 'collections.abc.Callable'>")])
async def test_what_no_answer_can_be_is_named(returns: Any, name: str) -> None:
    asks: Call = lambda ctx: ctx.interrupt("well?", returns=returns)  # noqa: E731
    assert await in_a_run(asks) == f"TypeError: an answer is of a type that JSON can hold, and {name} is none"
