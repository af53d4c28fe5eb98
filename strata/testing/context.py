"""A context made by hand, to call a node's function with in a unit test."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, TypedDict, TypeVar, Unpack, cast

from strata.engine.doing import Doings, Done, Turn, Wait
from strata.errors import OnceBlocksLoop, Pause
from strata.graph.answers import Decision
from strata.graph.clock import Clock, SystemClock
from strata.graph.context import Context, LastFailure

T = TypeVar("T")


class ContextFields(TypedDict, total=False):
    """What a test may say of the run that calls the node; each as in `Context`.

    `services` are found by their type. `answers` are given to the node's questions: by key, or in the order of asking.
    """

    thread_id: str
    path: str
    attempt: int
    run_id: str
    hop: int
    metadata: Mapping[str, str]
    decision: Decision | None
    last_failure: LastFailure | None
    idempotency_key: str
    is_recovery: bool
    recoveries: int
    deadline: datetime | None
    graph: str | None
    streaming: bool
    cancelled: bool
    services: Iterable[object]
    answers: Mapping[str, object] | Iterable[object]
    clock: Clock


def context(node: str = "node", /, **fields: Unpack[ContextFields]) -> TestContext:
    """A context for the node of that name: its first attempt, in the first hop of a fresh run that nobody reads.

    Its path is its name unless `path` says otherwise, its idempotency key is made of thread, path and hop as in a durable run.
    """
    return TestContext(node, fields)


class TestContext(Context):
    """What `context` makes. Beside what handlers see, a test finds what they sent.

    Attributes:
        tokens: all that was sent with `token` and `token_sync`, whether or not `streaming` is set.
        diagnostics: the messages and details sent with `diagnostic` and `diagnostic_sync`.
        asked: the questions, answered or not; one without an answer raises `Pause`.
        kept: the results of what was done `once`, by key; what a test puts there is not done.
        slept: the seconds of each sleep; none of them takes time unless `clock` was given.
    """

    __slots__ = ("_answers", "_doings", "_fields", "_is_cancelled", "_node", "_numbered", "asked", "diagnostics", "kept", "slept", "tokens")
    __test__ = False  # for pytest, which collects what is called Test...

    def __init__(self, node: str, fields: ContextFields) -> None:
        self._node = node
        self._fields = fields
        self._is_cancelled = fields.get("cancelled", False)
        self.tokens: list[str] = []
        self.diagnostics: list[tuple[str, Mapping[str, object]]] = []
        self.slept: list[float] = []
        self.kept: dict[str, Any] = {}
        self._doings = Doings(self.kept)
        self.asked: list[object] = []
        self._numbered = 0
        self._answers = _by_id(fields.get("answers", ()))

    def cancel(self) -> None:
        """From now on the node is being stopped."""
        self._is_cancelled = True

    @property
    def thread_id(self) -> str:
        return self._fields.get("thread_id", "thread")

    @property
    def node(self) -> str:
        return self._node

    @property
    def path(self) -> str:
        return self._fields.get("path", self._node)

    @property
    def attempt(self) -> int:
        return self._fields.get("attempt", 1)

    @property
    def run_id(self) -> str:
        return self._fields.get("run_id", "run-1")

    @property
    def hop(self) -> int:
        return self._fields.get("hop", 1)

    @property
    def metadata(self) -> Mapping[str, str]:
        return self._fields.get("metadata", {})

    @property
    def decision(self) -> Decision | None:
        return self._fields.get("decision")

    @property
    def last_failure(self) -> LastFailure | None:
        return self._fields.get("last_failure")

    @property
    def idempotency_key(self) -> str:
        return self._fields.get("idempotency_key", f"{self.thread_id}/{self.path}#{self.hop}")

    @property
    def is_recovery(self) -> bool:
        return self._fields.get("is_recovery", False)

    @property
    def recoveries(self) -> int:
        return self._fields.get("recoveries", 0)

    @property
    def deadline(self) -> datetime | None:
        return self._fields.get("deadline")

    @property
    def graph(self) -> str | None:
        return self._fields.get("graph")

    @property
    def streaming(self) -> bool:
        return self._fields.get("streaming", False)

    @property
    def cancelled(self) -> bool:
        return self._is_cancelled

    def raise_if_cancelled(self) -> None:
        if self.cancelled:
            raise asyncio.CancelledError

    def service(self, type_: type[T], /) -> T | None:
        services = list(self._fields.get("services", ()))
        exact: list[Any] = [service for service in services if type(service) is type_]
        return cast("T", exact[-1]) if exact else next((service for service in services if isinstance(service, type_)), None)

    async def token(self, text: str, /) -> None:
        self.tokens.append(text)

    def token_sync(self, text: str, /) -> None:
        self.tokens.append(text)

    async def diagnostic(self, message: str, /, **details: object) -> None:
        self.diagnostics.append((message, details))

    def diagnostic_sync(self, message: str, /, **details: object) -> None:
        self.diagnostics.append((message, details))

    async def _once(self, key: str, fn: Callable[[], Any]) -> Any:
        while isinstance(turn := self._turn(key), Wait):
            await turn.until_over()
        if isinstance(turn, Done):
            return turn.result
        with turn:
            result = fn()
            if inspect.isawaitable(result):
                result = await result
            turn.remember(result)
            return result

    def _once_sync(self, key: str, fn: Callable[[], Any]) -> Any:
        while isinstance(turn := self._turn(key), Wait):
            if turn.is_on_its_thread:
                turn.over.cancel()
                raise OnceBlocksLoop(self.path, key)
            turn.over.result()
        if isinstance(turn, Done):
            return turn.result
        with turn:
            result = fn()
            turn.remember(result)
            return result

    def _turn(self, key: str) -> Turn[str, Any]:
        return self._doings.begin(key, path=self.path, key=key)

    def _ask(self, question: object, returns: Any, key: str | None) -> Any:
        self.asked.append(question)
        self._numbered += key is None
        name = f"#{self._numbered}" if key is None else key
        if name not in self._answers:
            raise Pause
        return self._answers[name]

    async def sleep(self, seconds: float, /) -> None:
        self.slept.append(seconds)
        await self._fields.get("clock", _NO_TIME).sleep(seconds)
        self.raise_if_cancelled()

    def sleep_sync(self, seconds: float, /) -> None:
        self.slept.append(seconds)
        self.raise_if_cancelled()


def _by_id(answers: Mapping[str, object] | Iterable[object]) -> Mapping[str, object]:
    if isinstance(answers, Mapping):
        return cast("Mapping[str, object]", answers)
    return {f"#{place}": answer for place, answer in enumerate(answers, 1)}


class _NoTime(SystemClock):
    """Sleeps that are over at once."""

    async def sleep(self, seconds: float, /) -> None:
        await asyncio.sleep(0)


_NO_TIME = _NoTime()
