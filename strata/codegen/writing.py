"""What lies in a folder against what should, and how it gets there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from strata.codegen.dispatch import MARK

State: TypeAlias = Literal["current", "stale", "missing"]


class NotOurs(Exception):
    """There is a file of that name that somebody else wrote."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(f"'{path}' was not made by this command, and would be lost")


@dataclass(frozen=True, slots=True)
class Compared:
    """A file that lies in the folder, or not, against what should lie there."""

    path: Path
    found: bytes | None
    wanted: bytes

    @property
    def state(self) -> State:
        if self.found is None:
            return "missing"
        return "current" if self.found == self.wanted else "stale"

    def diff(self, shown: str) -> str:
        """What would change, as a unified diff; JSON is indented for it. Empty for a file that is current."""
        if self.state == "current":
            return ""
        before, after = _lines(self.found or b""), _lines(self.wanted)
        told = "".join(unified_diff(before, after, f"{shown} (found)", f"{shown} (generated)"))
        return told or f"{shown}: the same JSON in other bytes\n"


def compared(folder: Path, files: Mapping[str, bytes]) -> list[Compared]:
    """Each of the files against the folder.

    Raises:
        OSError: one is there and cannot be read.
        NotOurs: a module has the name of the one that would be written.
    """
    found = [Compared(folder / name, _content(folder / name), wanted) for name, wanted in files.items()]
    for file in found:
        if file.found is not None and file.path.suffix == ".py" and not file.found.startswith(MARK.encode()):
            raise NotOurs(file.path)
    return found


def write(file: Compared) -> None:
    """Put the content there, whole or not at all; a file that is current is not touched.

    Raises:
        OSError: it cannot be written.
    """
    if file.state == "current":
        return
    file.path.parent.mkdir(parents=True, exist_ok=True)
    beside = file.path.with_name(f".{file.path.name}.{os.getpid()}")
    try:
        beside.write_bytes(file.wanted)
        beside.replace(file.path)
    finally:
        beside.unlink(missing_ok=True)


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _lines(content: bytes) -> list[str]:
    with suppress(msgspec.DecodeError):  # it is no JSON, as a module is none
        content = msgspec.json.format(content, indent=2)
    return [f"{line}\n" for line in content.decode("utf-8", "replace").splitlines()]
