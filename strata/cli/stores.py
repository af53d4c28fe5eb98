"""The store that `--store` names, opened to look at what is there."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from strata.cli.faults import CannotDo
from strata.stores import StoreBase, open_store


@asynccontextmanager
async def opened(url: str) -> AsyncGenerator[StoreBase, None]:
    """The store, for the time of the block. A database that is not there is not made.

    Raises:
        CannotDo: there is no such file.
        OptionRefused, StoreError: see `open_store`, and the store.
    """
    store = open_store(url)
    path = getattr(store, "path", None)
    if isinstance(path, Path) and not path.exists():
        raise CannotDo(f"there is no database '{path}'", hint="look at --store or STRATA_STORE: a relative path starts at the current folder")
    async with store:
        yield store
