"""Faults of groups, maps, waits, boundaries and recovery policies that compile refuses in words of its own.

The texts are those that the engines share, its steps are named below (strata-graph.md 2). What an exported file has the same
fault for has that fault's code; the structure then does not tell it again.
"""

from __future__ import annotations

from collections.abc import Iterator

from strata.rules import codes
from strata.rules.facts import DraftFacts, FanoutFacts, GraphFacts, NodeFacts, Place, RecoveryFacts, WaitFacts
from strata.rules.problem import Problem


def group_faults(draft: DraftFacts) -> Iterator[Problem]:
    """Step 3, in node order."""
    fanouts = {fanout.node: fanout for fanout in draft.fanouts}
    for node in draft.graph.nodes:
        if node.kind == "parallel_group":
            yield from _branch_faults(node)
            yield from _limit_faults(node, fanouts.get(node.name), f"parallel group '{node.name}'", "a branch timeout")


def map_faults(draft: DraftFacts) -> Iterator[Problem]:
    """Step 4, in node order. The engines stop at the first node that pauses in the child; here each is told."""
    fanouts = {fanout.node: fanout for fanout in draft.fanouts}
    for node in draft.graph.nodes:
        if node.kind == "map":
            yield from _limit_faults(node, fanouts.get(node.name), f"map '{node.name}'", "an item timeout")
            yield from _pauses_of_items(node)


def wait_faults(draft: DraftFacts) -> Iterator[Problem]:
    """Step 5, in node order."""
    boundaries = {boundary.node: boundary.place for boundary in draft.boundaries}
    for wait in draft.waits:
        yield from _wait_faults(wait)
        if wait.node in boundaries:
            text = f"'{wait.node}' is a wait node and can't also be an interrupt boundary"
            yield _fault(codes.WAIT_IS_BOUNDARY, text, wait.node, boundaries[wait.node] or wait.place)


def boundary_faults(draft: DraftFacts) -> Iterator[Problem]:
    """Step 6, names in byte order, also those that are no node."""
    waits = {wait.node for wait in draft.waits}
    for boundary in sorted(draft.boundaries, key=lambda boundary: boundary.node):
        if boundary.node in waits:
            continue
        what = f"interrupt boundary '{boundary.node}'"
        if boundary.timeout is not None and not boundary.timeout > 0:
            text = f"{what} has a timeout of {_told(boundary.timeout)}; it must be greater than zero"
            yield _fault(codes.TIMEOUT_NOT_POSITIVE, text, boundary.node, boundary.place)
        if boundary.has_timeout_route and boundary.timeout is None:
            yield _fault(codes.ROUTE_WITHOUT_TIMEOUT, f"{what} has a timeout route but no timeout", boundary.node, boundary.place)


def recovery_faults(draft: DraftFacts) -> Iterator[Problem]:
    """Step 7, names in byte order. Every node may fail but a wait, which does nothing."""
    nodes = {node.name: node for node in draft.graph.nodes}
    for policy in sorted(draft.recoveries, key=lambda policy: policy.node):
        yield from _recovery_faults(policy, nodes)


def _branch_faults(node: NodeFacts) -> Iterator[Problem]:
    if not node.branches:
        yield _fault(codes.EMPTY_GROUP, f"parallel group '{node.name}' has no branches", node.name, node.place)
    seen: dict[str, int] = {}
    for branch in node.branches:
        seen[branch.name] = seen.get(branch.name, 0) + 1
        if seen[branch.name] == 2:
            text = f"parallel group '{node.name}' has more than one branch named '{branch.name}'"
            yield _fault(codes.DUPLICATE_BRANCH, text, node.name, branch.place or node.place, related=branch.name)


def _limit_faults(node: NodeFacts, fanout: FanoutFacts | None, what: str, timeout: str) -> Iterator[Problem]:
    if fanout is None:
        return
    place = fanout.place or node.place
    if fanout.max_concurrency is not None and fanout.max_concurrency < 1:
        text = f"{what} has a max_concurrency of {fanout.max_concurrency}; it must be at least 1"
        yield _fault(codes.CONCURRENCY_NOT_POSITIVE, text, node.name, place)
    if fanout.part_timeout is not None and not fanout.part_timeout > 0:
        text = f"{what} has {timeout} of {_told(fanout.part_timeout)}; it must be greater than zero"
        yield _fault(codes.TIMEOUT_NOT_POSITIVE, text, node.name, place)
    if fanout.max_items is not None and fanout.max_items < 1:
        text = f"{what} has a max_items of {fanout.max_items}; it must be at least 1"
        yield _fault(codes.MAX_ITEMS_NOT_POSITIVE, text, node.name, place)


def _pauses_of_items(node: NodeFacts) -> Iterator[Problem]:
    if node.graph is None:
        return
    for path, inner in _pausing(node.graph):
        is_wait = inner.kind == "wait"
        where = f"a wait at '{path}'" if is_wait else f"an interrupt boundary at '{path}'"
        text = f"map '{node.name}' runs a graph with {where}; a map item can't freeze"
        yield _fault(codes.WAIT_IN_MAP if is_wait else codes.BOUNDARY_IN_MAP, text, f"{node.name}/*/{path}", node.place)


def _pausing(graph: GraphFacts) -> Iterator[tuple[str, NodeFacts]]:
    """The nodes that pause, at any depth, a node before those inside it; a map's items cannot, so none is looked for there."""
    waiting = [(node.name, node) for node in reversed(graph.nodes)]
    while waiting:
        path, node = waiting.pop()
        if node.is_boundary or node.kind == "wait":
            yield path, node
        if node.kind == "subgraph" and node.graph is not None:
            waiting.extend((f"{path}/{inner.name}", inner) for inner in reversed(node.graph.nodes))


def _wait_faults(wait: WaitFacts) -> Iterator[Problem]:
    if wait.delay is not None and not wait.delay > 0:
        text = f"timer '{wait.node}' has a delay of {_told(wait.delay)}; it must be greater than zero"
        yield _fault(codes.DELAY_NOT_POSITIVE, text, wait.node, wait.place)
    if wait.timeout is not None and not wait.timeout > 0:
        text = f"wait '{wait.node}' has a timeout of {_told(wait.timeout)}; it must be greater than zero"
        yield _fault(codes.TIMEOUT_NOT_POSITIVE, text, wait.node, wait.place)
    if wait.has_timeout_route and wait.timeout is None:
        yield _fault(codes.ROUTE_WITHOUT_TIMEOUT, f"wait '{wait.node}' has a timeout route but no timeout", wait.node, wait.place)


def _recovery_faults(policy: RecoveryFacts, nodes: dict[str, NodeFacts]) -> Iterator[Problem]:
    node = nodes.get(policy.node)
    if node is None or node.kind == "wait":
        text = f"recovery policy set for '{policy.node}', which is not a fallible node"
        yield _fault(codes.POLICY_NOT_FALLIBLE, text, policy.node, policy.place)
    if policy.fallback is not None and policy.fallback not in nodes:
        text = f"recovery policy for '{policy.node}' falls back to '{policy.fallback}', which does not exist"
        yield _fault(codes.DANGLING_EDGE, text, policy.node, policy.fallback_place or policy.place, related=policy.fallback)
    if policy.backoff is not None and policy.backoff[1] < policy.backoff[0]:
        initial, maximum = (round(seconds * 1000) for seconds in policy.backoff)
        text = f"recovery policy for '{policy.node}' has a backoff whose max ({maximum} ms) is below its initial delay ({initial} ms)"
        yield _fault(codes.BACKOFF_BELOW_INITIAL, text, policy.node, policy.place)


def _told(seconds: float) -> str:
    """The engines' durations are never below zero, and their texts know no other word."""
    return "zero" if seconds == 0 else f"{seconds:g} s"


def _fault(code: str, text: str, node: str, place: Place | None, *, related: str | None = None) -> Problem:
    return Problem(code=code, severity="error", text=text, node=node, related=related, place=place)
