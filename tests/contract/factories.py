"""The stores that the contract holds for; a new store adds its line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from strata.stores import StoreBase
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore

StoreFactory: TypeAlias = Callable[[Path], StoreBase]
"""A store that is not open yet, with nothing in it; what it keeps on disk goes into the folder."""

FACTORIES: Mapping[str, StoreFactory] = {
    "memory": lambda folder: MemoryStore(),
    "sqlite": lambda folder: SqliteStore(folder / "threads.db"),
}
