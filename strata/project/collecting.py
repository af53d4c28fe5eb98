"""Many objects made at once, without a look for garbage among them."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def without_collecting() -> Generator[None, None, None]:
    """Syntax trees are many new objects and hold no garbage: looking for some takes 40% of the time."""
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_collecting:
            gc.enable()
