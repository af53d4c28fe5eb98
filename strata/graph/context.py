"""What a handler is told of the run that calls it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import msgspec

from strata.graph.context_arguments import require_function, require_key, require_sync_function

if TYPE_CHECKING:
    from typing_extensions import TypeForm

    from strata.graph.answers import Decision

T = TypeVar("T")


class LastFailure(msgspec.Struct, frozen=True, kw_only=True):
    """What a fallback node is told of the failure that led to it (strata-execution.md 3).

    `message`, `kind` and `retry_after` (seconds) are those of the last attempt's error.
    """

    node: str
    node_path: str
    message: str
    kind: Literal["transient", "fatal"]
    retry_after: float | None
    attempts: int
    timed_out: bool
    error: BaseException


class Context(ABC):
    """Handed to the parameter annotated `Context`, wherever it stands (strata-execution.md 3).

    It only listens: a handler cannot cancel its own run with it.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def thread_id(self) -> str:
        """The id given to the outermost call, at every depth."""

    @property
    @abstractmethod
    def node(self) -> str:
        """The node's own name."""

    @property
    @abstractmethod
    def path(self) -> str:
        """The node's qualified name (`Work/draft`)."""

    @property
    @abstractmethod
    def attempt(self) -> int:
        """From 1."""

    @property
    @abstractmethod
    def run_id(self) -> str:
        """Of this call; a resume is a new run."""

    @property
    @abstractmethod
    def hop(self) -> int:
        """The node's hop at its level, from 1."""

    @property
    @abstractmethod
    def metadata(self) -> Mapping[str, str]:
        """The run's metadata, the same at every depth."""

    @property
    @abstractmethod
    def decision(self) -> Decision | None:
        """The latest answer to a boundary of this node's level."""

    @property
    @abstractmethod
    def last_failure(self) -> LastFailure | None:
        """In a node that `@on_failure` led to: what failed. None in every other node, and after a resume."""

    @property
    @abstractmethod
    def idempotency_key(self) -> str:
        """Names this execution of the node: `thread/path#hop`, the same on every retry and recovery.

        In a run that is not durable `@run_id` follows, since nothing would let another process find the hop again.
        """

    @property
    @abstractmethod
    def is_recovery(self) -> bool:
        """The node may have run before: its thread was recovered, and no node of its level has committed since."""

    @property
    @abstractmethod
    def recoveries(self) -> int:
        """How often the thread was recovered since a node last committed."""

    @property
    @abstractmethod
    def deadline(self) -> datetime | None:
        """When the run is cancelled, if it has a deadline."""

    @property
    @abstractmethod
    def graph(self) -> str | None:
        """The id of the graph that the node runs in, if it has one."""

    @property
    @abstractmethod
    def streaming(self) -> bool:
        """Somebody reads this run's stream."""

    @property
    @abstractmethod
    def cancelled(self) -> bool:
        """The run, or this attempt of the node, is being stopped."""

    @abstractmethod
    def raise_if_cancelled(self) -> None:
        """Raise `asyncio.CancelledError` if the node is being stopped: for sync handlers, which nobody can interrupt."""

    @abstractmethod
    def service(self, type_: type[T], /) -> T | None:
        """The run's service of exactly that type, else the first one that is an instance of it, else None."""

    @abstractmethod
    async def token(self, text: str, /) -> None:
        """Send text to the run's reader, waiting while its buffer is full; without a reader it goes nowhere."""

    @abstractmethod
    def token_sync(self, text: str, /) -> None:
        """`token` for a sync handler."""

    @abstractmethod
    async def diagnostic(self, message: str, /, **details: object) -> None:
        """Tell the run's reader how the work goes, waiting while its buffer is full; without a reader it goes nowhere.

        It comes as a `Diagnostic` with the same message and details, and is stored nowhere.
        """

    @abstractmethod
    def diagnostic_sync(self, message: str, /, **details: object) -> None:
        """`diagnostic` for a sync handler."""

    @abstractmethod
    async def sleep(self, seconds: float, /) -> None:
        """Sleep on the run's clock."""

    @abstractmethod
    def sleep_sync(self, seconds: float, /) -> None:
        """`sleep` for a sync handler; on a worker thread it ends early when the node is stopped."""

    @overload
    def interrupt(self, question: object, /, *, key: str | None = None) -> Decision: ...
    @overload
    def interrupt(self, question: object, /, *, returns: TypeForm[T], key: str | None = None) -> T: ...
    def interrupt(self, question: object, /, *, returns: Any = msgspec.UNSET, key: str | None = None) -> Any:
        """The answer to `question` (any JSON), if there is one; else the node stops here and the thread waits for it.

        The thread is answered with `Resume(answer)`, or, where nothing is said about what it `returns`, with
        `graph.approve(reviewer)` or `graph.reject(reviewer)`. The node then runs again from its start, in the same hop, and is
        given the answers that it has again. What must not be done twice stands behind the question, or in `once`. An answer
        that fits the JSON Schema of `returns` and is none of it all the same (a text that is no date) is dropped with a
        warning, and the question is asked again.

        An answer belongs to a question by its `key`, or without one by what is asked: the same question, in the order of asking
        where it is asked more than once. A question in other words (with the time in it) means the answer that is left, if
        that is one and the node asks one question after another; asked in a task or thread that the node started, it is
        another question. So what is asked in changing words, or in changing order, needs a `key`.

        Raises:
            Pause: there is no answer yet. It is no `Exception`; a handler that keeps it fails with `PauseSwallowed`.
            QuestionChanged: an answer is kept that was asked for with another type, or nothing tells which of several is meant.
            CannotAsk: in a branch of a group, or an item of a map.
            TypeError: the question is no JSON (NaN is none), or `returns` no type that JSON can hold.
        """
        if key is not None:
            require_key(key)
        return self._ask(question, returns, key)

    @overload
    async def once(self, key: str, fn: Callable[[], Awaitable[T]], /) -> T: ...
    @overload
    async def once(self, key: str, fn: Callable[[], T], /) -> T: ...
    async def once(self, key: str, fn: Callable[[], Any], /) -> Any:
        """What `fn` gives, called once for this execution of the node; every other time its result is given back.

        The result is kept under the node's idempotency key and `key` for as long as the node may run again under that key:
        through its retries and those of a subgraph around it, recovery, answers to its questions, and resumes after a failure.
        In a durable run it is in the store before the node goes on. It is JSON; what else JSON can hold has its type from the
        annotation of what `fn` returns.

        The key alone says what is meant: a second call with it, in the same attempt too, is given the first one's result,
        whatever `fn` it comes with. What is done for each of several things has a key for each, as `f"pay {line.id}"`.
        A call that comes while another one does it, from whatever task, thread or attempt of the node, waits for that one; also
        where the run is over for which a thread still does it, and this one goes on with it: in the same process and over the
        same store object. In another process, or over another object, it would be done again: give threads time to end.

        Raises:
            OnceInsideItself: `fn` itself calls this with the same key, or with that of a call which waits for this one.
            ResultRefused: the result would not come back as the same. `fn` has been called.
            TypeError: the key is no text, or `fn` no function; nothing has been called.
            Exception: what `fn` raised; nothing is kept.
        """
        require_key(key)
        require_function(fn, "ctx.once()")
        return await self._once(key, fn)

    def once_sync(self, key: str, fn: Callable[[], T], /) -> T:
        """`once` for a sync handler, with a sync `fn`. In a node that runs in place the store has the result when the node returns.

        Raises:
            OnceBlocksLoop: an async node calls it on the event loop while another call does it; elsewhere, and in a node
                that runs in place, it waits.
            OnceInsideItself, ResultRefused, TypeError, Exception: see `once`.
        """
        require_key(key)
        require_sync_function(fn, "ctx.once_sync()")
        result: T = self._once_sync(key, fn)
        return result

    @abstractmethod
    async def _once(self, key: str, fn: Callable[[], Any]) -> Any:
        """`fn` may be either, sync or async."""

    @abstractmethod
    def _once_sync(self, key: str, fn: Callable[[], Any]) -> Any:
        """`fn` is sync."""

    @abstractmethod
    def _ask(self, question: object, returns: Any, key: str | None) -> Any:
        """`returns` is UNSET where a decision is asked for."""
