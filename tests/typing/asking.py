"""Asking in the middle of a node, and doing things once: each answer has the type that was asked for."""

from __future__ import annotations

from typing import Literal

import msgspec
from typing_extensions import assert_type

from strata import Context, Decision, Resume


class Approve(msgspec.Struct, frozen=True, tag=True):
    score: int


class Refuse(msgspec.Struct, frozen=True, tag=True):
    why: str


def pay() -> int:
    return 3


async def pay_later() -> int:
    return 3


async def asks(ctx: Context) -> None:
    assert_type(ctx.interrupt("go on?"), Decision)
    assert_type(ctx.interrupt("go on?", key="go"), Decision)
    assert_type(ctx.interrupt("which?", returns=list[str]), list[str])
    assert_type(ctx.interrupt("verdict", returns=Approve | Refuse, key="verdict"), Approve | Refuse)
    assert_type(ctx.interrupt("sure?", returns=Literal["yes", "no"]), Literal["yes", "no"])
    assert_type(ctx.interrupt("maybe", returns=str | None), str | None)
    assert_type(await ctx.once("pay", pay), int)
    assert_type(await ctx.once("pay", pay_later), int)
    assert_type(ctx.once_sync("pay", pay), int)
    answer: int = ctx.interrupt("how many?", returns=str)  # error: mypy, pyright, pyrefly, ty
    Resume(answer=answer)  # error: mypy, pyright, pyrefly, ty
