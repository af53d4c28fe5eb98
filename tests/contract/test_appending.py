"""Each store: the contract's saves, and every record that the Rust engine wrote (strata-stores.md 1)."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from strata.stores import StoreBase
from strata.testing.contract.appending import *  # noqa: F403
from strata.testing.contract.appending import logged
from tests.records import RECORDED, recorded


async def test_every_recorded_checkpoint_comes_back(store: StoreBase) -> None:
    scenarios = sorted({path.parent.name for path in RECORDED} - {"newer_checkpoint"})  # it has a store encoding without an envelope
    logs = {scenario: [replace(checkpoint, thread_id=scenario) for checkpoint in recorded(scenario)] for scenario in scenarios}
    await asyncio.gather(*(store.save(checkpoint) for log in logs.values() for checkpoint in log))
    for scenario, log in logs.items():
        assert await logged(store, scenario) == log


async def test_ser12_numbers_keep_their_text(store: StoreBase) -> None:
    for saved in recorded("numbers"):
        await store.save(saved)
        assert await store.load(saved.thread_id) == saved
