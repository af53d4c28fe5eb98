"""Each store: the contract's leases (strata-waits.md 8.2, strata-stores.md 14.1)."""

from strata.testing.contract.leases import *  # noqa: F403
