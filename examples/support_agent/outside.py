"""What the agent talks to; yours are a language model and a database."""

from __future__ import annotations

from collections.abc import AsyncIterator

from strata import TransientError


class Model:
    """Is busy when it is first asked."""

    def __init__(self) -> None:
        self._is_busy = True

    async def topic_of(self, text: str) -> str:
        if self._is_busy:
            self._is_busy = False
            raise TransientError("the model is busy")
        return "a broken lamp" if "broken" in text else "something else"

    async def reply(self, topic: str, cents: int) -> AsyncIterator[str]:
        for word in ("We", "are", "sorry", "about", *topic.split(), "and", "send", f"{cents / 100:.2f}", "back."):
            yield word


class Shop:
    async def paid_by(self, customer: str) -> int:
        print(f"[the shop looks {customer} up]")
        return 2490
