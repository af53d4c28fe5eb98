"""What tests import from a folder of their own is theirs alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType


def _places(module: ModuleType) -> Iterator[str]:
    # a package without `__init__.py` has no file, only folders
    yield getattr(module, "__file__", None) or "/"
    yield from getattr(module, "__path__", ())


def forget_modules_of(folder: Path) -> None:
    """Let the next import read anew whatever was imported from below the folder, packages without a file of their own too."""
    for name, module in list(sys.modules.items()):
        if any(Path(place).is_relative_to(folder) for place in _places(module)):
            del sys.modules[name]
