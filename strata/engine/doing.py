"""What is being done once around a call, so that none waits for itself."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeAlias

from strata.errors import OnceInsideItself
from strata.graph.context import Context

Doing: TypeAlias = tuple[Context, str]

_AROUND: Final[ContextVar[tuple[Doing, ...]]] = ContextVar("strata_doing_once", default=())


@contextmanager
def doing_once(context: Context, key: str) -> Generator[None]:
    """While the function of a call runs: whatever it calls, in tasks and threads of its own too, may do once only other things.

    Raises:
        OnceInsideItself: this is called by the function of a call with the same key.
    """
    around = _AROUND.get()
    if (context, key) in around:
        raise OnceInsideItself(context.path, key)
    entered = _AROUND.set((*around, (context, key)))
    try:
        yield
    finally:
        _AROUND.reset(entered)
