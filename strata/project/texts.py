"""A Python file as text and as a syntax tree, or why it is neither."""

from __future__ import annotations

import ast
import sys
import tokenize
import warnings
from pathlib import Path

import msgspec


class Unreadable(msgspec.Struct, frozen=True, kw_only=True):
    """A file that could not be read, and why."""

    file: str
    line: int | None = None
    column: int | None = None
    reason: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}:{self.column or 1}"
        return f"{place}: {self.reason}"


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


def tree_of(text: str, shown: str) -> ast.Module | Unreadable:
    """Text as this Python reads it, or its first syntax error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of invalid escapes, which are no business of ours
            return ast.parse(text)
    except SyntaxError as error:
        return Unreadable(file=shown, line=error.lineno, column=error.offset, reason=f"it is no Python that {_version()} reads: {error.msg}")
    except (ValueError, RecursionError, MemoryError) as error:  # NUL in the text; nested too deep for the parser
        return Unreadable(file=shown, reason=f"it cannot be parsed: {str(error) or type(error).__name__}")


def _version() -> str:
    return f"Python {sys.version_info.major}.{sys.version_info.minor}"
