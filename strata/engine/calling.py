"""Where an attempt of a node calls tools and models from: whom to tell, and what the calls run on."""

from __future__ import annotations

import asyncio

from strata.engine.run import Run


class CallSite:
    """Of one attempt of a node, or of a branch.

    Attributes:
        node: its own name.
        path: its qualified one, which is where its span is found.
        attempt: from 1.
        watch: who is told of its calls; None where nobody watches.
        threads: what sync functions run on.
        clock: what timeouts and durations are measured on.
        loop: where observers are told, and so where calls are made.
    """

    __slots__ = ("_made", "attempt", "clock", "loop", "node", "path", "threads", "watch")

    def __init__(self, run: Run, node: str, path: str, attempt: int, loop: asyncio.AbstractEventLoop) -> None:
        self.node = node
        self.path = path
        self.attempt = attempt
        self.watch = run.watch
        self.threads = run.threads
        self.clock = run.clock
        self.loop = loop
        self._made: dict[str, list[str | None]] = {}

    def ordinal(self, call: str, call_id: str | None) -> int:
        """Which of this attempt's calls that say the same that one is, from 1; one that is told again under its id keeps its number."""
        made = self._made.setdefault(call, [])
        if call_id is None or call_id not in made:
            made.append(call_id)
            return len(made)
        return made.index(call_id) + 1
