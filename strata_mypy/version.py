"""What the plugin's answers depend on, as one text: caches of mypy that were written under another one are stale."""

from __future__ import annotations

import hashlib
from pathlib import Path

import strata.rules


def rules_version() -> str:
    """Changes with any line of the rules or of the plugin."""
    rules, plugin = Path(strata.rules.__file__).parent, Path(__file__).parent
    digest = hashlib.sha256()
    for file in sorted([*rules.glob("*.py"), *plugin.glob("*.py")]):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
