"""The marks under a top decorator: where the run goes next, and what is done when the node pauses or fails."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, ClassVar, Concatenate, Generic, LiteralString, Never, ParamSpec, TypeAlias, TypeVar, overload

import msgspec

from strata.graph.functions import name_of
from strata.graph.nodes import Marks, Node, Wired
from strata.graph.places import caller, place_of
from strata.graph.recovery import TRANSIENT, Backoff, ErrorMatch, checked_match, checked_retries
from strata.graph.spec import EdgeSpec
from strata.graph.state import State
from strata.graph.times import seconds_of
from strata.rules.facts import Place

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound=State)
F = TypeVar("F", bound=Callable[..., Any])
L = TypeVar("L", bound=LiteralString)
T = TypeVar("T", bound=LiteralString)
