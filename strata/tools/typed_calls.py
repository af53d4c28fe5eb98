"""Calls of tools as values, each tool's of a class of its own: what `strata tools generate` writes is made of this."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import msgspec

from strata.errors import ToolArgumentParseFailure, ToolCallFailed, ToolNotFound
from strata.graph.context import Context
from strata.tools.context import ToolContext
from strata.tools.declaration import Tool
from strata.tools.providers import provider_names
from strata.tools.registry import ToolRegistry

C = TypeVar("C", bound=msgspec.Struct)


class TypedCalls(Generic[C]):
    """From what a model sent to a value, and from the value to the call.

    Args:
        tools: the tool of each class. Its fields are the parameters of the tool.
    """

    def __init__(self, tools: Mapping[type[C], Tool[..., Any]]) -> None:
        self._tools = dict(tools)
        self._classes = {tool.name: kind for kind, tool in self._tools.items()}
        self._names = provider_names(self._classes)

    def decode(self, raw: str | bytes) -> C:
        """A call as the Model Context Protocol has it: `{"name": ..., "arguments": {...}}`. Errors are those of `read`."""
        try:
            sent = msgspec.json.decode(raw, type=_Sent)
            arguments = bytes(sent.arguments).decode()
        except (ValueError, RecursionError) as error:
            raise ToolArgumentParseFailure(f"a call is a JSON object with a name and arguments: {error}") from error
        return self.read(sent.name, arguments)

    def read(self, name: str, arguments: str) -> C:
        """A call of the tool of that name, its own or the one that providers know it by.

        Raises:
            ToolNotFound: none of these tools has that name.
            ToolArgumentParseFailure: these are no arguments of the tool; the text is for the model.
        """
        own = name if name in self._classes else self._names.get(name)
        if own is None:
            raise ToolNotFound(name)
        kind = self._classes[own]
        read = self._tools[kind].arguments.read(arguments)
        return kind(**{field: getattr(read, field) for field in read.__struct_fields__})

    def encode(self, call: C) -> tuple[str, str]:
        """The name of the tool, and the arguments as a model would send them."""
        tool = self._tools[type(call)]
        arguments = tool.arguments.shown(tuple(getattr(call, parameter.name) for parameter in tool.signature.parameters))
        return tool.name, msgspec.json.encode(arguments).decode()

    async def text(self, call: C, registry: ToolRegistry, context: ToolContext | Context | None) -> str:
        """What a model is told of the call, made by the registry, with all that it does: `ToolRegistry.dispatch` says what is raised."""
        name, arguments = self.encode(call)
        return await registry.dispatch(name, arguments, context)

    async def result(self, call: C, registry: ToolRegistry, context: ToolContext | Context | None, type_: Any) -> Any:
        """The same as a value of that type.

        Raises:
            ToolCallFailed: what a middleware made of the result is no such value.
        """
        text = await self.text(call, registry, context)
        try:
            return msgspec.json.decode(text, type=type_)
        except (ValueError, RecursionError) as error:
            raise ToolCallFailed(self._tools[type(call)].name, f"its result is not what its function is annotated to return: {error}") from error


class _Sent(msgspec.Struct):
    name: str
    arguments: msgspec.Raw = msgspec.Raw(b"{}")
