"""Names that providers take for tools (strata-tools.md 12.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import count
from typing import Final

LONGEST: Final = 64
_REFUSED: Final = re.compile(r"[^A-Za-z0-9_-]")


def provider_names(names: Iterable[str]) -> dict[str, str]:
    """What a model is told, and the tool that it means by it: `k8s_pods` is `k8s.pods`.

    Names come in the order of registration, on which it depends who gets a number. A name that is not among these is a tool's own.
    """
    meant: dict[str, str] = {}
    for name in names:
        meant[_free(_REFUSED.sub("_", name)[:LONGEST] or "_", meant)] = name
    return meant


def _free(name: str, taken: dict[str, str]) -> str:
    if name not in taken:
        return name
    endings = (f"_{number}" for number in count(2))
    numbered = (f"{name[: LONGEST - len(ending)]}{ending}" for ending in endings)
    return next(one for one in numbered if one not in taken)
