"""Whether the new graph may take over what the old one wrote: by identity, before anything else is looked at (strata-graph.md 5)."""

from __future__ import annotations

from strata.errors import at_level
from strata.graph.changes.finding import Finding
from strata.graph.changes.pair import Pair
from strata.graph.identity import Identity


def identity_change(pair: Pair) -> Finding | None:
    """What a changed id or version means for the threads of this level; a graph without an identity writes what anyone takes."""
    wrote, runs = pair.old.definition.identity, pair.new.definition.identity
    if wrote is None or wrote == runs:
        return None
    start = f"threads written by graph {wrote}{at_level(pair.path)} are refused"
    if runs is None:
        return _broken(pair, "identity_removed", f"{start}: the new graph has no identity", f"compile it with id='{wrote.id}' if it is the same one")
    if runs.id != wrote.id:
        return _broken(pair, "id_changed", f"{start}: the new graph is {runs}", f"keep the id '{wrote.id}' if it is the same graph")
    if may_migrate(pair):
        return Finding(code="version_changed", effect="caution", reach="level", level=pair.path, text=_migrated(pair, wrote, runs))
    hint = f"give compile(migrate=...) a function that accepts {wrote.version_text}, or finish those threads with the version that wrote them"
    return _broken(pair, "version_changed", f"{start}: the new graph is {runs.version_text} and has no migration", hint)


def may_migrate(pair: Pair) -> bool:
    """Whether threads of this level go through a migration, as far as is known."""
    wrote, runs = pair.old.definition.identity, pair.new.definition.identity
    if wrote is None or runs is None or wrote.id != runs.id or wrote.version == runs.version:
        return False
    return pair.new.states is None or pair.new.states.migrates is not False


def _migrated(pair: Pair, wrote: Identity, runs: Identity) -> str:
    start = f"threads written by graph {wrote}{at_level(pair.path)}"
    if pair.new.states is not None and pair.new.states.migrates:
        return f"{start} are taken over by the migration of {runs.version_text}, if it accepts them"
    return f"{start} are refused, unless {runs.version_text} has a migration that accepts them: its description does not say"


def _broken(pair: Pair, code: str, text: str, hint: str) -> Finding:
    return Finding(code=code, effect="breaks", reach="level", level=pair.path, text=text, hint=hint)
