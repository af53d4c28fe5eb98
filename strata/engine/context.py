"""The context of one attempt of one node."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import CancelledError as FutureCancelled
from concurrent.futures import Future
from datetime import datetime
from functools import partial
from typing import Any, Final, TypeVar, cast

import msgspec

from strata.checkpoint.record import DecisionRecord
from strata.engine import once
from strata.engine.asking import Asking
from strata.engine.calling import CallSite
from strata.engine.doing import Doing, Done, Turn, Wait
from strata.engine.interrupt import Scope
from strata.engine.kept import ONCE
from strata.engine.level import Level
from strata.engine.place import hops_within, place_of
from strata.engine.run import Run
from strata.engine.shielding import shielded
from strata.engine.stream import Channel, Diagnostic, StreamEvent, Token
from strata.errors import CannotAsk, OnceBlocksLoop, Pause
from strata.graph.answers import Decision
from strata.graph.context import Context, LastFailure
from strata.graph.times import parse_wire_time

T = TypeVar("T")

_ASKING: Final = threading.Lock()
"""Threads of a node may ask at once. One lock for all: a question is rare, and a lock for each context would not be."""


class NodeContext(Context):
    """What the walk hands to a handler; made for each attempt, and closed when the attempt ends: late tokens are dropped."""

    __slots__ = (
        "_attempt",
        "_blocked",
        "_decision",
        "_hop",
        "_in_place",
        "_is_recovery",
        "_last_failure",
        "_level",
        "_loop",
        "_name",
        "_open",
        "_path",
        "_recoveries",
        "_run",
        "_scope",
        "_site",
        "_thread",
        "_unkept",
        "asking",
    )

    def __init__(self, run: Run, level: Level, name: str, *, in_place: bool, path: str | None = None, scope: Scope | None = None) -> None:
        """For the level's node, or for the branch of it that `path` names and `scope` stops. `in_place`: the loop stands still meanwhile."""
        self._run = run
        self._level = level
        self._name = name
        self._path = path
        self._scope = level.scope if scope is None else scope
        self._hop = level.hops
        self._attempt = level.attempt
        self._is_recovery = level.recovering
        self._recoveries = level.recoveries
        self._last_failure = level.last_failure
        self._decision = level.decision
        self.asking: Asking | None = None
        self._unkept: list[asyncio.Task[None] | Future[None]] = []  # results that are on their way to the store
        self._open = True
        self._in_place = in_place
        self._thread: int | None = None
        self._blocked: list[Future[None]] = []  # what threads of the attempt wait for
        self._site: CallSite | None = None
        self._loop = asyncio.get_running_loop()

    def enter_thread(self) -> None:
        """The handler runs on the thread that calls this."""
        self._thread = threading.get_ident()

    def close(self) -> None:
        """Nobody will take what the attempt comes to: what it still sends is dropped.

        A thread of it that waits, for room or for somebody else, need not wait any longer.
        """
        self._open = False
        for blocked in tuple(self._blocked):
            blocked.cancel()

    async def leave(self) -> None:
        """The attempt has ended: what it has done once is in the store when this returns."""
        self.close()
        for keeping in tuple(self._unkept):
            kept: asyncio.Future[None] = asyncio.wrap_future(keeping)
            await shielded(asyncio.shield(kept))

    @property
    def site(self) -> CallSite:
        """Where this attempt calls tools and models from, for the rooms that know them."""
        if self._site is None:
            self._site = CallSite(self._run, self._name, self.path, self._attempt, self._loop)
        return self._site

    @property
    def thread_id(self) -> str:
        return self._run.thread_id

    @property
    def node(self) -> str:
        return self._name

    @property
    def path(self) -> str:
        return "/".join((*self._level.path, self._name)) if self._path is None else self._path

    @property
    def attempt(self) -> int:
        return self._attempt

    @property
    def run_id(self) -> str:
        return self._run.run_id

    @property
    def hop(self) -> int:
        return self._hop

    @property
    def metadata(self) -> Mapping[str, str]:
        return self._run.metadata

    @property
    def decision(self) -> Decision | None:
        record = self._decision
        return None if record is None else decision_of(record)

    @property
    def last_failure(self) -> LastFailure | None:
        return self._last_failure

    @property
    def idempotency_key(self) -> str:
        key = f"{self._run.thread_id}/{self.place}"
        return key if self._run.durable else f"{key}@{self._run.run_id}"

    @property
    def place(self) -> str:
        """The node and its hops: what its idempotency key names beside thread and run."""
        parent = self._level.parent
        return place_of(self.path, hops_within("" if parent is None else parent.hop_chain, self._hop))

    @property
    def is_recovery(self) -> bool:
        return self._is_recovery

    @property
    def recoveries(self) -> int:
        return self._recoveries

    @property
    def deadline(self) -> datetime | None:
        return self._run.deadline

    @property
    def graph(self) -> str | None:
        identity = self._level.plan.identity
        return None if identity is None else identity.id

    @property
    def streaming(self) -> bool:
        return self._run.channel is not None

    @property
    def cancelled(self) -> bool:
        return not self._open or self._scope.reason is not None or self._scope.interrupt.timed_out

    def raise_if_cancelled(self) -> None:
        if self.cancelled:
            raise asyncio.CancelledError

    def service(self, type_: type[T], /) -> T | None:
        exact = self._run.services.get(type_)
        if exact is not None:
            return cast("T", exact)
        return next((service for service in self._run.services.values() if isinstance(service, type_)), None)

    async def token(self, text: str, /) -> None:
        if (channel := self._reader()) is not None:
            await channel.put(self._token(text), is_open=self._is_open)

    def token_sync(self, text: str, /) -> None:
        if (channel := self._reader()) is not None:
            self._put_in_sync(channel, self._token(text))

    async def diagnostic(self, message: str, /, **details: object) -> None:
        if (channel := self._reader()) is not None:
            await channel.put(self._diagnostic(message, details), is_open=self._is_open)

    def diagnostic_sync(self, message: str, /, **details: object) -> None:
        if (channel := self._reader()) is not None:
            self._put_in_sync(channel, self._diagnostic(message, details))

    def _ask(self, question: object, returns: Any, key: str | None) -> Any:
        if self._path is not None or self._level.is_item:
            raise CannotAsk(self.path)
        with _ASKING:
            return self._answer(question, returns, key)

    def _answer(self, question: object, returns: Any, key: str | None) -> Any:
        if not self._open:
            raise asyncio.CancelledError
        if self.asking is None:
            self.asking = Asking(self._name, self._level.kept.answers_at(self.place))
        if self.asking.open is not None:  # the node has been stopped already
            raise Pause
        answer = self.asking.ask(question, returns, key, in_order=self._asks_in_order())
        if answer is msgspec.UNSET:
            self._level.kept.asks(self.place, unfit=self.asking.unfit)
            raise Pause
        return answer

    def _asks_in_order(self) -> bool:
        """Whether the handler itself asks, one question after another; tasks and threads that it starts come in any order."""
        task = _current_task()
        if self._thread is None:
            return task is self._level.interrupt.task
        return task is None and threading.get_ident() == self._thread

    async def _once(self, key: str, fn: Callable[[], Any]) -> Any:
        is_anothers = False
        while isinstance(turn := self._turn(key), Wait):
            await turn.until_over()
            is_anothers = turn.is_for_another
        if isinstance(turn, Done):
            if is_anothers and (keeping := self._keeping(key, turn.result)) is not None:
                await self._keep(keeping)
            return once.decode(self._name, key, fn, turn.result)
        with turn:
            result = fn()
            if inspect.isawaitable(result):
                result = await result
            if (keeping := self._remember(turn, once.encode(self._name, key, fn, result))) is not None:
                await self._keep(keeping)
            return result

    def _once_sync(self, key: str, fn: Callable[[], Any]) -> Any:
        is_anothers = False
        while isinstance(turn := self._turn(key), Wait):
            self._wait_for(turn, key)
            is_anothers = turn.is_for_another
        if isinstance(turn, Done):
            if is_anothers and (keeping := self._keeping(key, turn.result)) is not None:
                self._keep_in_sync(keeping)
            return once.decode(self._name, key, fn, turn.result)
        with turn:
            result = fn()
            if (keeping := self._remember(turn, once.encode(self._name, key, fn, result))) is not None:
                self._keep_in_sync(keeping)
            return result

    def _turn(self, key: str) -> Turn[tuple[str, str], bytes]:
        if not self._open:
            raise asyncio.CancelledError
        self._level.keeps()  # from here on: a thread may still be at it when the node has left the attempt, or has committed
        return self._level.kept.doings.begin((self.place, key), path=self.path, key=key)

    def _wait_for(self, wait: Wait, key: str) -> None:
        if self._is_on_loop() and not self._in_place:  # which tasks need to go on, and threads to store what they did
            wait.over.cancel()
            raise OnceBlocksLoop(self.path, key)
        self._block_until(wait.over)

    def _remember(self, doing: Doing[tuple[str, str], bytes], record: bytes) -> Coroutine[Any, Any, None] | None:
        """Keep the result for the run; what is to be awaited keeps it in the store too."""
        return self._keeping(doing.key, record) if doing.remember(record) else None

    def _keeping(self, key: str, record: bytes) -> Coroutine[Any, Any, None] | None:
        progress = self._run.progress
        if progress is None or self._loop.is_closed():  # a thread may outlive its node, and the loop
            return None
        return progress.keep({(self.place, f"{ONCE}{key}"): record})

    async def _keep(self, keeping: Coroutine[Any, Any, None]) -> None:
        """Wait for it; where this is cancelled it goes on, and whoever leaves the attempt waits for it."""
        kept = self._started(keeping)
        try:
            await asyncio.shield(asyncio.wrap_future(kept))
        finally:
            if kept.done():
                self._unkept.remove(kept)

    def _keep_in_sync(self, keeping: Coroutine[Any, Any, None]) -> None:
        kept = self._started(keeping)
        if isinstance(kept, Future) and not self._in_place:  # else it cannot be waited for here: the node waits when its function has returned
            try:
                kept.result()
            finally:
                self._unkept.remove(kept)

    def _started(self, keeping: Coroutine[Any, Any, None]) -> asyncio.Task[None] | Future[None]:
        """It runs on the run's own loop, whoever waits for it."""
        kept: asyncio.Task[None] | Future[None]
        if self._is_on_loop():
            kept = self._loop.create_task(keeping)
            self._unkept.append(kept)
        else:
            kept = Future()
            self._unkept.append(kept)  # first: the attempt may be left at any moment
            asyncio.run_coroutine_threadsafe(keeping, self._loop).add_done_callback(partial(_hand_on, kept))
        return kept

    async def sleep(self, seconds: float, /) -> None:
        await self._run.clock.sleep(seconds)

    def sleep_sync(self, seconds: float, /) -> None:
        if self._is_on_loop():
            time.sleep(seconds)
            return
        over = threading.Event()
        self._loop.call_soon_threadsafe(self._wake_later, seconds, over)
        over.wait()
        self.raise_if_cancelled()

    def _wake_later(self, seconds: float, over: threading.Event) -> None:
        timer = self._run.clock.call_later(seconds, over.set)
        poll = 0.05  # how soon an abandoned sleep notices; a sleep is user time, not ours

        def look() -> None:
            if over.is_set():
                return
            if self.cancelled:
                timer.cancel()
                over.set()
            else:
                self._loop.call_later(poll, look)

        look()

    def _put_in_sync(self, channel: Channel, event: StreamEvent) -> None:
        if self._is_on_loop():
            channel.put_now(event)
        else:
            self._put_from_thread(channel, event)

    def _put_from_thread(self, channel: Channel, event: StreamEvent) -> None:
        self._block_until(asyncio.run_coroutine_threadsafe(channel.put(event, is_open=self._is_open), self._loop))

    def _block_until(self, over: Future[None]) -> None:
        """Keep this thread waiting until then, or until the attempt has ended.

        Raises:
            asyncio.CancelledError: it has.
        """
        self._blocked.append(over)
        try:
            if not self._open:
                over.cancel()
            over.result()
        except FutureCancelled:
            raise asyncio.CancelledError from None
        finally:
            self._blocked.remove(over)

    def _is_open(self) -> bool:
        return self._open

    def _reader(self) -> Channel | None:
        return self._run.channel if self._open else None

    def _token(self, text: str) -> Token:
        return Token(path=self.path, attempt=self.attempt, text=text)

    def _diagnostic(self, message: str, details: Mapping[str, object]) -> Diagnostic:
        return Diagnostic(path=self.path, attempt=self.attempt, message=message, details=details)

    def _is_on_loop(self) -> bool:
        try:
            return asyncio.get_running_loop() is self._loop
        except RuntimeError:
            return False


def _hand_on(to: Future[None], over: Future[None]) -> None:
    if over.cancelled():
        to.cancel()
    elif (error := over.exception()) is not None:
        to.set_exception(error)
    else:
        to.set_result(None)


def _current_task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # no loop runs in this thread
        return None


def decision_of(record: DecisionRecord) -> Decision:
    """A recorded decision as a handler or a caller sees it."""
    return Decision(
        boundary=record.boundary,
        is_approved=record.is_approved,
        reviewer=record.reviewer,
        overrides=msgspec.json.decode(record.overrides),
        decided_at=parse_wire_time(record.decided_at),
    )
