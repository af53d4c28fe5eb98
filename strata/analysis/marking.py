"""The decorators under a top decorator, and what they make of a function."""

from __future__ import annotations

from strata.analysis.arguments import Arguments
from strata.analysis.findings import Findings
from strata.analysis.nodes import Mark, Node, Wired
from strata.analysis.values import UNKNOWN, Backoff, Function, Value, is_given, seconds, text
from strata.rules import codes


def edge(arguments: Arguments, findings: Findings) -> Mark:
    return Mark(word="edge", place=arguments.place, target=target_of(arguments.at(0), "@edge", arguments, findings))


def when(arguments: Arguments, findings: Findings) -> Mark:
    target = target_of(arguments.get("to"), "@when", arguments, findings)
    return Mark(word="when", place=arguments.place, target=target, guard=arguments.at(0) or UNKNOWN)


def on_reject(arguments: Arguments, findings: Findings) -> Mark:
    return Mark(word="on_reject", place=arguments.place, target=target_of(arguments.at(0), "@on_reject", arguments, findings))


def on_timeout(arguments: Arguments, findings: Findings) -> Mark:
    return Mark(word="on_timeout", place=arguments.place, target=target_of(arguments.at(0), "@on_timeout", arguments, findings))


def on_failure(arguments: Arguments, findings: Findings) -> Mark:
    return Mark(word="on_failure", place=arguments.place, target=target_of(arguments.at(0), "@on_failure", arguments, findings))


def boundary(arguments: Arguments, findings: Findings) -> Value:
    """`@boundary` is given the function itself, `@boundary(timeout=...)` gives a decorator."""
    mark = Mark(word="boundary", place=arguments.place, timeout=seconds(arguments.get("timeout")))
    decorated = arguments.at(0)
    return mark if not is_given(decorated) or decorated is None else marked(decorated, mark, findings)


def retry(arguments: Arguments, findings: Findings) -> Mark:
    backoff = arguments.get("backoff")
    return Mark(word="retry", place=arguments.place, backoff=backoff if isinstance(backoff, Backoff) else None)


def marked(decorated: Value, mark: Mark, findings: Findings) -> Value:
    """The function with one more mark on top."""
    if isinstance(decorated, Node):
        text = f"@{mark.word} stands above the @{decorated.body.word} of '{decorated.name}': move it below @{decorated.body.word}"
        findings.error(codes.MISPLACED_DECORATOR, text, mark.place, node=decorated.name)
        return UNKNOWN
    if not isinstance(decorated, Wired):
        return Wired(function=decorated, marks=(mark,), is_open=not isinstance(decorated, Function))
    earlier = None if mark.is_edge else next((other for other in decorated.marks if other.word == mark.word), None)
    if earlier is not None:
        name = decorated.function.name if isinstance(decorated.function, Function) else None
        text = f"@{mark.word} stands twice on '{name}' (also at {earlier.place}): remove one"
        findings.error(codes.MISPLACED_DECORATOR, text, mark.place, node=name)
        return UNKNOWN
    return Wired(function=decorated.function, marks=(mark, *decorated.marks), is_open=decorated.is_open)


def target_of(value: Value | None, where: str, arguments: Arguments, findings: Findings) -> str | None:
    """The name of the node that a way leads to, if it can be told."""
    if isinstance(value, Node):
        return value.name
    if isinstance(value, Wired) and isinstance(value.function, Function):
        text_of_fault = f"{where} leads to '{value.function.name}', which has marks and no @node above them: put @node on top of its decorators"
        findings.error(codes.NOT_A_NODE, text_of_fault, arguments.place)
    elif isinstance(value, Function) and value.name is not None:
        text_of_fault = f"{where} leads to {value.name}, which is no node: name the node, or put @node on that function"
        findings.error(codes.NOT_A_NODE, text_of_fault, arguments.place)
    return text(value)
