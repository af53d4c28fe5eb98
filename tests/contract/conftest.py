"""Each store in turn, open and empty, on a clock that a test moves by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from strata.stores import StoreBase
from tests.clocks import HandClock
from tests.contract.factories import FACTORIES


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture(params=sorted(FACTORIES))
async def store(request: pytest.FixtureRequest, tmp_path: Path, clock: HandClock) -> AsyncIterator[StoreBase]:
    async with FACTORIES[request.param](tmp_path, clock) as opened:
        yield opened
