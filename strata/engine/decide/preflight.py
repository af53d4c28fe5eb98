"""Whether each level of a stored thread can go on, and from where: outermost in, before anything is written (strata-waits.md 5.3, step 12)."""

from __future__ import annotations

from typing import Any

import msgspec

from strata.checkpoint.asked import question_of, results_of, told_of
from strata.checkpoint.metadata import hops_of
from strata.checkpoint.record import Checkpoint, DecisionRecord
from strata.engine.decide.answered import Answered, answered
from strata.engine.decide.fit import Answer, Woken, require_fit
from strata.engine.decide.questions import answers_after
from strata.engine.decide.reading import lacks, require_version
from strata.engine.level import Resumed
from strata.engine.plan import GraphPlan, NodePlan
from strata.errors import SignalRefused, WrongGraph, at_level
from strata.graph.answers import Signal


class TimesOut(Exception):
    """The wait timed out and has no route: the thread is ended, not resumed. No error; it never leaves the engine."""


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """What every level is offered: the answer, and when it came (the wire's text); `recovers`: it goes on by itself."""

    thread_id: str
    answer: Answer
    now: str
    waiting_at: tuple[str, ...]
    recovers: bool = False


def preflight(level: Checkpoint, plan: GraphPlan, offer: Offer, path: tuple[str, ...] = ()) -> Resumed:
    """Where the level goes on, with the levels inside it.

    Raises:
        Refused: one of its kinds.
        TimesOut: the innermost level's wait timed out, and no route is left of it.
    """
    thread_id = offer.thread_id
    if path:
        require_version(level, thread_id, path=path)
    hops = hops_of(level, thread_id, path)
    is_innermost = level.nested is None
    answer = offer.answer if is_innermost else _outer_answer(offer.answer, path)
    if is_innermost and not offer.recovers:
        require_fit(level, plan, answer, thread_id, f"[{'/'.join(offer.waiting_at)}]")
    start = _start(level, plan, answer, offer, path)
    suspended = None if level.suspended_node is None else plan.nodes.get(level.suspended_node)
    state = answered(level.frozen_state, plan, suspended if is_innermost else None, answer, thread_id, path, is_outer=not is_innermost)
    decision = _decision(level, answer, state, offer.now) if is_innermost else level.decision
    return Resumed(
        checkpoint=level,
        plan=plan,
        start=start,
        state=state.state,
        stored=state.stored,
        decision=decision,
        hops=hops,
        answers=answers_after(level, answer, decision, thread_id) if is_innermost else (),
        told=told_of(level, thread_id) if is_innermost else {},
        results=results_of(level, thread_id) if is_innermost else {},
        inside=_inside(level, start, offer, path),
    )


def _outer_answer(answer: Answer, path: tuple[str, ...]) -> Signal[Any] | None:
    return answer.outer.get(path) if isinstance(answer, Signal) else None


def _inside(level: Checkpoint, start: NodePlan, offer: Offer, path: tuple[str, ...]) -> Resumed | None:
    if level.nested is None:
        return None
    if start.child is None:
        raise WrongGraph(
            f"checkpoint nests a child graph under '{start.name}', which is not a subgraph node",
            thread_id=offer.thread_id,
            level=(*path, start.name),
            wrote=level.nested.graph,
        )
    return preflight(level.nested, start.child, offer, (*path, start.name))


def _start(level: Checkpoint, plan: GraphPlan, answer: Answer, offer: Offer, path: tuple[str, ...]) -> NodePlan:
    """The stored next node, or the route that this graph's boundary or wait has for a rejection or a timeout."""
    thread_id = offer.thread_id
    suspended = level.suspended_node
    if suspended is not None and suspended not in plan.nodes:
        raise lacks(level, plan, thread_id, path, "suspended", suspended)
    name = level.next_node
    if suspended is not None and level.nested is None and question_of(level, thread_id) is None:
        name = _routed(plan.nodes[suspended], level, answer, name)
    if name is None:
        raise SignalRefused(
            f"checkpoint for thread '{thread_id}'{at_level(path)} has no next_node to resume from",
            thread_id=thread_id,
            hint=f"'{suspended}' has no way out: add an @edge, or an @on_reject and reject it, or end() the thread",
        )
    if name not in plan.nodes:
        raise lacks(level, plan, thread_id, path, "next", name)
    return plan.nodes[name]


def _routed(node: NodePlan, level: Checkpoint, answer: Answer, name: str | None) -> str | None:
    if isinstance(answer, Woken) and answer.by == "timeout":
        if node.timeout_route is None:
            raise TimesOut
        return node.timeout_route
    if _decides(level, answer) and isinstance(answer, Signal) and answer.verdict == "reject":
        return node.reject_route or name
    return name


def _decides(level: Checkpoint, answer: Answer) -> bool:
    """Only a person's answer to an interrupted boundary is a decision."""
    return isinstance(answer, Signal) and answer.verdict != "amend" and level.status == "interrupted"


def _decision(level: Checkpoint, answer: Answer, state: Answered, now: str) -> DecisionRecord | None:
    if not _decides(level, answer) or not isinstance(answer, Signal) or level.suspended_node is None:
        return level.decision
    return DecisionRecord(
        boundary=level.suspended_node,
        is_approved=answer.verdict == "approve",
        reviewer=answer.reviewer,
        overrides=state.overrides,
        decided_at=now,
    )
