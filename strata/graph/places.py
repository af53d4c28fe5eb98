"""Where in the user's source a decorator stands."""

from __future__ import annotations

import sys
from types import FrameType

from strata.rules.facts import Place


def caller() -> FrameType:
    """The frame that called the function that asks: the user's, for a decorator."""
    return sys._getframe(2)  # pyright: ignore[reportPrivateUsage]


def place_of(frame: FrameType) -> Place:
    """The line that `frame` is at."""
    return Place(frame.f_code.co_filename, frame.f_lineno)
