"""The Rust engine for the tests of this folder."""

from __future__ import annotations

import pytest

from tests.interop.our_engine import OurEngine
from tests.interop.rust_engine import Peer, PeerMissing, build


@pytest.fixture(scope="session")
def peer() -> Peer:
    try:
        return Peer(build())
    except PeerMissing as missing:
        pytest.skip(f"no Rust engine beside ours: {missing}")


@pytest.fixture
def ours() -> OurEngine:
    return OurEngine()
