"""Random packages of tools say from source what they say imported; `STRATA_TOOLS` says how many tools are compared."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

import pytest

from strata.errors import StrataError
from tests.codegen.projects import from_import, from_source, read, written
from tests.tools.random_tools import Author

TOOLS: Final = int(os.environ.get("STRATA_TOOLS", "500"))

DECORATORS: Final = (
    ("@strata_tool", "from strata.tools import ToolContext, strata_tool\n"),
    ("@st.strata_tool", "import strata as st\nfrom strata import ToolContext\n"),
    ("@tool", "from strata import ToolContext, strata_tool as tool\n"),
    ("@strict", "from strata import *\nfrom strata import strata_tool\nstrict = strata_tool(forbid_unknown_fields=True)\n"),
)

Change = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A package, read both ways; None where it was refused."""

    name: str
    source: list[bytes] | None
    live: list[bytes] | None
    why: str = ""

    @property
    def is_equal(self) -> bool:
        return self.source == self.live


def comparisons(start: int, folder: Path, change: Change | None = None) -> Iterator[Comparison]:
    """Of one package after the other; `change` is made of its text between the two readings."""
    seed = start
    while True:
        name = f"random_{seed}"
        files = random_package(seed, name)
        source, why = _from_source(written(folder / name, files))
        if change is not None:
            written(folder / name, {path: change(text) for path, text in files.items()})
        yield Comparison(name, source, _from_import(folder / name, f"{name}.tools"), why)
        seed += 1


def random_package(seed: int, name: str) -> Mapping[str, str]:
    random = Random(seed)
    decorator, imports = random.choice(DECORATORS)
    return Author(random, decorator=decorator, imports=imports).package(name)


def _from_source(folder: Path) -> tuple[list[bytes] | None, str]:
    found = read(folder)
    problems = "; ".join(map(str, found.problems))
    return (None, problems) if problems or found.unreadable else (from_source(found), "")


def _from_import(folder: Path, module: str) -> list[bytes] | None:
    try:
        return from_import(folder, module)
    except (StrataError, TypeError, ValueError, NameError):  # what importing wrong annotations raises
        return None


def compared(start: int, tools: int, folder: Path) -> Iterator[Comparison]:
    """Those of so many tools."""
    count = 0
    for comparison in comparisons(start, folder):
        yield comparison
        count += len(comparison.live or ())
        if count >= tools:
            return


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_random_packages_say_the_same_from_source_and_imported(part: int, tmp_path: Path) -> None:
    found = list(compared(part * 1_000_000, TOOLS // 5, tmp_path))
    assert [(one.name, one.why, one.source, one.live) for one in found if not one.is_equal] == []
    refused = sum(one.live is None for one in found)
    assert refused < len(found) / 10  # else little was compared


CHANGES: Final[Mapping[str, Change]] = {
    "a word of a description": lambda text: text.replace("Do it", "Did it"),
    "the order of choices": lambda text: text.replace("Literal['b', 'a']", "Literal['a', 'b']"),
    "a type": lambda text: text.replace(": str", ": int"),
    "a limit": lambda text: text.replace("LIMIT = 10", "LIMIT = 11"),
    "a name that JSON has": lambda text: text.replace("other-name", "another-name"),
    "a default": lambda text: text.replace("'d'", "'e'"),
    "an alias": lambda text: text.replace("Maybe = Optional[int]", "Maybe = Optional[str]"),
    "the members of an enum": lambda text: text.replace("A = 'a'", "A = 'A'"),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_a_fault_in_the_reading_would_be_found(change: str, tmp_path: Path) -> None:
    found = comparisons(7_000_000, tmp_path, CHANGES[change])
    assert any(not next(found).is_equal for _ in range(60))
