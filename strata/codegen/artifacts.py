"""The files that are made of the tools of a project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from strata.codegen.dispatch import dispatch_module
from strata.codegen.interpreter import Interpreter
from strata.codegen.reading import SourceTool
from strata.tools.providers import ProviderTools, anthropic_tools, mcp_tools, openai_tools
from strata.tools.schema import canonical_json

DISPATCH: Final = "dispatch.py"


@dataclass(frozen=True, slots=True)
class Artifacts:
    """The content of each file by its name, and why a provider has no strict form of a tool: by the tool's name and the provider's."""

    files: Mapping[str, bytes]
    not_strict: Mapping[str, Mapping[str, str]]


NOTHING: Final = Artifacts({}, {})


def artifacts(tools: Sequence[SourceTool], interpreter: Interpreter) -> Artifacts:
    """What is made of the tools; the same tools give the same bytes.

    `tools.json` is the manifest as a registry of them gives it, byte for byte. `strictness.json` is for people.
    """
    entries = [tool.entry for tool in tools]
    providers = {"openai": openai_tools(entries), "anthropic": anthropic_tools(entries)}
    told = {provider: made.tools for provider, made in providers.items()}
    not_strict = {tool.signature.name: _reasons(tool.signature.name, providers) for tool in tools}
    files = {
        "tools.json": canonical_json(entries),
        **{f"{provider}.json": canonical_json(listed) for provider, listed in told.items()},
        "mcp.json": canonical_json(mcp_tools(entries)),
        "strictness.json": _indented([_strictness(tool, place, providers) for place, tool in enumerate(not_strict)]),
        DISPATCH: dispatch_module(tools, interpreter).encode(),
    }
    return Artifacts(files, not_strict)


def _reasons(tool: str, providers: Mapping[str, ProviderTools]) -> dict[str, str]:
    return {provider: made.not_strict[tool] for provider, made in providers.items() if tool in made.not_strict}


def _strictness(tool: str, place: int, providers: Mapping[str, ProviderTools]) -> dict[str, Any]:
    """Of each provider the name that its models see, whether the form is strict, and if not, why."""
    return {"name": tool, **{provider: _said(tool, list(made.names)[place], made) for provider, made in providers.items()}}


def _said(tool: str, name: str, made: ProviderTools) -> dict[str, Any]:
    reason = made.not_strict.get(tool)
    return {"name": name, "strict": True} if reason is None else {"name": name, "strict": False, "reason": reason}


def _indented(value: object) -> bytes:
    return msgspec.json.format(canonical_json(value), indent=2) + b"\n"
