"""What reaches the terminal: data on stdout, messages on stderr, and nothing that could steer it.

Ids, states and errors come from anywhere, so whatever does not print is shown as `<U+001B>`, in JSON as `\\u001b`.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Iterable, Sequence

import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from strata.graph.captions import visible

WIDE = 10_000
"""Columns of a table that no terminal shows: a program reads whole ids."""

_MAY_NOT_PRINT = re.compile(r"[^\x20-\x7e\n\r\t]")


def write_anything() -> None:
    """Text that the output's encoding lacks (an arrow in ASCII, a lone surrogate) is escaped, and never an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def show(line: str = "", *, style: str = "") -> None:
    """A line of data."""
    _console().print(Text(visible(line), style=style), soft_wrap=True)


def show_lines(text: str, *, indent: str = "") -> None:
    """Text of several lines."""
    for line in text.splitlines():
        show(f"{indent}{line}")


def show_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    console = _console()
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    console.print(table, width=None if console.is_terminal else WIDE)


def show_json(value: object) -> None:
    """One JSON document on one line; numbers and keys of stored states stay as they are stored."""
    print(printable_json(msgspec.json.encode(value)))


def printable_json(document: bytes) -> str:
    """The document with every character that does not print escaped, which changes no value: outside of strings there is none."""
    return _MAY_NOT_PRINT.sub(_escaped, document.decode("utf-8", "replace"))


def complain(text: str, *, hint: str | None = None) -> None:
    """A message: what went wrong, and what to do."""
    console = _console(stderr=True)
    lines = text.splitlines() or [""]
    console.print(Text.assemble(("error: ", "bold red"), visible(lines[0])), soft_wrap=True)
    for line in lines[1:]:
        console.print(Text(visible(line)), soft_wrap=True)
    if hint is not None:
        console.print(Text.assemble(("hint: ", "bold"), visible(hint)), soft_wrap=True)


def _console(*, stderr: bool = False) -> Console:
    plain = bool(os.environ.get("NO_COLOR"))
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False, color_system=None if plain else "auto")


def _escaped(found: re.Match[str]) -> str:
    char = found[0]
    return char if char.isprintable() else json.dumps(char)[1:-1]
