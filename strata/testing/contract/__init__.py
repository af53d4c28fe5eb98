"""The contract of every checkpoint store, as tests to run on your own: what `strata.ports.CheckpointStore` promises.

    # test_my_store.py
    import pytest
    from strata.testing.contract import *

    @pytest.fixture
    async def store(clock):
        async with MyStore(clock=clock) as store:
            yield store

The fixture gives a store that is open and empty; `clock` is a `TestClock`, which its leases must run by. A store without leases
imports `strata.testing.contract.appending` and `.reading_back` only, and a `StoreBase` that has `save` and `load` alone keeps
no log, and so has no contract to hold. A store that keeps progress imports
`strata.testing.contract.progress` too. It takes pytest and the plugin of anyio (`anyio_mode = "auto"`, or `anyio` as a mark).
"""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite(*(f"{__name__}.{module}" for module in ("appending", "leases", "reading_back")))

from strata.testing.contract.appending import *  # noqa: E402, F403
from strata.testing.contract.fixtures import clock as clock  # noqa: E402
from strata.testing.contract.leases import *  # noqa: E402, F403
from strata.testing.contract.reading_back import *  # noqa: E402, F403
