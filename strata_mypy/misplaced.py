"""Decorators that mean nothing on a node of that kind, which the decorators refuse when the module is imported."""

from __future__ import annotations

from collections.abc import Iterator

from strata.rules import codes
from strata_mypy.facts import Fault, Mark, TopWord


def misplaced_marks(name: str, word: TopWord, marks: tuple[Mark, ...]) -> tuple[Fault, ...]:
    """In the order of the marks, in the words of the decorators."""
    words = tuple(mark.word for mark in marks)
    return (*_doubled(name, words), *(_of_wait(name, word, words) if word in ("wait_for_event", "timer") else _of_node(name, words)))


def second_top(name: str, upper: TopWord, lower: TopWord | None) -> tuple[Fault, ...]:
    """A top decorator on what another one has made a node of already; mypy takes a node for a function."""
    if lower is None:
        return ()
    advice = f"remove one @{lower}" if lower == upper else f"remove @{lower} or @{upper}"
    return (Fault(codes.MISPLACED_DECORATOR, f"node '{name}' has two top decorators: {advice}"),)


def _doubled(name: str, words: tuple[str, ...]) -> Iterator[Fault]:
    for at, word in enumerate(words):
        if word not in ("edge", "when") and word in words[at + 1 :]:
            yield Fault(codes.MISPLACED_DECORATOR, f"@{word} stands twice on '{name}': remove one", at)


def _of_node(name: str, words: tuple[str, ...]) -> Iterator[Fault]:
    if "boundary" in words:
        return
    for at, word in enumerate(words):
        if word == "on_reject":
            yield Fault(codes.MISPLACED_DECORATOR, f"node '{name}' has @on_reject and no @boundary: put @boundary above @on_reject", at)
        if word == "on_timeout":
            yield Fault(
                codes.MISPLACED_DECORATOR, f"node '{name}' has @on_timeout and no @boundary: put @boundary(timeout=...) above @on_timeout", at
            )


def _of_wait(name: str, top: TopWord, words: tuple[str, ...]) -> Iterator[Fault]:
    what = "timer" if top == "timer" else "wait"
    for at, word in enumerate(words):
        if word in ("retry", "on_failure"):
            advice = f"a {what} does nothing that could fail: remove @{word}, or put it on the node behind"
            yield Fault(codes.MISPLACED_DECORATOR, f"{what} '{name}' has @{word}, and {advice}", at)
        elif word == "on_reject":
            yield Fault(codes.MISPLACED_DECORATOR, f"{what} '{name}' has @on_reject, and no person answers a {what}: remove @on_reject", at)
        elif word == "on_timeout" and top == "timer":
            yield Fault(
                codes.MISPLACED_DECORATOR, f"timer '{name}' has @on_timeout, and a timer only has its time: say with @edge where it leads", at
            )
