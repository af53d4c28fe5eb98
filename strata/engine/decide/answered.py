"""The state that an answer makes of the stored one: folded, overridden, and found to be a state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from strata.engine.decide.fit import Answer, Woken
from strata.engine.decide.reading import rehydrated, unreadable_state
from strata.engine.plan import GraphPlan, NodePlan
from strata.errors import OverrideRefused, SignalRefused, StateRefused, StateUnreadable, at_level
from strata.graph.answers import Event, Signal
from strata.graph.plain_json import plain_json
from strata.graph.spec import EventWaitBody, TimerBody


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """A level's state as it goes on; `overrides` are the answer's, as the JSON object that a decision records."""

    state: Any
    stored: msgspec.Raw
    overrides: msgspec.Raw = msgspec.Raw(b"{}")


def answered(
    stored: msgspec.Raw,
    plan: GraphPlan,
    node: NodePlan | None,
    answer: Answer,
    thread_id: str,
    path: tuple[str, ...],
    *,
    is_outer: bool,
) -> Answered:
    """The payload is converted and folded, then overrides are laid over, then the whole is read as a state (design, waits).

    `node` is the one that the level waits at; none for an outer level, which is only overridden.

    Raises:
        SignalRefused: the payload or an override does not fit, or the fold failed.
        CheckpointUnreadable: the stored state is none of this graph's.
    """
    folded = _folded(stored, plan, node, answer, thread_id, path)
    data = stored if folded is None else msgspec.Raw(plan.codec.encode(folded))
    changes = _changes(answer, plan, thread_id, f"level [{'/'.join(path)}]" if is_outer else "innermost level")
    if not changes:
        return Answered(state=rehydrated(plan, data, thread_id, path) if folded is None else folded, stored=data)
    try:
        overrides = plan.codec.override_bytes(changes)
        changed = msgspec.Raw(plan.codec.with_overrides(data, overrides))
    except OverrideRefused as error:
        is_misfit = error.field in plan.graph.state.__struct_fields__
        what = f"failed to rehydrate state for thread '{thread_id}'{at_level(path)}" if is_misfit else f"cannot resume thread '{thread_id}'"
        raise SignalRefused(f"{what}: {error}", thread_id=thread_id) from error
    except StateUnreadable as error:
        raise unreadable_state(error, thread_id, path) from error
    raw = msgspec.json.encode({name: msgspec.Raw(value) for name, value in overrides.items()})
    return Answered(state=_as_state(plan, changed, data, thread_id, path), stored=changed, overrides=msgspec.Raw(raw))


def _as_state(plan: GraphPlan, changed: msgspec.Raw, before: msgspec.Raw, thread_id: str, path: tuple[str, ...]) -> Any:
    """The overridden state; where it is none, it is the answer's fault if the stored one was."""
    try:
        return plan.codec.decode(changed)
    except StateUnreadable as error:
        rehydrated(plan, before, thread_id, path)
        raise SignalRefused(f"failed to rehydrate state for thread '{thread_id}'{at_level(path)}: {error}", thread_id=thread_id) from error


def _changes(answer: Answer, plan: GraphPlan, thread_id: str, where: str) -> Mapping[str, object]:
    if isinstance(answer, Event):
        return answer.overrides or {}
    if not isinstance(answer, Signal) or not answer.overrides:
        return {}
    if answer.state is not plan.graph.state:
        raise SignalRefused(
            f"cannot resume thread '{thread_id}': the answer overrides fields of {answer.state.__name__}, "
            f"and the thread's {where} holds a {plan.graph.state.__name__}",
            thread_id=thread_id,
            hint=f"make the answer from the graph of {plan.graph.state.__name__}: approve() and reject() of that graph",
        )
    return answer.overrides


def _folded(stored: msgspec.Raw, plan: GraphPlan, node: NodePlan | None, answer: Answer, thread_id: str, path: tuple[str, ...]) -> Any | None:
    """What the wait's own function makes of the state; None where it is not called: a timeout, or an event with overrides only."""
    if node is None:
        return None
    if isinstance(node.work, TimerBody) and answer == Woken("timer") and node.work.fold is not None:
        return _called(node, plan, node.work.fold, (rehydrated(plan, stored, thread_id, path),), thread_id)
    if not isinstance(node.work, EventWaitBody) or not isinstance(answer, Event) or node.work.fold is None:
        return None
    if not node.work.takes_payload:
        return _called(node, plan, node.work.fold, (rehydrated(plan, stored, thread_id, path),), thread_id)
    if not answer.has_payload:
        if answer.overrides:
            return None
        raise SignalRefused(
            f"event '{answer.type}' for thread '{thread_id}' carries no payload, and '{node.name}' folds one into the state",
            thread_id=thread_id,
            hint=f"make it with {node.name}.event(payload)",
        )
    payload = _payload(node.work, answer, thread_id)
    return _called(node, plan, node.work.fold, (rehydrated(plan, stored, thread_id, path), payload), thread_id)


def _payload(wait: EventWaitBody, event: Event, thread_id: str) -> Any:
    try:
        return msgspec.convert(plain_json(event.payload), wait.payload)
    except Exception as error:
        raise SignalRefused(f"the payload of event '{event.type}' for thread '{thread_id}' does not fit: {error}", thread_id=thread_id) from error


def _called(node: NodePlan, plan: GraphPlan, fold: Any, arguments: tuple[Any, ...], thread_id: str) -> Any:
    try:
        return plan.codec.check_result(None, fold(*arguments), node.name)
    except StateRefused as error:
        raise SignalRefused(f"cannot resume thread '{thread_id}': {error}", thread_id=thread_id) from error
    except Exception as error:
        text = f"cannot resume thread '{thread_id}': the function of '{node.name}' raised {type(error).__name__}: {error}"
        raise SignalRefused(text, thread_id=thread_id) from error
