"""What a server of the Model Context Protocol has to offer, in no vendor's words."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

Progress: TypeAlias = Callable[[int, str], Awaitable[None]]
"""Told how many steps are done, and where the work is."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A tool as a client sees it. `parameters` is a JSON Schema with an object at its root."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a call came to: text for the model, and the same as JSON where there is more to say. `is_error`: it did not do what it was asked."""

    text: str
    is_error: bool = False
    structured: Mapping[str, Any] | None = None


class Offers(Protocol):
    """Tools that can be listed and called."""

    def listed(self) -> Sequence[Listed]: ...

    async def call(self, name: str, arguments: bytes, progress: Progress) -> Reply:
        """Call one. `name` and `arguments` (JSON) are the client's and may be anything; what is wrong with them is a reply."""
        ...
