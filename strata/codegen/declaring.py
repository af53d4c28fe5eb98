"""Which files may declare tools, as their text shows before any of them is parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, TypeVar

MARK: Final = "strata_tool"

K = TypeVar("K")


def declaring(texts: Mapping[K, str]) -> list[K]:
    """The files that name the decorator, or what another one of them calls it; to parse the others would take most of the time."""
    words = {MARK}
    while new := set(_other_names(texts.values(), words)) - words:
        words |= new
    return [key for key, text in texts.items() if any(word in text for word in words)]


def _other_names(texts: Iterable[str], words: Iterable[str]) -> Iterable[str]:
    """`import strata_tool as tool`, `tool = strata_tool(...)`, `def tool(...)` whose body names it."""
    known = "|".join(map(re.escape, words))
    patterns = (
        rf"\b(?:{known})\s+as\s+(\w+)",
        rf"^(\w+)\b[^=\n]*=\s*(?:\w+\.)*(?:{known})\b",
        rf"^(?:async )?def (\w+)\([^\n]*(?:\n(?:[ \t)][^\n]*)?)*?\n[ \t]+[^@\n]*\b(?:{known})\b",
    )
    return {
        found[1]
        for text in texts
        if any(word in text for word in words)
        for pattern in patterns
        for found in re.finditer(pattern, text, re.MULTILINE)
    }
