"""A module of a test, run as importing it would; its names stay, also where it raises."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType


@contextmanager
def known_as(name: str) -> Generator[ModuleType, None, None]:
    """A module that annotations are looked up in while it runs."""
    module = sys.modules[name] = ModuleType(name)
    try:
        yield module
    finally:
        del sys.modules[name]


def run(file: Path, module: ModuleType) -> None:
    """Run the file's text in the module; whatever it raises comes out."""
    module.__file__ = str(file)  # where Python looks for the line of a class
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec", dont_inherit=True), vars(module))  # noqa: S102 (a test's own text)
