"""What the plugin's answers depend on, as one text: caches of mypy that were written under another one are stale."""

from __future__ import annotations

import hashlib
from pathlib import Path

import strata.rules


def rules_version() -> str:
    """Changes with any line of the rules or of the plugin."""
    return version_of(Path(strata.rules.__file__).parent, Path(__file__).parent)


def version_of(*folders: Path) -> str:
    digest = hashlib.sha256()
    for folder in folders:
        for file in sorted(folder.glob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
