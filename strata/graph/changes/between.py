"""All that a change of a graph does to paused threads, decided by what a resume refuses and what it loses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from strata.graph.changes.fields import state_changes, states_not_compared
from strata.graph.changes.finding import Effect, Finding
from strata.graph.changes.identity import identity_change, may_migrate
from strata.graph.changes.nodes import node_changes
from strata.graph.changes.pair import Described, Pair
from strata.graph.changes.pauses import pause_changes

_GRAVEST_FIRST: Final[tuple[Effect, ...]] = ("breaks", "caution", "harmless")


def changes_between(old: Described, new: Described) -> tuple[Finding, ...]:
    """What the change from `old` to `new` does to threads that `old` has paused: what breaks them first, outer levels before inner ones."""
    outermost = Pair(path=(), old=old, new=new)
    found = [*_changes(outermost), *states_not_compared(outermost)]
    return tuple(sorted(found, key=lambda finding: _GRAVEST_FIRST.index(finding.effect)))


def _changes(pair: Pair) -> Iterator[Finding]:
    """A level's own changes, then those of the levels inside it, each of which is taken over by itself (strata-graph.md 5)."""
    if (identity := identity_change(pair)) is not None:
        yield identity
    own = (*node_changes(pair), *pause_changes(pair), *state_changes(pair))
    yield from _left_to_migration(own) if may_migrate(pair) else own
    for inner in pair.inner():
        yield from _changes(inner)


def _left_to_migration(findings: Iterable[Finding]) -> Iterator[Finding]:
    """A migration may name another node and write another state: whether it does, its code alone knows."""
    for finding in findings:
        if finding.effect == "breaks":
            yield msgspec.structs.replace(finding, effect="caution", text=f"{finding.text}, unless the migration of the new version sees to it")
        else:
            yield finding
