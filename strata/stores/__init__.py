"""The stores: `open_store`, `StoreBase`, and one module a kind (`strata.stores.memory`, `strata.stores.sqlite`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strata.stores.base import StoreBase as StoreBase
    from strata.stores.opening import open_store as open_store

__all__ = ["StoreBase", "open_store"]

_MODULES = {"StoreBase": "strata.stores.base", "open_store": "strata.stores.opening"}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'strata.stores' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_MODULES[name]), name)
