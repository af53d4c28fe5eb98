"""The store of one SQLite file, in the layout that all engines share (strata-stores.md 3 and 4)."""

from strata.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
