"""What the cases of the contract ask for beside a store."""

from __future__ import annotations

import pytest

from strata.testing.clock import TestClock


@pytest.fixture
def clock() -> TestClock:
    return TestClock()
