"""A store from one line of text, as settings and the command line have it."""

from __future__ import annotations

import re
from typing import Final

from strata.checkpoint import given
from strata.errors import OptionRefused
from strata.stores.base import StoreBase

_SCHEME: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]+):(.*)", re.DOTALL)  # two letters at least: C:\ is a drive
_DATABASE_FILES: Final = (".db", ".sqlite", ".sqlite3")
_KNOWN: Final = "memory:, sqlite:PATH (sqlite:///PATH), or a path that ends in .db, .sqlite or .sqlite3"


def open_store(url: str) -> StoreBase:
    """The store that `url` names; nothing is connected before its first use.

    - `memory:`: a `MemoryStore`, gone with the process.
    - `sqlite:PATH`: a `SqliteStore`. `sqlite:///PATH` is the same: PATH is relative after three slashes and absolute
      after four. A bare path that ends in `.db`, `.sqlite` or `.sqlite3` will do too.

    Raises:
        OptionRefused: it names no store that this build knows.
    """
    given.text(url, "a store's url")
    parts = _SCHEME.fullmatch(url)
    if parts is None:
        if url.endswith(_DATABASE_FILES):
            return _sqlite(url)
        raise OptionRefused(f"'{url}' does not say which store it is: use {_KNOWN}")
    scheme, rest = parts[1].lower(), parts[2]
    if scheme == "memory" and not rest.strip("/"):
        return _memory()
    if scheme == "sqlite":
        return _sqlite(_path_of(url, rest))
    raise OptionRefused(f"'{url}' is not a store that can be opened: use {_KNOWN}")


def _path_of(url: str, rest: str) -> str:
    path = rest.removeprefix("///") if rest.startswith("///") else rest
    if not path or path.startswith("//"):
        raise OptionRefused(f"'{url}' names no file: write sqlite:PATH, or sqlite:///PATH")
    return path


def _memory() -> StoreBase:
    from strata.stores.memory import MemoryStore

    return MemoryStore()


def _sqlite(path: str) -> StoreBase:
    from strata.stores.sqlite import SqliteStore

    return SqliteStore(path)
