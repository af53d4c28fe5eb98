"""The text of a Python file, or why there is none."""

from __future__ import annotations

import tokenize
from pathlib import Path

import msgspec


class Unreadable(msgspec.Struct, frozen=True, kw_only=True):
    """A file that could not be read, and why."""

    file: str
    line: int | None = None
    column: int | None = None
    reason: str


def read_text(path: Path, shown: str) -> str | Unreadable:
    """The file's text, in the encoding that it declares; `shown` is what messages call it."""
    try:
        with tokenize.open(path) as file:
            return file.read()
    except OSError as error:
        return Unreadable(file=shown, reason=f"it cannot be read: {error.strerror}")
    except UnicodeDecodeError as error:
        return Unreadable(file=shown, reason=f"it is no text in the encoding that it declares: {error.reason}")
    except SyntaxError as error:
        return Unreadable(file=shown, reason=str(error))
