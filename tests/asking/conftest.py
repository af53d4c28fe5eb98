"""What several tests of asking have."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def quiet() -> Iterator[None]:
    """Hundreds of failures are asked for."""
    logger = logging.getLogger("strata")
    logger.disabled = True
    yield
    logger.disabled = False
