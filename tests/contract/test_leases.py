"""Each store: the contract's leases (strata-waits.md 8.2, strata-stores.md 14.1)."""

import pytest

from strata.testing.contract.leases import *  # noqa: F403

pytestmark = pytest.mark.leaves_leases
"""Its cases ask for leases and look at them; a store has nobody who would give them back."""
