"""Which event loop runs here."""

from __future__ import annotations

import asyncio

from strata.errors import UnsupportedEventLoop


def require_asyncio() -> None:
    """Raise UnsupportedEventLoop where no asyncio loop is running: outside any, and under trio."""
    if not is_inside_asyncio():
        raise UnsupportedEventLoop("Strata runs on asyncio, and no asyncio loop is running here: under trio there is none")


def is_inside_asyncio() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
