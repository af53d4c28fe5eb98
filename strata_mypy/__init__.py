"""The mypy plugin: `plugins = ["strata_mypy"]` in the configuration of mypy finds what is wrong with a graph before it runs.

It only adds: right code is clean with and without it, and what mypy finds by itself it does not say again. The rules are
those of `compile()`; here is what makes facts of decorators, and lines of places.
"""

from __future__ import annotations

from mypy.plugin import Plugin

from strata_mypy.hooks import StrataPlugin
from strata_mypy.version import rules_version


def __getattr__(name: str) -> str:
    """`__version__`: mypy keeps what it found as long as it stays the same.

    Read from the files whenever mypy asks, so that a daemon which runs while they change starts anew.
    """
    if name == "__version__":
        return rules_version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def plugin(version: str) -> type[Plugin]:
    """What mypy asks of a plugin; `version` is mypy's own."""
    return StrataPlugin
