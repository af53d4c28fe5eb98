"""What is being done once: by one call at a time, for whose result the others wait, and none for itself."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection, Hashable, Mapping, MutableMapping
from concurrent.futures import Future
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeAlias, TypeVar

import msgspec

from strata.errors import OnceInsideItself

K = TypeVar("K", bound=Hashable)
R = TypeVar("R")


_LOCK: Final = threading.Lock()
"""One for all tables, since calls may pass from one to another; it is held for a few lookups."""


class Doings(Generic[K, R]):
    """The calls whose functions run now, over the results of those that ran; both by name. Any thread may ask."""

    def __init__(self, results: MutableMapping[K, R]) -> None:
        self._results = results
        self._running: dict[K, Doing[K, R]] = {}
        self._late: dict[K, R] = {}
        self._whenever_idle: Callable[[], None] | None = None

    def begin(self, name: K, *, path: str, key: str) -> Turn[K, R]:
        """What a call comes to: its result is there, or it has to wait for the one that runs, or it is its turn.

        Raises:
            OnceInsideItself: the one that runs waits for this call, which the node at `path` makes with `key`.
        """
        around = _AROUND.get()
        with _LOCK:
            running = self._running.get(name)
            if running is None:
                if name in self._results:
                    return Done(self._results[name])
                doing = self._running[name] = Doing(self, name, key)
                return doing
            if way := way_back(running, around, self._running.values()):
                raise OnceInsideItself(path, key, *(doing.key for doing in way[1:]))
            return running.wait(around)

    def forget(self, which: Callable[[K], bool] = lambda name: True) -> None:
        """Whoever began what still runs is past it: its results are no longer wanted."""
        with _LOCK:
            self._running = {name: doing for name, doing in self._running.items() if not which(name)}

    def outlive(self, *, whenever_idle: Callable[[], None]) -> bool:
        """Whoever began these is past them, and somebody may come and take them over; whether there are any.

        `whenever_idle` is called when the last of them has ended, and none of them has a result that could still be wanted.
        """
        with _LOCK:
            self._whenever_idle = whenever_idle
            return bool(self._running)

    def take_over(self, other: Doings[K, R]) -> Mapping[K, R]:
        """From here on what still runs there is done for this table too; gives what has come to its end there meanwhile."""
        with _LOCK:
            late = {name: result for name, result in other._late.items() if name not in self._results}
            self._results.update(late)
            for name, doing in other._running.items():
                if name not in self._results and name not in self._running:
                    self._running[name] = doing.pass_to(self)
            other._running = {name: doing for name, doing in other._running.items() if self._running.get(name) is not doing}
            return late

    def remember(self, doing: Doing[K, R], result: R) -> bool:
        if self._running.get(doing.name) is not doing:
            return False
        self._results[doing.name] = result
        if self._whenever_idle is not None:
            self._late[doing.name] = result
        return True

    def end(self, doing: Doing[K, R]) -> Callable[[], None] | None:
        if self._running.get(doing.name) is doing:
            del self._running[doing.name]
        return None if self._running or self._late else self._whenever_idle


class Done(msgspec.Struct, Generic[R], frozen=True):
    """It was done, with this result."""

    result: R


class Wait:
    """It is being done by another call; when that has ended, successfully or not, this one begins anew.

    Attributes:
        over: set when it has ended; whoever need not wait any longer cancels it.
        around: the calls in whose functions this one stands.
        is_for_another: the other call was begun for somebody else, who keeps its result; whoever waits has to keep it too.
        is_on_its_thread: to block this thread would keep the other call from ever ending.
    """

    def __init__(self, around: tuple[Doing[Any, Any], ...], *, is_for_another: bool, is_on_its_thread: bool) -> None:
        self.over: Future[None] = Future()
        self.around = around
        self.is_for_another = is_for_another
        self.is_on_its_thread = is_on_its_thread

    async def until_over(self) -> None:
        await asyncio.wrap_future(self.over)


class Doing(Generic[K, R]):
    """It is this call's turn: its function runs in the block, and what that calls is inside it, also in a task or thread with its context."""

    def __init__(self, doings: Doings[K, R], name: K, key: str) -> None:
        self.name, self.key = name, key
        self.waits: list[Wait] = []
        self._doings = self._begun_for = doings
        self._thread = threading.get_ident()
        self._entered: Token[tuple[Doing[Any, Any], ...]] | None = None

    def __enter__(self) -> Self:
        self._entered = _AROUND.set((*_AROUND.get(), self))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /) -> None:
        assert self._entered is not None
        _AROUND.reset(self._entered)
        with _LOCK:
            whenever_idle = self._doings.end(self)
        self.let_go()
        if whenever_idle is not None:
            whenever_idle()

    def remember(self, result: R) -> bool:
        """Whether the result is kept for others: it is not where nobody would ask for it any more."""
        with _LOCK:
            return self._doings.remember(self, result)

    def pass_to(self, doings: Doings[K, R]) -> Self:
        self._doings = doings
        return self

    def wait(self, around: tuple[Doing[Any, Any], ...]) -> Wait:
        is_for_another = self._doings is not self._begun_for
        wait = Wait(around, is_for_another=is_for_another, is_on_its_thread=self._thread == threading.get_ident())
        self.waits.append(wait)
        return wait

    def let_go(self) -> None:
        """Nobody need wait for this any longer."""
        for wait in self.waits:
            if wait.over.set_running_or_notify_cancel():
                wait.over.set_result(None)


Turn: TypeAlias = Doing[K, R] | Done[R] | Wait

_AROUND: Final[ContextVar[tuple[Doing[Any, Any], ...]]] = ContextVar("strata_doing_once", default=())
"""The calls in whose functions the current one stands, those included that have ended since."""


def way_back(start: Doing[Any, Any], around: Collection[Doing[Any, Any]], running: Collection[Doing[Any, Any]]) -> tuple[Doing[Any, Any], ...]:
    """From `start` along what each waits for to one of those `around`; empty if none of them is waited for."""
    if start in around:
        return (start,)
    for awaited in running:
        if any(start in wait.around and not wait.over.done() for wait in awaited.waits) and (way := way_back(awaited, around, running)):
            return (start, *way)
    return ()
