"""`strata thread inspect`: where a thread stands."""

from __future__ import annotations

import asyncio

import msgspec

from strata.checkpoint.metadata import QUESTION
from strata.cli import terminal
from strata.cli.parameters import AsJson, StoreUrl, ThreadId
from strata.cli.shapes import Asked, Decided, Shown, Wait, shown
from strata.cli.stores import opened
from strata.errors import ThreadNotFound
from strata.graph.identity import Identity
from strata.graph.schema_words import in_words
from strata.ports import Stored


def thread_inspect(thread_id: ThreadId, /, *, store: StoreUrl, as_json: AsJson = False) -> int:
    """Show the newest record of a thread, its state as it is stored. No graph is needed.

    Exit code 1: there is no such thread, or its record cannot be read.
    """
    stored = asyncio.run(_newest(store, thread_id))
    record = shown(stored.checkpoint, stored.sequence)
    if as_json:
        terminal.show_json(record)
    else:
        _show(record)
    return 0


async def _newest(url: str, thread_id: str) -> Stored:
    async with opened(url) as store:
        stored = await store.load_latest(thread_id)
    if stored is None:
        raise ThreadNotFound(thread_id)
    return stored


def _show(record: Shown) -> None:
    _fact("thread", record.thread_id)
    _fact("state", record.state_name)
    _fact("at", "/".join(record.waiting_at))
    _fact("next", record.next_node)
    _fact("waits for", _waiting(record.wait))
    if record.question is not None:
        _show_question(record.question)
    _fact("error", record.error)
    _fact("graph", _identity(record.graph))
    _fact("hops", None if record.hops is None else str(record.hops))
    _fact("record", f"#{record.sequence}, schema {record.schema_version}")
    _fact("created", record.created_at)
    _fact("resumed", record.resumed_at)
    _fact("decision", _decision(record.decision))
    for key, value in record.metadata.items():
        if key != QUESTION or record.question is None:
            _fact("metadata", f"{key} = {value}")
    _show_state("state", record.state)
    for level in record.nested:
        _show_state(f"state inside, {level.status} at {level.suspended_node or '-'}", level.state)


def _show_question(question: Asked) -> None:
    _fact("question", f"{question.id}, since {question.since}")
    text = question.asked if isinstance(question.asked, str) else terminal.printable_json(msgspec.json.encode(question.asked))
    first, *others = text.splitlines() or [""]
    _fact("asks", first)
    for line in others:
        _fact("", line)
    _fact("takes", "approve or reject" if question.schema is None else in_words(question.schema))


def _fact(name: str, value: str | None) -> None:
    if value:
        terminal.show(f"{name:<10}{value}")


def _show_state(title: str, state: msgspec.Raw) -> None:
    terminal.show(f"{title}:")
    terminal.show_lines(terminal.printable_json(msgspec.json.format(bytes(state), indent=2)), indent="  ")


def _waiting(wait: Wait | None) -> str | None:
    if wait is None:
        return None
    what = wait.kind if wait.event_type is None else f"{wait.kind} {wait.event_type}"
    return what if wait.wake_at is None else f"{what}, until {wait.wake_at}"


def _identity(graph: Identity | None) -> str | None:
    return None if graph is None else f"{graph.id} {graph.version_text}"


def _decision(decision: Decided | None) -> str | None:
    if decision is None:
        return None
    verdict = "approved" if decision.is_approved else "rejected"
    overrides = terminal.printable_json(bytes(decision.overrides))
    return f"{decision.boundary} {verdict} by {decision.reviewer or 'nobody named'} at {decision.decided_at}, overrides {overrides}"
