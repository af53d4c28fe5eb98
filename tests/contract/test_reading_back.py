"""Each store: the contract's log pages, listings and purges (strata-stores.md 12 and 13)."""

from strata.testing.contract.reading_back import *  # noqa: F403
