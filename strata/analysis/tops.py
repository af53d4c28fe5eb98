"""The decorators that make a node of a function and the marks under them."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from strata.analysis.arguments import Arguments
from strata.analysis.bodies import event_wait_body, group_body, handler_body, map_body, subgraph_body, timer_body
from strata.analysis.findings import Findings
from strata.analysis.handlers import refuse_handlers
from strata.analysis.nodes import Body, Mark, Node, Top, Wired
from strata.analysis.values import UNKNOWN, Constant, Function, Value, is_given, known_seconds, pairs, text
from strata.rules import codes
from strata.rules.facts import SourcePlace


def node(arguments: Arguments, findings: Findings) -> Value:
    """`@node` is given the function itself, `@node("name")` and `@node()` give a decorator."""
    target = arguments.at(0)
    if isinstance(target, Function | Wired | Node):
        return node_of(target, Top(body=handler_body(arguments)), arguments.place, findings)
    if target is not None and not isinstance(target, Constant):
        return UNKNOWN  # a name that is computed, or a function that is not known
    return _top(handler_body(arguments), target, arguments)


def parallel(arguments: Arguments, findings: Findings) -> Value:
    return _top(group_body(arguments.positional, arguments, arguments.place), arguments.get("name"), arguments)


def subgraph(arguments: Arguments, findings: Findings) -> Value:
    return _top(subgraph_body(arguments.at(0), arguments), arguments.get("name"), arguments)


def map_each(arguments: Arguments, findings: Findings) -> Value:
    return _top(map_body(arguments.at(0), arguments), arguments.get("name"), arguments)


def wait_for_event(arguments: Arguments, findings: Findings) -> Value:
    return _top(event_wait_body(arguments.at(0), arguments), arguments.get("name"), arguments, has_timeout=False)


def timer(arguments: Arguments, findings: Findings) -> Value:
    return _top(timer_body(arguments.at(0), arguments), arguments.get("name"), arguments, has_timeout=False)


def node_of(decorated: Value, top: Top, place: SourcePlace, findings: Findings) -> Value:
    """The node of a function, with or without marks; UNKNOWN where Python refuses it, or its name cannot be told."""
    word = top.body.word
    if isinstance(decorated, Node):
        lower = decorated.body.word
        advice = f"remove one @{lower}" if lower == word else f"remove @{lower} or @{word}"
        told = f"<node '{decorated.name}' of {decorated.place}> has two top decorators: {advice}"
        findings.error(codes.MISPLACED_DECORATOR, told, place, node=decorated.name)
        return UNKNOWN
    wired = decorated if isinstance(decorated, Wired) else Wired(function=decorated, marks=(), is_open=not isinstance(decorated, Function))
    name = top.name if top.name is not None else _own_name(wired.function)
    if name is None or top.has_unknown_name:
        return UNKNOWN
    body = with_function(top.body, wired.function)
    refuse_handlers(body, name, place, findings)
    if not wired.is_open and _refuses_marks(wired.marks, body, name, findings):
        return UNKNOWN
    return Node(
        name=name,
        body=body,
        place=place,
        marks=wired.marks,
        timeout=top.timeout,
        metadata=top.metadata,
        is_open=wired.is_open,
    )


def with_function(body: Body, function: Value) -> Body:
    """The body with the function that is decorated, which `roles` has a place for."""
    return replace(body, roles=tuple(replace(role, function=function) if role.role is None else role for role in body.roles))


def _top(body: Body, name: Value | None, arguments: Arguments, *, has_timeout: bool = True) -> Top:
    return Top(
        body=body,
        name=text(name),
        has_unknown_name=is_given(name) and text(name) is None,
        timeout=known_seconds(arguments.get("timeout")) if has_timeout else None,
        metadata=pairs(arguments.get("metadata")),
    )


def _own_name(function: Value) -> str | None:
    return function.name if isinstance(function, Function) else None


def _refuses_marks(marks: Iterable[Mark], body: Body, name: str, findings: Findings) -> bool:
    """Whether marks mean nothing on a node of that kind, which Python refuses as the module is imported."""
    faults = list(_faults_of_wait(marks, body, name) if body.kind == "wait" else _faults_without_boundary(marks, name))
    for mark, fault in faults[:1]:
        findings.error(codes.MISPLACED_DECORATOR, fault, mark.place, node=name)
    return bool(faults)


def _faults_without_boundary(marks: Iterable[Mark], name: str) -> Iterable[tuple[Mark, str]]:
    by_word = {mark.word: mark for mark in marks}
    if "boundary" in by_word:
        return
    if (mark := by_word.get("on_reject")) is not None:
        yield mark, f"node '{name}' has @on_reject and no @boundary: put @boundary above @on_reject"
    if (mark := by_word.get("on_timeout")) is not None:
        yield mark, f"node '{name}' has @on_timeout and no @boundary: put @boundary(timeout=...) above @on_timeout"


def _faults_of_wait(marks: Iterable[Mark], body: Body, name: str) -> Iterable[tuple[Mark, str]]:
    by_word = {mark.word: mark for mark in marks}
    what = "wait" if body.is_event_wait else "timer"
    for mark in (by_word.get("retry"), by_word.get("on_failure")):
        if mark is not None:
            advice = f"a {what} does nothing that could fail: remove @{mark.word}, or put it on the node behind"
            yield mark, f"{what} '{name}' has @{mark.word}, and {advice}"
    if (mark := by_word.get("on_reject")) is not None:
        yield mark, f"{what} '{name}' has @on_reject, and no person answers a {what}: remove @on_reject"
    if (mark := by_word.get("on_timeout")) is not None and not body.is_event_wait:
        yield mark, f"timer '{name}' has @on_timeout, and a timer only has its time: say with @edge where it leads"
