"""The text that names one execution of one node: what idempotency keys and records tell it by."""

from __future__ import annotations


def place_of(path: str, hops: str) -> str:
    """`Work/review#1.2`: the node's qualified name, and its hop at each level from the outermost in."""
    return f"{path}#{hops}"


def hops_within(outer: str, hop: int) -> str:
    """The hops of a node whose level runs inside the node with the hops `outer`; empty for the outermost level."""
    return f"{outer}.{hop}" if outer else str(hop)
