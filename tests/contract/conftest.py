"""Each store in turn, open and empty."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from strata.stores import StoreBase
from tests.contract.factories import FACTORIES


@pytest.fixture(params=sorted(FACTORIES))
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[StoreBase]:
    async with FACTORIES[request.param](tmp_path) as opened:
        yield opened
