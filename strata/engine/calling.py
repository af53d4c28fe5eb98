"""Where an attempt of a node calls tools and models from: whom to tell, and what the calls run on."""

from __future__ import annotations

from collections import Counter

from strata.engine.run import Run


class CallSite:
    """Of one attempt of a node, or of a branch.

    Attributes:
        node: its own name.
        path: its qualified one, which is where its span is found.
        watch: who is told of its calls; None where nobody watches.
        threads: what sync functions run on.
        clock: what timeouts and durations are measured on.
    """

    __slots__ = ("_made", "clock", "node", "path", "threads", "watch")

    def __init__(self, run: Run, node: str, path: str) -> None:
        self.node = node
        self.path = path
        self.watch = run.watch
        self.threads = run.threads
        self.clock = run.clock
        self._made: Counter[str] = Counter()

    def nth(self, call: str) -> int:
        """How often this attempt has made that call, this time included: calls that say the same are told apart by it."""
        self._made[call] += 1
        return self._made[call]
