"""Tools: a decorated function keeps its parameters and what it returns; registries, contexts and middleware are typed."""

from __future__ import annotations

from collections.abc import Coroutine
from datetime import timedelta
from typing import Any

from typing_extensions import assert_type, override, reveal_type

from strata import Context, ToolCallDenied, ToolContext, ToolRegistry, strata_tool
from strata.tools import Cancellation, Proceed, Tool, ToolAnswer, ToolCall, ToolMiddleware


@strata_tool
async def refund(order_id: str, amount: int, note: str | None = None) -> bool:
    """Refund part of an order."""
    return amount > 0


@strata_tool("k8s.pods", description="Lists pods.", timeout=timedelta(seconds=5), approve=lambda arguments: arguments["namespace"] == "kube-system")
def pods(ctx: ToolContext, *, namespace: str = "default") -> list[str]:
    return [namespace, ctx.call_id or ""]


@strata_tool(approve=True, forbid_unknown_fields=True, inline=True)
def drop(table: str, ctx: Context) -> None:
    """Drop a table."""
    assert_type(ctx.attempt, int)


class Shop:
    def price(self, sku: str) -> float:
        """Look up a price."""
        return 1.0


price = strata_tool(Shop().price)
assert_type(price("a"), float)


class Tenants(ToolMiddleware):
    @override
    async def invoke(self, call: ToolCall, proceed: Proceed, /) -> str:
        if call.context.metadata.get("tenant") is None:
            raise ToolCallDenied(call.tool, "no tenant")
        return await proceed(call.replace(arguments="{}", context=call.context.replace(caller_id="gateway")))


def of_tools(ctx: ToolContext) -> None:
    reveal_type(price)  # Tool[(sku: str), float]; mypy: Tool[[sku: str], float]; pyrefly: Tool[[sku: str], float]
    reveal_type(pods(ctx))  # list[str]
    reveal_type(ctx.service(Shop))  # None | Shop


async def calls(ctx: Context) -> None:
    assert_type(await refund("o-1", 5), bool)
    assert_type(await refund(order_id="o-1", amount=5, note="late"), bool)
    assert_type(pods(ToolContext(), namespace="web"), list[str])
    drop("orders", ctx)
    registry = ToolRegistry([refund, pods, drop, price], middleware=[Tenants()])
    assert_type(await registry.dispatch("refund", "{}", ctx), str)
    assert_type(await registry.dispatch("refund", "{}", ToolContext.of(ctx, caller_id="agent").with_service(5)), str)
    assert_type(await registry.answer("refund", {"order_id": "o-1"}, on_failure="tell_model"), ToolAnswer)
    assert_type(registry.subset(["refund"]), ToolRegistry)
    assert_type(ToolContext(cancellation=Cancellation()).service(int), int | None)


def is_a_tool(tool: Tool[..., Any]) -> str:
    return tool.name


def keeps_its_types(tool: Tool[[str, int], Coroutine[Any, Any, bool]]) -> None: ...


is_a_tool(refund)
is_a_tool(pods)


async def wrong(ctx: Context) -> None:
    await refund("o-1")  # error: mypy, pyright, pyrefly, ty
    await refund("o-1", "five")  # error: mypy, pyright, pyrefly, ty
    await refund("o-1", 5, reason="late")  # error: mypy, pyright, pyrefly, ty
    pods(namespace="web")  # error: mypy, pyright, pyrefly, ty
    text: str = await refund("o-1", 5)  # error: mypy, pyright, pyrefly, ty
    await ToolRegistry([refund]).dispatch("refund", {"order_id": "o-1"})  # error: mypy, pyright, pyrefly, ty
    await ToolRegistry([refund]).answer("refund", text, on_failure="ignore")  # error: mypy, pyright, pyrefly, ty
    ToolContext(caller="agent")  # error: mypy, pyright, pyrefly, ty
    ToolContext().replace(node=ctx)  # error: mypy, pyright, pyrefly
    ToolRegistry([len])  # error: mypy, pyright, pyrefly, ty
    strata_tool("name", approve="always")  # error: mypy, pyright, pyrefly, ty
