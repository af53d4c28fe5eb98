"""What a caller says to a paused thread, and what of it is kept."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Generic, Literal, ParamSpec, TypeVar

import msgspec

from strata.graph.identity import Identity
from strata.graph.state import SupportsReplace
from strata.graph.texts import text_of

P = ParamSpec("P")
R = TypeVar("R")
S_co = TypeVar("S_co", covariant=True)

Verdict = Literal["approve", "reject", "amend"]
LevelPath = tuple[str, ...]


class Signal(Generic[S_co]):
    """A person's answer to the innermost level of a thread: made by `graph.approve`, `graph.reject`, `graph.amend`.

    Immutable: `override` and `at` give a new one.
    """

    __slots__ = ("outer", "overrides", "reviewer", "state", "verdict")

    verdict: Verdict
    reviewer: str
    state: type[Any]
    overrides: Mapping[str, object]
    outer: Mapping[LevelPath, Signal[Any]]

    def __init__(
        self,
        verdict: Verdict,
        reviewer: str,
        state: type[Any],
        overrides: Mapping[str, object],
        outer: Mapping[LevelPath, Signal[Any]],
    ) -> None:
        self.verdict, self.reviewer, self.state, self.overrides, self.outer = verdict, reviewer, state, overrides, outer

    def override(self: Signal[SupportsReplace[P, R]], *args: P.args, **changes: P.kwargs) -> Signal[R]:
        """Replace top-level fields of the level's state; Python names, and None stores null.

        Names and types are checked when the thread is resumed, before anything is written (`SignalRefused`).

        Raises:
            TypeError: a value without the name of its field.
        """
        if args:
            raise TypeError(
                f"override() takes fields by name, as in override(score=9), not {args[0]!r}: a dict of them is unpacked, override(**changes)"
            )
        return Signal(self.verdict, self.reviewer, self.state, {**self.overrides, **changes}, self.outer)

    def at(self, *path: str, signal: Signal[Any]) -> Signal[S_co]:
        """Address an outer level by the subgraph nodes that lead to it (none: the outermost); only its overrides are used.

        Raises:
            TypeError: a node of the path is given otherwise than by its name, or `signal` is none.
        """
        for name in path:
            text_of(name, "at() takes a path of names: the name of a node")
        if not isinstance(signal, Signal):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"at() takes the answer to that level as signal=, as in signal=graph.approve().override(score=9), not {signal!r}")
        return Signal(self.verdict, self.reviewer, self.state, self.overrides, {**self.outer, path: signal})

    def __repr__(self) -> str:
        return f"Signal({self.verdict!r}, reviewer={self.reviewer!r}, overrides={dict(self.overrides)!r}, at={dict(self.outer)!r})"


class Event:
    """What has happened outside, told to a thread that waits for events of this type. Immutable.

    `payload` is given to the function of the wait: `UNSET` where there is none, which is not None where a wait declares a
    payload. `overrides` replace top-level fields of the innermost level's state after it; Python names, and None stores null.
    Without a payload they are taken alone: the function is not called.

    Raises:
        TypeError: the type is no text, or the overrides are no dict by field.
    """

    __slots__ = ("overrides", "payload", "type")

    type: str
    payload: Any
    overrides: Mapping[str, object]

    def __init__(self, type: str, /, *, payload: Any = msgspec.UNSET, overrides: Mapping[str, object] | None = None) -> None:
        if not isinstance(type, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"an event has a type, as in Event('payment.received'), and {type!r} is no text")
        object.__setattr__(self, "type", text_of(type, "the type of an event"))
        object.__setattr__(self, "payload", payload)
        object.__setattr__(self, "overrides", {} if overrides is None else _by_field(overrides))

    @property
    def has_payload(self) -> bool:
        return self.payload is not msgspec.UNSET

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an Event cannot change: make another one with {name}={value!r}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Event) and (self.type, self.payload, self.overrides) == (other.type, other.payload, other.overrides)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        payload = f", payload={self.payload!r}" if self.has_payload else ""
        overrides = f", overrides={self.overrides!r}" if self.overrides else ""
        return f"Event({self.type!r}{payload}{overrides})"


class Resume:
    """The answer to a question that a node asked with `ctx.interrupt(..., returns=T)`. Immutable.

    It is checked against the stored schema of T before anything is written (`SignalRefused`). `by` is who gives it.
    A question without `returns` is answered with a decision: `graph.approve(reviewer)` or `graph.reject(reviewer)`.
    """

    __slots__ = ("answer", "by")

    answer: Any
    by: str

    def __init__(self, answer: Any, /, *, by: str = "") -> None:
        object.__setattr__(self, "answer", answer)
        object.__setattr__(self, "by", by)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Resume cannot change: make another one instead of setting '{name}'")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Resume) and (self.answer, self.by) == (other.answer, other.by)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Resume({self.answer!r}, by={self.by!r})" if self.by else f"Resume({self.answer!r})"


def _by_field(overrides: Mapping[str, object]) -> dict[str, object]:
    if not isinstance(overrides, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"the overrides= of an event are a dict of field names to values, not {overrides!r}")
    for name in overrides:
        text_of(name, "the overrides= of an event are a dict by field: the name of a field")
    return dict(overrides)


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What a node has asked and waits to be answered.

    Attributes:
        id: its key, or `#n` for the n-th that the node asked without one; the same whenever the node runs again.
        node: the node's own name; `path` is the qualified one.
        asked: the question, as plain JSON values.
        schema: the JSON Schema of the answer, for `Resume(answer)`; None where `approve` or `reject` answers it.
    """

    id: str
    node: str
    path: str
    asked: Any
    schema: Mapping[str, Any] | None


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """The latest answer to a boundary of a level, as its nodes see it. `overrides` has the wire's (encoded) names."""

    boundary: str
    is_approved: bool
    reviewer: str
    overrides: Mapping[str, Any]
    decided_at: datetime


class WaitingFor(msgspec.Struct, frozen=True, kw_only=True):
    """What a paused thread waits for: a person with a time limit, an event, a timer."""

    kind: Literal["human", "event", "timer"]
    event_type: str | None
    wake_at: datetime | None


class StoredLevel(msgspec.Struct, frozen=True, kw_only=True):
    """One level of a stored thread, as a migration sees and answers it.

    Only `state` (its JSON, decoded to plain values), `suspended_node` and `next_node` may change (strata-graph.md 5).
    """

    thread_id: str
    identity: Identity
    status: str
    state: dict[str, Any]
    suspended_node: str | None
    next_node: str | None
    metadata: Mapping[str, str]
