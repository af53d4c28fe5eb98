"""The tools of a registry in the request of a provider (strata-tools.md 12.2), in the strict form where there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from strata.tools.providers.names import provider_names
from strata.tools.providers.strict import NotStrict, Strict, anthropic_strict, openai_strict

Schema: TypeAlias = dict[str, Any]
Entry: TypeAlias = Mapping[str, Any]
"""Of a manifest: a name, a description, and parameters. One that has no name is left out."""

NO_PARAMETERS: Final[Schema] = {"type": "object", "properties": {}, "required": []}


@dataclass(frozen=True, slots=True)
class ProviderTools:
    """What a request says of the tools.

    Attributes:
        tools: in their order; without any the request has no such key.
        names: what the model calls each tool, and the tool that it means by it.
        not_strict: the tools that have no strict form, by their own names, and why.
    """

    tools: list[Schema]
    names: Mapping[str, str]
    not_strict: Mapping[str, str]


def openai_tools(entries: Iterable[Entry], *, strict: bool = True) -> ProviderTools:
    """For OpenAI's Chat Completions. Where a tool has no strict form it is sent as it is, with `strict` false.

    With `strict=False` nothing is said of it, and all are sent as they are: so do the other engines.
    """

    def tool(name: str, description: str, parameters: Schema, is_strict: bool | None) -> Schema:
        said = {} if is_strict is None else {"strict": is_strict}
        return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters, **said}}

    return _listed(entries, tool, openai_strict if strict else None)


def anthropic_tools(entries: Iterable[Entry], *, strict: bool = True) -> ProviderTools:
    """For Anthropic's Messages. Where a tool has no strict form it is sent as it is, with `strict` false.

    With `strict=False` nothing is said of it, and all are sent as they are: so do the other engines. A request may hold
    fewer strict tools than plain ones; where there are too many, this is the way.
    """

    def tool(name: str, description: str, parameters: Schema, is_strict: bool | None) -> Schema:
        said = {} if is_strict is None else {"strict": is_strict}
        return {"name": name, "description": description, "input_schema": parameters, **said}

    return _listed(entries, tool, anthropic_strict if strict else None)


def mcp_tools(entries: Iterable[Entry]) -> list[Schema]:
    """For the Model Context Protocol, which takes names and schemas as they are."""
    return [
        {"name": entry["name"], "description": entry.get("description") or "", "inputSchema": _parameters(entry)}
        for entry in entries
        if "name" in entry
    ]


def _listed(
    entries: Iterable[Entry],
    tool: Callable[[str, str, Schema, bool | None], Schema],
    strictly: Callable[[Schema], Strict | NotStrict] | None,
) -> ProviderTools:
    named = [entry for entry in entries if "name" in entry]
    names = provider_names(entry["name"] for entry in named)
    tools: list[Schema] = []
    not_strict: dict[str, str] = {}
    for safe, entry in zip(names, named, strict=True):
        parameters = _parameters(entry)
        is_strict: bool | None = None
        match strictly(parameters) if strictly is not None else None:
            case Strict(form):
                parameters, is_strict = form, True
            case NotStrict() as why:
                is_strict = False
                not_strict[entry["name"]] = why.reason
            case None:
                pass
        tools.append(tool(safe, entry.get("description") or "", parameters, is_strict))
    return ProviderTools(tools, names, not_strict)


def _parameters(entry: Entry) -> Schema:
    return dict(entry.get("parameters") or NO_PARAMETERS)
