"""`strata thread resume`: answer a thread that waits, or go on with one that failed or was cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from cyclopts import Group, Parameter, validators

from strata.cli import terminal
from strata.cli.faults import CannotDo
from strata.cli.importing import import_compiled
from strata.cli.parameters import AsJson, StoreUrl, ThreadId
from strata.cli.shapes import came_to
from strata.cli.stores import opened
from strata.engine.outcomes import Cancelled, Failed, Interrupted, Outcome
from strata.errors import ThreadNotFound
from strata.graph.answers import Event, Resume, Signal
from strata.graph.compiled import CompiledGraph
from strata.graph.spec import SubgraphBody
from strata.ports import CheckpointStore
from strata.runtime.runner import Runner

_ONE_ANSWER = Group("Answer", validator=validators.mutually_exclusive, help="Without one a failed or cancelled thread goes on as it is.")


def thread_resume(
    graph: Annotated[str, Parameter(help="The graph that the thread is of: module:graph.")],
    thread_id: ThreadId,
    /,
    *,
    store: StoreUrl,
    approve: Annotated[str | None, Parameter(group=_ONE_ANSWER, help="Approve, and who does.")] = None,
    reject: Annotated[str | None, Parameter(group=_ONE_ANSWER, help="Reject, and who does.")] = None,
    answer: Annotated[str | None, Parameter(group=_ONE_ANSWER, help="The answer to the open question, as JSON.")] = None,
    by: Annotated[str | None, Parameter(help="Who gives the answer to the question.")] = None,
    event: Annotated[str | None, Parameter(group=_ONE_ANSWER, help="The type of an event that has happened; see --payload.")] = None,
    payload: Annotated[str | None, Parameter(help="What the event carries, as JSON.")] = None,
    change: Annotated[
        Sequence[str], Parameter(name="--set", negative="", help="FIELD=JSON: a field of the state that the thread goes on with; may be repeated.")
    ] = (),
    at_sequence: Annotated[int | None, Parameter(help="The record that was looked at: refused if the thread has moved on.")] = None,
    as_json: AsJson = False,
) -> int:
    """Answer a thread, and run it in this process to where it comes to rest.

    Nodes run without the services of your program. Exit code 1: the thread refuses (nothing was written then), or it failed or was
    cancelled again.
    """
    compiled = import_compiled(graph)
    given = _Answer(approve=approve, reject=reject, answer=answer, by=by, event=event, payload=payload, changes=tuple(change))
    outcome = asyncio.run(_resume(store, compiled, thread_id, given, at_sequence=at_sequence))
    if as_json:
        terminal.show_json(came_to(outcome, compiled.codec.encode(outcome.state)))
    else:
        _show(outcome, store)
    return 1 if isinstance(outcome, Failed | Cancelled) else 0


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says of the answer."""

    approve: str | None
    reject: str | None
    answer: str | None
    by: str | None
    event: str | None
    payload: str | None
    changes: tuple[str, ...]

    def of(self, graph: CompiledGraph[Any]) -> Signal[Any] | Resume | Event | None:
        """The answer, to a thread whose innermost level is of `graph`.

        Raises:
            CannotDo: a text is no JSON, or two of the options do not go together.
        """
        if self.payload is not None and self.event is None:
            raise CannotDo("--payload is what an event carries", hint="say which: --event TYPE --payload JSON")
        if self.by is not None and self.answer is None:
            raise CannotDo("--by is who gives an answer", hint="say which: --answer JSON --by WHO; --approve and --reject name who does")
        overrides = dict(_field(change) for change in self.changes)
        if self.event is not None:
            payload = msgspec.UNSET if self.payload is None else _json(self.payload, "--payload")
            return Event(self.event, payload=payload, overrides=overrides)
        if self.answer is not None:
            if overrides:
                raise CannotDo("--set goes with --approve, --reject and --event, or alone; the answer to a question changes no field")
            return Resume(_json(self.answer, "--answer"), by=self.by or "")
        signal = self._signal(graph)
        if not overrides:
            return signal
        return (graph.amend() if signal is None else signal).override(**overrides)

    def _signal(self, graph: CompiledGraph[Any]) -> Signal[Any] | None:
        if self.approve is not None:
            return graph.approve(self.approve)
        return None if self.reject is None else graph.reject(self.reject)


async def _resume(url: str, graph: CompiledGraph[Any], thread_id: str, answer: _Answer, *, at_sequence: int | None) -> Outcome[Any]:
    async with opened(url) as store:
        innermost = await _innermost(store, graph, thread_id)
        return await Runner(graph, store).resume(thread_id, answer.of(innermost), at_sequence=at_sequence)


async def _innermost(store: CheckpointStore, graph: CompiledGraph[Any], thread_id: str) -> CompiledGraph[Any]:
    """The graph of the level that waits: an answer is made from it."""
    stored = await store.load_latest(thread_id)
    if stored is None:
        raise ThreadNotFound(thread_id)
    for name in stored.checkpoint.waiting_at[:-1]:
        spec = graph.specs.get(name)
        if spec is None or not isinstance(spec.body, SubgraphBody):
            return graph  # another graph's thread: the resume says so
        graph = spec.body.child
    return graph


def _field(change: str) -> tuple[str, Any]:
    name, equals, text = change.partition("=")
    if not name or not equals:
        raise CannotDo(f"--set {change} names no field and value", hint="write FIELD=JSON, as in score=9 or 'note=\"fine\"'")
    return name, _json(text, f"--set {name}")


def _json(text: str, option: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise CannotDo(f"{option} is not JSON: {error}", hint="a text stands in double quotes, inside the shell's single ones: '\"fine\"'") from None


def _show(outcome: Outcome[Any], store: str) -> None:
    match outcome:
        case Interrupted(waiting_at=at):
            terminal.show(f"thread '{outcome.thread_id}' waits at {'/'.join(at)}; see: strata thread inspect --store {store} {outcome.thread_id}")
        case Failed(path=path, message=text):
            terminal.show(f"thread '{outcome.thread_id}' failed at {path}: {text}")
        case Cancelled(stopped_at=at, reason=reason):
            terminal.show(f"thread '{outcome.thread_id}' was cancelled at {'/'.join(at)} ({reason})")
        case _:
            terminal.show(f"thread '{outcome.thread_id}' is completed")
