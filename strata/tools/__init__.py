"""Typed functions that a model may call.

    from strata.tools import ToolRegistry, strata_tool

    @strata_tool
    async def refund(order_id: str, amount: int, note: str | None = None) -> str:
        \"\"\"Refund part of an order.\"\"\"
        ...

    tools = ToolRegistry([refund])
    text = await tools.dispatch("refund", '{"order_id": "o-1", "amount": 5}', ctx)

Lazy on purpose: whoever reads schemas loads no engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strata.tools.approval import Approve, approval_key
    from strata.tools.arguments import ArgumentReader
    from strata.tools.cancellation import Cancellation
    from strata.tools.context import ToolContext
    from strata.tools.declaration import Tool, strata_tool
    from strata.tools.entries import AnyTool
    from strata.tools.handmade import HandmadeTool, PlainTool
    from strata.tools.middleware import Proceed, ToolCall, ToolMiddleware
    from strata.tools.naming import NamingRule, rename_fields, rename_members
    from strata.tools.problems import argument_problems
    from strata.tools.providers import (
        NotStrict,
        ProviderTools,
        Strict,
        anthropic_strict,
        anthropic_tools,
        mcp_tools,
        openai_strict,
        openai_tools,
        provider_names,
    )
    from strata.tools.reading import signature_of
    from strata.tools.registry import ToolRegistry
    from strata.tools.schema import Flavor, canonical_json, input_schema, manifest, manifest_entry
    from strata.tools.signature import ToolParameter, ToolSignature
    from strata.tools.telling import OnFailure, ToolAnswer
    from strata.tools.typed_calls import TypedCalls

__all__ = [
    # Declaring and calling
    "AnyTool",
    "Approve",
    "ArgumentReader",
    "Cancellation",
    "HandmadeTool",
    "OnFailure",
    "PlainTool",
    "Proceed",
    "Tool",
    "ToolAnswer",
    "ToolCall",
    "ToolContext",
    "ToolMiddleware",
    "ToolRegistry",
    "TypedCalls",
    "approval_key",
    "strata_tool",
    # Schemas
    "Flavor",
    "NamingRule",
    "NotStrict",
    "ProviderTools",
    "Strict",
    "ToolParameter",
    "ToolSignature",
    "anthropic_strict",
    "anthropic_tools",
    "argument_problems",
    "canonical_json",
    "input_schema",
    "manifest",
    "manifest_entry",
    "mcp_tools",
    "openai_strict",
    "openai_tools",
    "provider_names",
    "rename_fields",
    "rename_members",
    "signature_of",
]

# Where each name lives; `__all__` above is spelt out for checkers, and a test compares the two.
MODULES = {
    "AnyTool": "strata.tools.entries",
    "Approve": "strata.tools.approval",
    "ArgumentReader": "strata.tools.arguments",
    "Cancellation": "strata.tools.cancellation",
    "Flavor": "strata.tools.schema",
    "HandmadeTool": "strata.tools.handmade",
    "NamingRule": "strata.tools.naming",
    "NotStrict": "strata.tools.providers",
    "OnFailure": "strata.tools.telling",
    "PlainTool": "strata.tools.handmade",
    "Proceed": "strata.tools.middleware",
    "ProviderTools": "strata.tools.providers",
    "Strict": "strata.tools.providers",
    "Tool": "strata.tools.declaration",
    "ToolAnswer": "strata.tools.telling",
    "ToolCall": "strata.tools.middleware",
    "ToolContext": "strata.tools.context",
    "ToolMiddleware": "strata.tools.middleware",
    "ToolParameter": "strata.tools.signature",
    "ToolRegistry": "strata.tools.registry",
    "ToolSignature": "strata.tools.signature",
    "TypedCalls": "strata.tools.typed_calls",
    "approval_key": "strata.tools.approval",
    "anthropic_strict": "strata.tools.providers",
    "anthropic_tools": "strata.tools.providers",
    "argument_problems": "strata.tools.problems",
    "canonical_json": "strata.tools.schema",
    "input_schema": "strata.tools.schema",
    "manifest": "strata.tools.schema",
    "manifest_entry": "strata.tools.schema",
    "mcp_tools": "strata.tools.providers",
    "openai_strict": "strata.tools.providers",
    "openai_tools": "strata.tools.providers",
    "provider_names": "strata.tools.providers",
    "rename_fields": "strata.tools.naming",
    "rename_members": "strata.tools.naming",
    "signature_of": "strata.tools.reading",
    "strata_tool": "strata.tools.declaration",
}


def __getattr__(name: str) -> object:
    if name not in MODULES:
        raise AttributeError(f"module 'strata.tools' has no attribute '{name}'")
    value = getattr(import_module(MODULES[name]), name)
    globals()[name] = value  # the next access does not come here
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
