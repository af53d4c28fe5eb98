"""Modules of tools that exist as text."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType


@contextmanager
def imported(text: str, folder: Path) -> Generator[ModuleType]:
    """The module of that text, while its annotations may be read in it; its name is its own, so that they are read in no other."""
    name = f"tools_{sha256(text.encode()).hexdigest()[:16]}"
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules[name]
