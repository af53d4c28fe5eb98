"""Tools of a registry, for clients outside of any run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from strata.hosting.mcp.offers import Listed, Progress, Reply
from strata.tools import ToolContext, ToolRegistry


@dataclass(frozen=True, slots=True)
class ServedTools:
    """The tools of a registry under the names that providers take; its middleware sees each call, whose caller is `mcp`.

    No node makes these calls: one that needs a person's approval is denied. A call that failed is told in the words that a
    model has for it, without what the tool raised.
    """

    registry: ToolRegistry

    def listed(self) -> Sequence[Listed]:
        known_as = {name: safe for safe, name in self.registry.provider_names.items()}
        return [Listed(known_as[entry["name"]], entry["description"], entry["parameters"]) for entry in self.registry.manifest()]

    async def call(self, name: str, arguments: bytes, progress: Progress) -> Reply:
        answer = await self.registry.answer(name, arguments.decode(), ToolContext(caller_id="mcp"), on_failure="tell_model")
        return Reply(answer.content, is_error=answer.result != "succeeded")
