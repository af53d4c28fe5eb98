"""Stands for a language model, without a network: what it says follows from what it has read."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import msgspec


class Asked(msgspec.Struct, frozen=True):
    """A call as a provider tells it: the arguments are the model's own text."""

    id: str
    name: str
    arguments: str


class Turn(msgspec.Struct, frozen=True):
    """What the model says: calls, or a reply when it needs none."""

    calls: tuple[Asked, ...] = ()
    reply: str = ""


def listed_tools() -> list[dict[str, Any]]:
    """The tools as a request to the provider holds them: made at build time, and read without any tool."""
    return msgspec.json.decode((files("support_desk.made") / "openai.json").read_bytes(), type=list[dict[str, Any]])


class ScriptedModel:
    def __init__(self) -> None:
        self._names = {str(tool["function"]["name"]) for tool in listed_tools()}

    async def next(self, customer: str, text: str, results: Sequence[str]) -> Turn:
        """The turn after these results of earlier calls."""
        if not results:
            return self._calls(("orders_find", {"customer": customer}))
        if len(results) > 1:
            return Turn(reply=_reply(results[-1]))
        orders = msgspec.json.decode(results[0], type=list[dict[str, Any]])
        meant = next((order for order in orders if order["article"] in text), None)
        if meant is None:
            return self._calls(("tickets_escalate", {"reason": "an order that was not found"}))
        return self._calls(("orders_refund", {"order_id": meant["id"], "cents": meant["cents"], "note": meant["article"]}))

    def _calls(self, *calls: tuple[str, dict[str, Any]]) -> Turn:
        """A model knows no other tools than it was told of."""
        known = [(name, arguments) for name, arguments in calls if name in self._names]
        return Turn(tuple(Asked(f"call_{at}", name, msgspec.json.encode(arguments).decode()) for at, (name, arguments) in enumerate(known)))


def _reply(result: str) -> str:
    """What a customer is told of what came of a call."""
    if not result.startswith("{"):
        return f"We are on it: {result}."
    told = msgspec.json.decode(result, type=dict[str, Any])
    if "error" in told:
        return "We cannot pay it back, and are sorry."
    return f"We have paid {told['cents'] / 100:.2f} back for your {told['article']}."
