"""What a docstring tells a model: what the function does, and what each of its parameters is.

Google, NumPy and Sphinx. A pure function of the text, for the live function and for its source alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import cleandoc
from typing import Final

_PARAMETERS: Final = frozenset(
    {
        *("args", "arguments", "parameters", "params", "keyword args", "keyword arguments", "keyword parameters"),
        *("other args", "other arguments", "other parameters", "attributes"),
    }
)
_FOR_CALLERS: Final = frozenset(
    {
        *("returns", "return", "yields", "yield", "receives", "receive", "raises", "raise", "except", "exceptions"),
        *("warns", "warn", "methods", "references", "see also", "todo"),
    }
)
"""Sections about the Python function, which no model calls as such; all others (notes, examples, warnings) are left in the text."""

_GOOGLE_TITLE: Final = re.compile(r"([A-Za-z][A-Za-z ]*):[ \t]*")
_UNDERLINE: Final = re.compile(r"[-=]{3,}[ \t]*")
_NUMPY_NAMES: Final = re.compile(r"(\*{0,2}\w+(?:[ ]*,[ ]*\*{0,2}\w+)*)[ ]*(?::.*)?")
_SPHINX_FIELD: Final = re.compile(r":(\w+)(?:[ \t]+([^:\n]*))?:(?:[ \t]+(.*)|[ \t]*)")
_SPHINX_PARAMETERS: Final = frozenset({"param", "parameter", "arg", "argument", "key", "keyword", "kwarg", "ivar", "var", "cvar"})
_SPHINX_OTHERS: Final = frozenset(
    {*("type", "vartype", "return", "returns", "rtype", "yield", "yields", "ytype"), *("raise", "raises", "except", "exception", "meta")}
)
_NAME: Final = re.compile(r"\\?\*{0,2}(\w+)[ \t]*")
_OWN_LINE: Final = re.compile(r"\s|[-*+>|]|\d+[.)]\s")
"""How a line starts that is not the rest of the sentence before it: indented, of a list, a table or an example."""


@dataclass(frozen=True, slots=True)
class Docstring:
    """What it says, as flowing text.

    Attributes:
        description: all but the sections about parameters, results and exceptions.
        parameters: by name, `*` and `**` left out.
    """

    description: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])


def read_docstring(text: str | None) -> Docstring:
    """The docstring taken apart; no text is refused."""
    if not text:
        return Docstring()
    prose: list[str] = []
    parameters: dict[str, str] = {}
    for kind, lines in _blocks(cleandoc(text).splitlines()):
        match kind:
            case "google":
                parameters |= _google(lines)
            case "numpy":
                parameters |= _numpy(lines)
            case "sphinx":
                parameters |= _sphinx(lines)
            case "prose":
                prose.extend(lines)
            case _:
                pass
    return Docstring(_flowing(prose), {name: said for name, said in parameters.items() if said})


def _blocks(lines: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """The lines in runs of one kind each: prose, the parameters of a style, or `left out`; headings are in none of them."""
    at = 0
    while at < len(lines):
        start = at
        if (title := _numpy_title(lines, at)) is not None:
            at = _end_of_numpy(lines, at + 2)
            kind = "numpy" if title in _PARAMETERS else "left out" if title in _FOR_CALLERS else "prose"
            yield kind, lines[start if kind == "prose" else start + 2 : at]
        elif (title := _google_title(lines[at])) is not None:
            at = _end_of_indented(lines, at + 1)
            yield "google" if title in _PARAMETERS else "left out", lines[start + 1 : at]
        elif (found := _SPHINX_FIELD.fullmatch(lines[at])) is not None and found[1] in _SPHINX_PARAMETERS | _SPHINX_OTHERS:
            at = _end_of_indented(lines, at + 1)
            yield "sphinx" if found[1] in _SPHINX_PARAMETERS else "left out", lines[start:at]
        else:
            at += 1
            yield "prose", lines[start:at]


def _numpy_title(lines: Sequence[str], at: int) -> str | None:
    if at + 1 >= len(lines) or not lines[at].strip() or _UNDERLINE.fullmatch(lines[at + 1]) is None:
        return None
    return lines[at].strip().lower()


def _google_title(line: str) -> str | None:
    found = _GOOGLE_TITLE.fullmatch(line)
    title = found[1].lower() if found is not None else None
    return title if title in _PARAMETERS | _FOR_CALLERS else None


def _end_of_indented(lines: Sequence[str], at: int) -> int:
    while at < len(lines) and (not lines[at].strip() or lines[at][0].isspace()):
        at += 1
    return at


def _end_of_numpy(lines: Sequence[str], at: int) -> int:
    while at < len(lines) and _numpy_title(lines, at) is None:
        at += 1
    return at


def _google(lines: Sequence[str]) -> dict[str, str]:
    """`name: text`, `name (type, optional): text`; what is indented deeper belongs to the one before."""
    depth = min((_indent(line) for line in lines if line.strip()), default=0)
    found: dict[str, list[str]] = {}
    name = ""
    for line in lines:
        entry = _google_entry(line.strip()) if _indent(line) == depth else None
        if entry is not None:
            name, said = entry
            found[name] = [said]
        elif name:
            found[name].append(line)
    return {name: _said(said) for name, said in found.items()}


def _google_entry(line: str) -> tuple[str, str] | None:
    if (start := _NAME.match(line)) is None:
        return None
    rest = line[start.end() :]
    if rest.startswith("("):
        rest = rest[_end_of_bracket(rest) :].lstrip()
    return (start[1], rest[1:].strip()) if rest.startswith(":") else None


def _end_of_bracket(text: str) -> int:
    """Where the bracket is closed with which the text starts; its end if it never is."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0:
            return at + 1
    return len(text)


def _numpy(lines: Sequence[str]) -> dict[str, str]:
    """`name : type` or `one, other : type`, with the text indented below."""
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in lines:
        if line.strip() and not line[0].isspace():
            entry = _NUMPY_NAMES.fullmatch(line.strip())
            names = [] if entry is None else [name.strip().lstrip("*") for name in entry[1].split(",")]
            found.update((name, []) for name in names)
        else:
            for name in names:
                found[name].append(line)
    return {name: _said(said) for name, said in found.items()}


def _sphinx(lines: Sequence[str]) -> dict[str, str]:
    """`:param name: text` and `:param type name: text`; what is indented below belongs to it."""
    found = _SPHINX_FIELD.fullmatch(lines[0])
    if found is None or (name := _NAME.fullmatch((found[2] or "").rpartition(" ")[2])) is None:
        return {}
    return {name[1]: _said([found[3] or "", *lines[1:]])}


def _said(lines: Sequence[str]) -> str:
    """The text of an entry: what stands behind its name, and the lines below it, moved to the margin."""
    below = [line for line in lines[1:] if line.strip()]
    depth = min(map(_indent, below), default=0)
    return _flowing([lines[0].strip(), *(line[depth:].rstrip() for line in lines[1:])] if lines else [])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _flowing(lines: Sequence[str]) -> str:
    """The lines of a sentence on one line; paragraphs, lists, tables and examples keep theirs."""
    text, flows = "", False
    for line in (line.rstrip() for line in lines):
        is_plain = bool(line) and _OWN_LINE.match(line) is None
        text += f" {line}" if flows and is_plain else f"\n{line}"
        flows = is_plain
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n ")
