"""The stores that the contract holds for; a new store adds its line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from strata.graph.clock import Clock
from strata.stores import StoreBase
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore

StoreFactory: TypeAlias = Callable[[Path, Clock], StoreBase]
"""A store that is not open yet, with nothing in it; what it keeps on disk goes into the folder, and its leases run by the clock."""

FACTORIES: Mapping[str, StoreFactory] = {
    "memory": lambda folder, clock: MemoryStore(clock=clock),
    "sqlite": lambda folder, clock: SqliteStore(folder / "threads.db", clock=clock),
}
