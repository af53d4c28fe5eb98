"""Each store: what it keeps of a node that has not committed."""

from __future__ import annotations

from strata.testing.contract.progress import *  # noqa: F403
