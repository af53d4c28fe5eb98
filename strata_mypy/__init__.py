"""The mypy plugin: `plugins = ["strata_mypy"]` in the configuration of mypy finds what is wrong with a graph before it runs.

It only adds: right code is clean with and without it, and what mypy finds by itself it does not say again. The rules are
those of `compile()`; here is what makes facts of decorators, and lines of places.
"""

from __future__ import annotations

from mypy.plugin import Plugin

from strata_mypy.hooks import VERSION, StrataPlugin

__version__ = VERSION
"""mypy keeps what it found as long as this and the plugin's first file stay the same."""


def plugin(version: str) -> type[Plugin]:
    """What mypy asks of a plugin; `version` is mypy's own."""
    return StrataPlugin
