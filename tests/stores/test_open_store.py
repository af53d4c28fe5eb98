"""A store from one line of text."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

import strata.stores
from strata.errors import OptionRefused
from strata.stores import open_store
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore


@pytest.mark.parametrize("url", ["memory:", "memory://", "MEMORY:"])
def test_memory(url: str) -> None:
    assert isinstance(open_store(url), MemoryStore)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:threads.db", "threads.db"),
        ("sqlite:/var/lib/threads", "/var/lib/threads"),
        ("sqlite:///threads.db", "threads.db"),
        ("sqlite:////var/lib/threads.db", "/var/lib/threads.db"),
        ("threads.db", "threads.db"),
        ("/var/lib/threads.sqlite", "/var/lib/threads.sqlite"),
        ("some folder/thr%20eads.sqlite3", "some folder/thr%20eads.sqlite3"),
        ("C:\\threads.db", "C:\\threads.db"),
    ],
)
def test_sqlite(url: str, path: str) -> None:
    store = open_store(url)
    assert isinstance(store, SqliteStore)
    assert store.path == Path(path)


@pytest.mark.parametrize("url", ["", "threads", "mysql://localhost/db", "http://x", "memory:x", "sqlite:", "sqlite:///", "sqlite://host/x.db"])
def test_what_names_no_store_is_refused_with_what_does(url: str) -> None:
    with pytest.raises(OptionRefused, match="sqlite:PATH") as refusal:
        open_store(url)
    assert f"'{url}'" in str(refusal.value)


def test_what_is_no_text_names_no_store() -> None:
    with pytest.raises(OptionRefused, match="a store's url is text, not 3"):
        open_store(cast("Any", 3))


def test_the_room_loads_lazily() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        getattr(strata.stores, "nothing")  # noqa: B009 - a checker would refuse the name
