"""`strata graph diff`: which paused threads a change of a graph breaks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter

from strata.checkpoint.affected import is_affected
from strata.cli import terminal
from strata.cli.described import described
from strata.cli.faults import CannotDo
from strata.cli.parameters import AsJson
from strata.cli.paused import Paused, paused_threads
from strata.cli.revisions import described_in_revision
from strata.cli.shapes import Change, Comparison, change, unreadable_row
from strata.errors import GraphInvalid
from strata.graph.changes.between import changes_between
from strata.graph.changes.finding import Finding
from strata.graph.changes.pair import Described
from strata.graph.identity import Identity


def graph_diff(
    old: Annotated[str, Parameter(help="The graph as it was: a definition (JSON), module:graph, revision:file or revision:module:graph.")],
    new: Annotated[str, Parameter(help="The graph as it is to be, named in the same ways.")],
    /,
    *,
    threads: Annotated[bool, Parameter(negative="", help="Count the threads of the store that each change concerns.")] = False,
    store: Annotated[str | None, Parameter(env_var="STRATA_STORE", help="Where the threads are; see strata thread list.")] = None,
    as_json: AsJson = False,
) -> int:
    """Say which paused threads a change of a graph breaks: what a resume would refuse, and what it would lose.

    Exit code 0: nothing breaks. 1: something does, or a row of the store cannot be read. 2: the two could not be compared.
    """
    before, after = _described(old), _described(new)
    findings = _compared(before, after)
    paused = _paused(store, before.definition.identity) if threads else None
    comparison = _comparison(old, new, findings, paused)
    if as_json:
        terminal.show_json(comparison)
    else:
        _show(comparison)
    return int(not comparison.ok)


def _described(target: str) -> Described:
    try:
        in_revision = described_in_revision(target)
        return described(target) if in_revision is None else in_revision
    except GraphInvalid as error:
        raise CannotDo(
            f"'{target}' has errors, and no thread can be paused in it: {error}", hint=f"look at: strata graph validate {target}"
        ) from error


def _compared(old: Described, new: Described) -> Sequence[Finding]:
    """What the files beside definitions hold is any JSON, and need not be a schema."""
    try:
        return changes_between(old, new)
    except (LookupError, TypeError, AttributeError, RecursionError) as error:
        raise CannotDo(
            f"the schemas of the states cannot be read: {type(error).__name__}: {error}", hint="write them anew: strata graph export"
        ) from error


def _paused(store: str | None, identity: Identity | None) -> Paused:
    if store is None:
        raise CannotDo("--threads needs a store", hint="give --store, or set STRATA_STORE")
    return asyncio.run(paused_threads(store, identity))


def _comparison(old: str, new: str, findings: Sequence[Finding], paused: Paused | None) -> Comparison:
    changes = [change(finding, _count(finding, paused)) for finding in findings]
    unreadable = [] if paused is None else [unreadable_row(error) for error in paused.unreadable]
    breaks = any(finding.effect == "breaks" for finding in findings)
    return Comparison(ok=not breaks and not unreadable, old=old, new=new, changes=changes, unreadable=unreadable)


def _count(finding: Finding, paused: Paused | None) -> int | None:
    """How many threads it concerns; nobody looks for threads that go on as they would have."""
    if paused is None or finding.effect == "harmless":
        return None
    return sum(is_affected(record, finding) for record in paused.records)


def _show(comparison: Comparison) -> None:
    for found in comparison.changes:
        terminal.show(f"{found.effect}: {found.text} [{found.code}]{_counted(found)}", style="bold red" if found.effect == "breaks" else "")
        if found.hint is not None:
            terminal.show(f"  hint: {found.hint}")
    for row in comparison.unreadable:
        terminal.show(f"{row.thread_id}: cannot be read: {row.error}", style="red")
    terminal.show(_verdict(comparison))


def _counted(found: Change) -> str:
    if found.threads is None:
        return ""
    return " (1 thread)" if found.threads == 1 else f" ({found.threads} threads)"


def _verdict(comparison: Comparison) -> str:
    breaking = sum(found.effect == "breaks" for found in comparison.changes)
    if breaking:
        return f"paused threads break: {breaking} of {len(comparison.changes)} changes" if len(comparison.changes) > 1 else "paused threads break"
    return "no paused thread breaks" if comparison.changes else "nothing that a paused thread needs has changed"
