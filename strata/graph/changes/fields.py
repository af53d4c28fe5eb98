"""State fields that are new, gone or retyped, and what a stored state comes to that is read as the new one."""

from __future__ import annotations

from collections.abc import Iterator

from strata.errors import at_level
from strata.graph.changes.finding import Effect, Finding
from strata.graph.changes.pair import Described, Pair
from strata.graph.changes.schemas import FieldChange, field_changes


def state_changes(pair: Pair) -> Iterator[Finding]:
    """What becomes of this level's stored states; nothing where the schema of one side is not known."""
    old, new = pair.old.states, pair.new.states
    if old is None or new is None or old.state is None or new.state is None:
        return
    for change in field_changes(old.state, new.state):
        yield _finding(pair, change)


def states_not_compared(pair: Pair) -> Iterator[Finding]:
    """The levels whose states nobody can compare here, said of the outermost such level only."""
    lacking = [name for name, side in (("old", pair.old), ("new", pair.new)) if not _has_schema(side)]
    if lacking:
        text = f"the states{at_level(pair.path)} are not compared: the {' and the '.join(lacking)} one has no schema here"
        hint = "strata graph export -o FILE writes the schemas of the states beside the definition"
        yield Finding(code="states_not_compared", effect="caution", reach="level", level=pair.path, text=text, hint=hint)
        return
    for inner in pair.inner():
        yield from states_not_compared(inner)


def _has_schema(side: Described) -> bool:
    return side.states is not None and side.states.state is not None


def _finding(pair: Pair, change: FieldChange) -> Finding:
    field = f"state field '{change.path}'{at_level(pair.path)}"
    effect: Effect = "breaks"
    hint: str | None = None
    match change.kind:
        case "added":
            effect, text = "harmless", f"{field} is new and has a default"
        case "widened":
            effect, text = "harmless", f"{field} takes more: it was {change.was}, and is {change.now}"
        case "default_removed":
            effect, text = "caution", f"{field} has no default any more: a thread that was written without it is refused"
        case "added_without_default":
            text, hint = f"{field} is new and has no default: a thread without it is refused", "give it a default"
        case "removed":
            text, hint = f"{field} is gone: what a thread holds in it is lost", "keep the field until no thread needs what it holds"
        case "refused":
            text, hint = f"{field} is gone, and the new state forbids unknown fields: a thread that has it is refused", "allow unknown fields"
        case "retyped":
            text = f"{field} is {change.now}, and was {change.was}: a thread whose value does not fit is refused"
            hint = "keep the old type beside the new one, or give the new type a field of its own"
    return Finding(code=f"field_{change.kind}", effect=effect, reach="level", level=pair.path, field=change.path, text=text, hint=hint)
