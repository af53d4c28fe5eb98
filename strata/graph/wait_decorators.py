"""`@wait_for_event` and `@timer`: nodes after which the thread pauses until something comes, or a time does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Generic, LiteralString, Never, TypeVar, Unpack, overload

import msgspec

from strata.graph.answers import Event
from strata.graph.bodies import event_wait_body, timer_body
from strata.graph.decorators import Top, TopDecorator, TopOptions, as_node
from strata.graph.nodes import Composite, Wired
from strata.graph.places import caller
from strata.graph.spec import EventWaitBody, TimerBody
from strata.graph.state import State

S = TypeVar("S", bound=State)
E = TypeVar("E")
F_co = TypeVar("F_co", bound=Callable[..., Any], covariant=True)
N = TypeVar("N", bound=LiteralString)
N_co = TypeVar("N_co", bound=LiteralString, covariant=True)
T = TypeVar("T", bound=LiteralString)
T_co = TypeVar("T_co", bound=LiteralString, covariant=True)


class Wait(Composite[S, F_co, N_co, T_co], Generic[S, F_co, N_co, T_co, E]):
    """A node that waits for an event with a payload of type `E` (None: without one)."""

    @overload
    def event(self: Wait[S, F_co, N_co, T_co, None], payload: None = None, /) -> Event: ...
    @overload
    def event(self, payload: E, /) -> Event: ...
    def event(self, payload: Any = msgspec.UNSET, /) -> Event:
        """The event that this node waits for: `await runner.signal("order-1", await_payment.event(Payment(amount=3)))`."""
        body = self.spec.body
        assert isinstance(body, EventWaitBody)
        is_bare = payload is msgspec.UNSET or (payload is None and not body.takes_payload)
        return Event(body.event_type) if is_bare else Event(body.event_type, payload=payload)


class WaitDecorator(TopDecorator, Generic[N]):
    """`@wait_for_event(...)` on its way to the function that folds the event into the state."""

    @overload
    def __call__(self, fn: Wired[Callable[[S, E], S], T], /) -> Wait[S, Callable[[S, E], S], N, T, E]: ...
    @overload
    def __call__(self, fn: Wired[Callable[[S], S], T], /) -> Wait[S, Callable[[S], S], N, T, None]: ...
    @overload
    def __call__(self, fn: Callable[[S, E], S], /) -> Wait[S, Callable[[S, E], S], N, Never, E]: ...
    @overload
    def __call__(self, fn: Callable[[S], S], /) -> Wait[S, Callable[[S], S], N, Never, None]: ...
    def __call__(self, fn: Any, /) -> Any:
        return as_node(fn, self._top, caller())


@overload
def wait_for_event(event_type: str, /, *, name: N, **options: Unpack[TopOptions]) -> WaitDecorator[N]: ...
@overload
def wait_for_event(event_type: str, /, *, name: str, **options: Unpack[TopOptions]) -> WaitDecorator[Any]: ...  # type: ignore[overload-cannot-match]
@overload
def wait_for_event(event_type: str, /, **options: Unpack[TopOptions]) -> WaitDecorator[LiteralString]: ...
def wait_for_event(
    event_type: str, /, *, name: str | None = None, timeout: timedelta | float | None = None, metadata: Mapping[str, str] | None = None
) -> Any:
    """Make a node at which the thread pauses until an event of that type comes.

    The decorated function runs when it does: `(state, payload: T)` to state, or `(state)` where the event carries nothing
    that matters. It is sync and pure; a fault in it refuses the event, and the thread still waits. The edge is chosen at
    the pause, before anything came: to route on the payload, put a node behind (strata-waits.md 3).

    Args:
        event_type: compared as text.
        name: the node's; by default the function's own.
        timeout: counts from the pause, a timedelta or seconds; then the thread goes to `@on_timeout`, or is ended.
        metadata: exported with the definition.

    Raises:
        TypeError: it is no such function, or decorators are stacked the wrong way round.
    """

    def body(fn: Any, where: str, names: Mapping[str, Any]) -> EventWaitBody:
        return event_wait_body(event_type, fn, timeout=timeout, where=where, names=names)

    return WaitDecorator[Any](Top(body=body, word="wait_for_event", made=Wait, name=name, metadata=metadata))


class TimerDecorator(TopDecorator, Generic[N]):
    """`@timer(...)` on its way to the function that runs when it fires."""

    @overload
    def __call__(self, fn: Wired[Callable[[S], S], T], /) -> Composite[S, Callable[[S], S], N, T]: ...
    @overload
    def __call__(self, fn: Callable[[S], S], /) -> Composite[S, Callable[[S], S], N, Never]: ...
    def __call__(self, fn: Any, /) -> Any:
        return as_node(fn, self._top, caller())


class UntilDecorator(TopDecorator, Generic[S, N]):
    """`@timer(until=...)` on its way to the function, which must be of the state that `until` is asked of."""

    @overload
    def __call__(self, fn: Wired[Callable[[S], S], T], /) -> Composite[S, Callable[[S], S], N, T]: ...
    @overload
    def __call__(self, fn: Callable[[S], S], /) -> Composite[S, Callable[[S], S], N, Never]: ...
    def __call__(self, fn: Any, /) -> Any:
        return as_node(fn, self._top, caller())


@overload
def timer(delay: timedelta | float, /, *, name: N, metadata: Mapping[str, str] | None = ...) -> TimerDecorator[N]: ...
@overload
def timer(  # type: ignore[overload-cannot-match]
    delay: timedelta | float, /, *, name: str, metadata: Mapping[str, str] | None = ...
) -> TimerDecorator[Any]: ...
@overload
def timer(delay: timedelta | float, /, *, metadata: Mapping[str, str] | None = ...) -> TimerDecorator[LiteralString]: ...
@overload
def timer(*, until: Callable[[S], datetime], name: N, metadata: Mapping[str, str] | None = ...) -> UntilDecorator[S, N]: ...
@overload
def timer(*, until: Callable[[S], datetime], name: str, metadata: Mapping[str, str] | None = ...) -> UntilDecorator[S, Any]: ...
@overload
def timer(*, until: Callable[[S], datetime], metadata: Mapping[str, str] | None = ...) -> UntilDecorator[S, LiteralString]: ...
def timer(
    delay: timedelta | float | None = None,
    /,
    *,
    until: Callable[[Any], datetime] | None = None,
    name: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Any:
    """Make a node at which the thread pauses for a while, or until a time.

    The decorated function `(state)` to state runs when the time has come. It is sync and pure.

    Args:
        delay: from the pause, a timedelta or seconds.
        until: the time, aware, from the state; asked at the pause. A time that is past is due at once.
        name: the node's; by default the function's own.
        metadata: exported with the definition.

    Raises:
        TypeError: not exactly one of delay and until, no such function, or decorators stacked the wrong way round.
    """

    def body(fn: Any, where: str, names: Mapping[str, Any]) -> TimerBody:
        return timer_body(delay, until=until, fold=fn, where=where, names=names)

    top = Top(body=body, word="timer", made=Composite, name=name, metadata=metadata)
    return TimerDecorator[Any](top) if until is None else UntilDecorator[Any, Any](top)
