"""What a handler gives its context, held to what can be kept before anything is asked or done."""

from __future__ import annotations

import inspect

from strata.graph.texts import is_utf8


def require_key(key: object) -> None:
    """A key stands in records, where only text can.

    Raises:
        TypeError: it cannot.
    """
    if not isinstance(key, str):
        raise TypeError(f"a key is text, not {key!r:.80}")
    if not is_utf8(key):
        raise TypeError(f"a key is text that UTF-8 can encode, and {key!r:.80} is not")


def require_function(fn: object, call: str) -> None:
    """What is done once is called here, and nowhere else.

    Raises:
        TypeError: it cannot be called.
    """
    if inspect.iscoroutine(fn):
        fn.close()  # or Python says that nobody awaited it
        raise TypeError(f"{call} takes the function and calls it: give {fn.__name__}, not {fn.__name__}(...)")
    if not callable(fn):
        raise TypeError(f"{call} takes a function, not {fn!r:.80}")


def require_sync_function(fn: object, call: str) -> None:
    """Raises TypeError: it cannot be called, or has to be awaited."""
    require_function(fn, call)
    if inspect.iscoroutinefunction(fn):
        from strata.graph.functions import name_of  # which knows contexts

        raise TypeError(f"{call} calls a sync function, and {name_of(fn) or 'this one'} is async: await ctx.once(...) in an async node")
