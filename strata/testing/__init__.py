"""What a graph is tested with: a clock moved by hand, a context made by hand, a recorder of run events, stores that fail."""

from strata.testing.clock import TestClock
from strata.testing.context import TestContext, context
from strata.testing.recorder import EventRecorder
from strata.testing.stores import FaultyStore

__all__ = ["EventRecorder", "FaultyStore", "TestClock", "TestContext", "context"]
