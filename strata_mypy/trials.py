"""An error that stays said while mypy only tries the alternatives of an overloaded decorator.

What is said during such a trial is thrown away, and an alternative that says anything does not fit. There is no hook behind the
trial, and no type in which a fault could travel to where it is told: a tool, unlike a node, need not be listed anywhere.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from mypy.checker import TypeChecker


@contextmanager
def outside_of_trials(api: TypeChecker) -> Generator[None, None, None]:
    """Whoever watches for errors does not see those that are said in here. mypy itself leaves out what is said twice of one line.

    There is no public way around a watcher: in a mypy that names them otherwise, what is said in a trial is lost, and nothing else.
    """
    errors = api.errors
    watchers = getattr(errors, "_watchers", None)
    if watchers is None:
        yield
        return
    errors._watchers = []  # pyright: ignore[reportPrivateUsage]
    try:
        yield
    finally:
        errors._watchers = watchers  # pyright: ignore[reportPrivateUsage]
