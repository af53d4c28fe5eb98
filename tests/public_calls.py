"""The public calls: runner, stores, answers, decorators and builder, each with arguments that are right and what else it takes."""

from __future__ import annotations

import asyncio
import inspect
import operator
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import wraps
from typing import Any, Self

import msgspec

from strata import (
    Backoff,
    Context,
    Definition,
    Event,
    Lease,
    Resume,
    Runner,
    Scheduler,
    State,
    StateGraph,
    Thread,
    ThreadQuery,
    all_of,
    boundary,
    branch,
    edge,
    first_matching,
    first_success,
    map_each,
    node,
    on_failure,
    on_reject,
    on_timeout,
    parallel,
    quorum,
    reduced,
    retry,
    subgraph,
    timer,
    wait_for_event,
    when,
)
from strata.checkpoint.record import Checkpoint
from strata.graph.clock import SYSTEM
from strata.ports import Stored
from strata.ports.leases import ThreadLease
from strata.stores import open_store
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore
from strata.testing import TestClock
from tests.records import record
from tests.wrong_arguments import ANYTHING, LISTED, NONE, PAIRS, SECONDS, TEXT, WHOLE, YES_OR_NO, Parameter


class Letter(State):
    text: str = ""


def write(letter: Letter) -> Letter:
    return letter


def write_again(letter: Letter) -> Letter:
    return letter


def fold(letter: Letter, payload: dict[str, str]) -> Letter:
    return letter


def leave(letter: Letter, child: Letter) -> Letter:
    return letter


def merge(letter: Letter, results: list[Letter]) -> Letter:
    return letter


def lines(letter: Letter) -> list[str]:
    return letter.text.split()


def one(letter: Letter, line: str) -> Letter:
    return letter


def key(line: str) -> str:
    return line


def is_long(letter: Letter) -> bool:
    return len(letter.text) > 80


def tomorrow(letter: Letter) -> datetime:
    return datetime(2026, 1, 6, tzinfo=UTC)


def same(letter: Letter) -> Letter:
    return letter


def fails(letter: Letter) -> Letter:
    raise ValueError("no ink")


def asks(letter: Letter, ctx: Context) -> Letter:
    return letter.replace(text="x" * ctx.interrupt("how many?", returns=int))


LETTERS = StateGraph(Letter).add_node("write", write, inline=True).compile(id="letters", version="1")
SIGNED = (
    StateGraph(Letter)
    .add_node("write", write, inline=True)
    .add_interrupt_boundary("write")
    .add_node("send", write, inline=True)
    .add_edge("write", "send")
    .compile(id="signed", version="1")
)
SENT = (
    StateGraph(Letter).add_wait_for_event("post", "sent", fold=fold).add_node("file", write, inline=True).add_edge("post", "file").compile(id="sent")
)
DRIED = StateGraph(Letter).add_timer("dry", 60).add_node("file", write, inline=True).add_edge("dry", "file").compile(id="dried")
FAILING = StateGraph(Letter).add_node("write", fails, inline=True).compile(id="failing")
ASKING = StateGraph(Letter).add_node("write", asks, inline=True).compile(id="asking")
FILED = StateGraph(Letter).add_subgraph("file", SIGNED, enter=same, leave=leave).compile(id="filed")
AT_ONCE = datetime(2026, 1, 5, 12, tzinfo=UTC)
LATER = datetime(2200, 1, 1, tzinfo=UTC)


class World:
    """What the calls are made on: runners over one store, each with a thread that can be answered, and one that died; and a store in a file."""

    def __init__(self, memory: MemoryStore, sqlite: SqliteStore) -> None:
        self.memory, self.sqlite = memory, sqlite
        self.runner = Runner(SIGNED, memory)
        self.runners = {
            thread: Runner(graph, memory)
            for thread, graph in {"signed": SIGNED, "sent": SENT, "dried": DRIED, "failing": FAILING, "asking": ASKING, "filed": FILED}.items()
        }

    @classmethod
    async def around(cls, sqlite: SqliteStore) -> Self:
        world = cls(MemoryStore(), sqlite)
        for thread, runner in world.runners.items():
            await runner.run(thread, Letter())
        log = await world.memory.get_log("signed")
        started, waiting = [row.checkpoint for row in log.records if isinstance(row.checkpoint, Checkpoint)]
        await world.memory.save(msgspec.structs.replace(started, thread_id="died"))
        await world.memory.save(msgspec.structs.replace(waiting, thread_id="stuck", resumed_at="2026-01-05T12:00:00Z"))
        for store in (world.memory, sqlite):
            await store.try_acquire_lease("leased", "worker-1", 30)
        return world


class Call(msgspec.Struct, frozen=True):
    """A public call, and what is done with its result that shows whether it was taken."""

    function: Callable[[World], Any]
    parameters: Mapping[str, Parameter]
    then: Callable[[Any], Any] = lambda result: result


def thread(thread_id: str) -> Parameter:
    return Parameter(thread_id, TEXT, ("a thread id",))


SIGNED_ID = thread("signed")
AT_SEQUENCE = Parameter(1, WHOLE | NONE)
NOW = Parameter(LATER, NONE)

SWEEP_OPTIONS = {
    "deadline": Parameter(60, SECONDS | NONE),
    "max_node_hops": Parameter(4, WHOLE | NONE),
    "services": Parameter((), LISTED),
    "observers": Parameter((), LISTED, ("an observer",)),
    "priority": Parameter(0, WHOLE),
}
RUN_OPTIONS = {**SWEEP_OPTIONS, "metadata": Parameter({}, PAIRS), "run_id": Parameter("r", TEXT | NONE)}
STREAM = {"select": Parameter(None, LISTED | NONE), "overflow": Parameter("wait")}
STATE = Parameter(Letter(), words=("the state",))
ANSWER = Parameter(SIGNED.approve("ann"), NONE)
EVENT = Parameter(Event("sent", payload={}))
SWEEP = {
    "metadata": Parameter(None, PAIRS | NONE),
    "limit": Parameter(10, WHOLE, ("a page size",)),
    "match_graph": Parameter(True, YES_OR_NO),
    "max_concurrent": Parameter(1, WHOLE),
    "stop": Parameter(None, NONE),
}
BY = Parameter("ann", TEXT | NONE, ("the name of who",))


async def entered(stream: Any) -> None:
    async with stream:
        pass


async def read(records: Any) -> None:
    async for _ in records:
        pass


def off_the_loop(method: Callable[..., Any]) -> Callable[..., Any]:
    """The call as a program without an event loop makes it."""

    @wraps(method)
    def call(*args: Any, **options: Any) -> Any:
        return asyncio.to_thread(method, *args, **options)

    return call


RUNNER: dict[str, Call] = {
    "__init__": Call(
        lambda world: Runner,
        {
            "graph": Parameter(LETTERS, words=("a runner runs",)),
            "store": Parameter(None, NONE),
            "services": Parameter((), LISTED),
            "observers": Parameter((), LISTED, ("an observer",)),
            "instrument": Parameter(None, NONE),
            "lease": Parameter(None, NONE),
            "scheduler": Parameter(None, NONE),
            "clock": Parameter(SYSTEM),
            "max_threads": Parameter(4, WHOLE),
        },
    ),
    "run": Call(
        lambda world: world.runner.run,
        {"thread_id": thread("new"), "state": STATE, "start_over": Parameter(False, YES_OR_NO), **RUN_OPTIONS},
    ),
    "resume": Call(lambda world: world.runner.resume, {"thread_id": SIGNED_ID, "answer": ANSWER, "at_sequence": AT_SEQUENCE, **RUN_OPTIONS}),
    "signal": Call(
        lambda world: world.runners["sent"].signal,
        {"thread_id": thread("sent"), "event": EVENT, "at_sequence": AT_SEQUENCE, **RUN_OPTIONS},
    ),
    "wake": Call(lambda world: world.runners["dried"].wake, {"thread_id": thread("dried"), "now": NOW, **RUN_OPTIONS}),
    "recover": Call(lambda world: world.runner.recover, {"thread_id": thread("died"), **RUN_OPTIONS}),
    "wake_due": Call(lambda world: world.runner.wake_due, {"now": NOW, **SWEEP, **SWEEP_OPTIONS}),
    "recover_stale": Call(
        lambda world: world.runner.recover_stale,
        {
            "now": NOW,
            "stale_after": Parameter(60, SECONDS | NONE),
            "max_recoveries": Parameter(None, WHOLE | NONE),
            **SWEEP,
            **SWEEP_OPTIONS,
        },
    ),
    "end": Call(
        lambda world: world.runner.end,
        {"thread_id": SIGNED_ID, "by": BY, "metadata": Parameter({}, PAIRS | NONE), "force": Parameter(False, YES_OR_NO)},
    ),
    "reopen": Call(lambda world: world.runner.reopen, {"thread_id": thread("stuck"), "by": BY}),
    "cancel": Call(lambda world: world.runner.cancel, {"thread_id": SIGNED_ID}),
    "stream": Call(
        lambda world: world.runner.stream,
        {"thread_id": thread("new"), "state": STATE, "start_over": Parameter(False, YES_OR_NO), **STREAM, **RUN_OPTIONS},
        entered,
    ),
    "stream_resume": Call(
        lambda world: world.runner.stream_resume,
        {"thread_id": SIGNED_ID, "answer": ANSWER, "at_sequence": AT_SEQUENCE, **STREAM, **RUN_OPTIONS},
        entered,
    ),
    "stream_wake": Call(
        lambda world: world.runners["dried"].stream_wake, {"thread_id": thread("dried"), "now": NOW, **STREAM, **RUN_OPTIONS}, entered
    ),
    "stream_recover": Call(lambda world: world.runner.stream_recover, {"thread_id": thread("died"), **STREAM, **RUN_OPTIONS}, entered),
    "thread": Call(lambda world: world.runner.thread, {"thread_id": SIGNED_ID}),
    "threads": Call(lambda world: world.runner.threads, {"query": Parameter(ThreadQuery(), NONE, ("ThreadQuery",))}),
    "log": Call(lambda world: world.runner.log, {"thread_id": SIGNED_ID, "after": Parameter(None, WHOLE | NONE)}, read),
    "owns": Call(lambda world: world.runner.owns, {"record": Parameter(Thread[Letter].of(Stored(record("t"), 0), LETTERS.codec))}),
    "run_sync": Call(
        lambda world: off_the_loop(world.runner.run_sync),
        {"thread_id": thread("new"), "state": STATE, "start_over": Parameter(False, YES_OR_NO), **RUN_OPTIONS},
    ),
    "resume_sync": Call(
        lambda world: off_the_loop(world.runner.resume_sync),
        {"thread_id": SIGNED_ID, "answer": ANSWER, "at_sequence": AT_SEQUENCE, **RUN_OPTIONS},
    ),
    "signal_sync": Call(
        lambda world: off_the_loop(world.runners["sent"].signal_sync),
        {"thread_id": thread("sent"), "event": EVENT, "at_sequence": AT_SEQUENCE, **RUN_OPTIONS},
    ),
    "recover_sync": Call(lambda world: off_the_loop(world.runner.recover_sync), {"thread_id": thread("died"), **RUN_OPTIONS}),
    "end_sync": Call(
        lambda world: off_the_loop(world.runner.end_sync),
        {"thread_id": SIGNED_ID, "by": BY, "metadata": Parameter({}, PAIRS | NONE), "force": Parameter(False, YES_OR_NO)},
    ),
    "thread_sync": Call(lambda world: off_the_loop(world.runner.thread_sync), {"thread_id": SIGNED_ID}),
}

CHECKPOINT = Parameter(record("t"))
EXPECTED = Parameter(None, WHOLE | NONE)
LEASE = Parameter(ThreadLease("leased", "worker-1", 1, 0))
TTL = Parameter(30, SECONDS, ("ttl",))

STORE: dict[str, dict[str, Parameter]] = {
    "save": {"checkpoint": CHECKPOINT},
    "save_if_latest": {"checkpoint": CHECKPOINT, "expected": EXPECTED},
    "load": {"thread_id": SIGNED_ID},
    "load_latest": {"thread_id": SIGNED_ID},
    "get_log": {"thread_id": SIGNED_ID, "after": Parameter(None, WHOLE | NONE), "limit": Parameter(10, WHOLE, ("a page size",))},
    "list_threads": {"query": Parameter(ThreadQuery(), words=("ThreadQuery",))},
    "purge": {
        "older_than": Parameter(AT_ONCE),
        "states": Parameter(("completed",), LISTED, ("states",)),
        "limit": Parameter(10, WHOLE, ("a page size",)),
    },
    "try_acquire_lease": {"thread_id": SIGNED_ID, "owner": Parameter("worker-1", TEXT), "ttl": TTL},
    "renew_lease": {"lease": LEASE, "ttl": TTL},
    "release_lease": {"lease": LEASE},
    "get_lease": {"thread_id": SIGNED_ID},
    "save_under_lease": {"checkpoint": Parameter(record("leased")), "lease": LEASE, "expected": EXPECTED},
    "keep_progress": {
        "thread_id": SIGNED_ID,
        "base": Parameter(0, WHOLE),
        "items": Parameter({("write", "once:a"): b"1"}, PAIRS),
    },
    "load_progress": {"thread_id": SIGNED_ID, "base": Parameter(0, WHOLE)},
}


def on_store(store: str, name: str) -> Call:
    return Call(lambda world: getattr(getattr(world, store), name), STORE[name])


MOMENT = Parameter(AT_ONCE, NONE)
QUERY = {
    "states": Parameter(("completed",), LISTED),
    "metadata": Parameter({}, PAIRS),
    "updated_after": MOMENT,
    "updated_before": MOMENT,
    "due_by": MOMENT,
    "graph_id": Parameter("letters", TEXT | NONE),
    "graph_version": Parameter("1", TEXT | NONE),
    "limit": Parameter(10, WHOLE, ("a page size",)),
    "cursor": Parameter(None, NONE),
}
LEASED = {
    "owner": Parameter("worker-1", TEXT),
    "ttl": Parameter(30, SECONDS),
}
OF_THREAD = {
    "thread_id": thread("leased"),
    "owner": Parameter("worker-1", TEXT),
    "token": Parameter(1, WHOLE),
    "expires_at": Parameter(0, ANYTHING),
}
SCHEDULER = {
    "max_concurrent": Parameter(4, WHOLE),
    "max_queued": Parameter(4, WHOLE),
    "max_queue_time": Parameter(None, SECONDS | NONE),
    "reservations": Parameter((), LISTED),
    "tenant_key": Parameter("tenant", TEXT),
    "tenant_limit": Parameter(None, WHOLE | NONE),
    "tenant_limits": Parameter({}, PAIRS),
    "tenant_max_queued": Parameter(None, WHOLE | NONE),
    "name": Parameter("default", TEXT),
    "clock": Parameter(SYSTEM),
}


def used(make: Callable[..., Any], use: Callable[[World, Any], Any]) -> Callable[[World], Callable[..., Any]]:
    """A value that is made, and used where it is meant for."""

    def of(world: World) -> Callable[..., Any]:
        @wraps(make, updated=())
        def call(*args: Any, **options: Any) -> Any:
            return use(world, make(*args, **options))

        call.__signature__ = inspect.signature(make)  # type: ignore[attr-defined]
        return call

    return of


def given(make: Callable[..., Any], thread: str) -> Callable[[World], Callable[..., Any]]:
    return used(make, lambda world, answer: world.runners[thread].resume(thread, answer))


VALUES_OF_RUNS: dict[str, Call] = {
    "ThreadQuery in memory": Call(used(ThreadQuery, lambda world, query: world.memory.list_threads(query)), QUERY),
    "ThreadQuery on SQLite": Call(used(ThreadQuery, lambda world, query: world.sqlite.list_threads(query)), QUERY),
    "Lease": Call(used(Lease, lambda world, lease: Runner(LETTERS, MemoryStore(), lease=lease).run("t", Letter())), LEASED),
    "ThreadLease in memory": Call(used(ThreadLease, lambda world, lease: world.memory.renew_lease(lease, 30)), OF_THREAD),
    "ThreadLease on SQLite": Call(used(ThreadLease, lambda world, lease: world.sqlite.renew_lease(lease, 30)), OF_THREAD),
    "Scheduler": Call(lambda world: Scheduler, SCHEDULER),
    "Scheduler.set_tenant_limit": Call(
        lambda world: Scheduler().set_tenant_limit, {"tenant": Parameter("acme", TEXT), "limit": Parameter(1, WHOLE | NONE)}
    ),
    "MemoryStore": Call(lambda world: MemoryStore, {"clock": Parameter(SYSTEM)}),
    "SqliteStore": Call(
        lambda world: SqliteStore,
        {
            "path": Parameter("t.db", TEXT),
            "durability": Parameter("full"),
            "busy_timeout": Parameter(5, SECONDS),
            "clock": Parameter(SYSTEM),
        },
    ),
    "TestClock": Call(lambda world: TestClock, {"at": Parameter(AT_ONCE)}),
    "Definition.from_json": Call(
        lambda world: Definition.from_json, {"data": Parameter(LETTERS.definition().to_json(), TEXT, ("not a definition",))}
    ),
    "open_store": Call(lambda world: open_store, {"url": Parameter("memory:", TEXT, ("store",))}),
}

REVIEWER = Parameter("ann", TEXT, ("a reviewer",))
ANSWERS: dict[str, Call] = {
    "Event": Call(
        given(Event, "sent"),
        {"type": Parameter("sent", TEXT), "payload": Parameter({}, ANYTHING), "overrides": Parameter({}, PAIRS | NONE)},
    ),
    "Resume": Call(given(Resume, "asking"), {"answer": Parameter(3, ANYTHING), "by": REVIEWER}),
    "approve": Call(given(SIGNED.approve, "signed"), {"reviewer": REVIEWER}),
    "reject": Call(given(SIGNED.reject, "signed"), {"reviewer": REVIEWER}),
    "amend": Call(given(SIGNED.amend, "failing"), {"who": REVIEWER}),
    "Signal.at": Call(given(SIGNED.approve().at, "filed"), {"path": Parameter((), TEXT | LISTED), "signal": Parameter(FILED.amend())}),
}


# Graphs: a mark or a node is right if the graph that has it compiles


@node
def end(letter: Letter) -> Letter:
    return letter


def leading(mark: Callable[..., Any]) -> Callable[[World], Callable[..., Any]]:
    return compiling(mark, lambda made: made(write))


def marked(mark: Callable[..., Any]) -> Callable[[World], Callable[..., Any]]:
    """Put on a node that pauses for a while, and so may have every mark."""
    return compiling(mark, lambda made: made(edge("end")(write)) if mark is boundary else boundary(timeout=60)(made(edge("end")(write))))


def topped(top: Callable[..., Any], fn: Callable[..., Any]) -> Callable[[World], Callable[..., Any]]:
    return compiling(top, lambda made: made(edge("end")(fn)), is_node=True)


def joined(join: Callable[..., Any]) -> Callable[[World], Callable[..., Any]]:
    return compiling(join, lambda made: parallel(same, write_again, join=made)(edge("end")(merge)), is_node=True)


def compiling(make: Callable[..., Any], decorate: Callable[[Any], Any], *, is_node: bool = False) -> Callable[[World], Callable[..., Any]]:
    @wraps(make)
    def call(*args: Any, **options: Any) -> object:
        made = decorate(make(*args, **options))
        first = made if is_node else node("write")(made)
        return StateGraph(Letter).start(first).nodes(end).compile(id="letters", version="1")

    return lambda world: call


TARGET = Parameter("end", TEXT, ("leads to",))
NAME = Parameter("named", TEXT | NONE, ("the name of",))
TIMEOUT = Parameter(60, SECONDS | NONE)
METADATA = Parameter({}, PAIRS | NONE)
FUNCTION = Parameter(same, words=("function", "branch"))
FANOUT = {
    "name": NAME,
    "join": Parameter(None, NONE),
    "partial": Parameter("fail_group"),
    "max_concurrency": Parameter(2, WHOLE | NONE),
    "cancel_siblings": Parameter(True, YES_OR_NO),
    "timeout": TIMEOUT,
    "metadata": METADATA,
    "keep_progress": Parameter(True, YES_OR_NO),
}


def in_state(field: Callable[..., Any]) -> Callable[[World], Callable[..., Any]]:
    def use(world: World, made: Any) -> object:
        class Notes(State):
            notes: list[str] = made

        return StateGraph(Notes)

    return used(field, use)


DECORATORS: dict[str, Call] = {
    "node": Call(
        topped(node, write),
        {
            "target": Parameter("named", TEXT | NONE, ("name", "function")),
            "timeout": TIMEOUT,
            "metadata": METADATA,
            "inline": Parameter(False, YES_OR_NO),
        },
    ),
    "edge": Call(leading(edge), {"to": TARGET}),
    "when": Call(leading(when), {"guard": Parameter(is_long, words=("a function",)), "to": TARGET}),
    "boundary": Call(marked(boundary), {"fn": Parameter(None, NONE, ("function",)), "timeout": TIMEOUT}),
    "on_reject": Call(marked(on_reject), {"to": TARGET}),
    "on_timeout": Call(marked(on_timeout), {"to": TARGET}),
    "on_failure": Call(marked(on_failure), {"to": TARGET, "on": Parameter(Exception)}),
    "retry": Call(
        marked(retry),
        {"retries": Parameter(2, WHOLE, ("tried again",)), "backoff": Parameter(None, NONE), "on": Parameter(ConnectionError)},
    ),
    "Backoff": Call(lambda world: Backoff, {"initial": Parameter(1, SECONDS), "maximum": Parameter(2, SECONDS), "jitter": Parameter("full")}),
    "parallel": Call(
        topped(parallel, merge),
        {"branches": Parameter((same, write_again), words=("branch",)), "branch_timeout": TIMEOUT, **FANOUT},
    ),
    "branch": Call(
        compiling(branch, lambda made: parallel(made, same)(edge("end")(merge)), is_node=True),
        {"name": Parameter("one", TEXT), "fn": FUNCTION, "metadata": METADATA, "inline": Parameter(False, YES_OR_NO)},
    ),
    "subgraph": Call(
        topped(subgraph, leave),
        {"child": Parameter(LETTERS, words=("a compiled graph",)), "enter": FUNCTION, "name": NAME, "timeout": TIMEOUT, "metadata": METADATA},
    ),
    "map_each": Call(
        topped(map_each, merge),
        {
            "child": Parameter(LETTERS, words=("a compiled graph",)),
            "items": Parameter(lines),
            "key": Parameter(key),
            "enter": Parameter(one),
            "max_items": Parameter(None, WHOLE | NONE),
            "item_timeout": TIMEOUT,
            **FANOUT,
        },
    ),
    "wait_for_event": Call(
        topped(wait_for_event, fold),
        {"event_type": Parameter("sent", TEXT, ("event",)), "name": NAME, "timeout": TIMEOUT, "metadata": METADATA},
    ),
    "timer": Call(
        topped(timer, same),
        {"delay": Parameter(60, SECONDS, ("delay", "duration")), "until": Parameter(None, NONE), "name": NAME, "metadata": METADATA},
    ),
    "all_of": Call(joined(all_of), {}),
    "first_success": Call(joined(first_success), {}),
    "first_matching": Call(
        joined(first_matching), {"predicate": Parameter(is_long, words=("function",)), "description": Parameter("d", TEXT | NONE)}
    ),
    "quorum": Call(joined(quorum), {"n": Parameter(1, WHOLE, ("quorum",))}),
    "reduced": Call(
        in_state(reduced),
        {
            "fn": Parameter(operator.add, words=("function",)),
            "default": Parameter(msgspec.NODEFAULT, ANYTHING),
            "default_factory": Parameter(msgspec.NODEFAULT),
            "name": Parameter("notes", TEXT | NONE),
        },
    ),
}

BUILT_NAME = Parameter("write", TEXT, ("the name of",))


def linked(graph: StateGraph[Letter]) -> object:
    return graph.add_edge("write", "end")


def grouped(graph: StateGraph[Letter]) -> object:
    return linked(graph.add_parallel_group("write", [same, write_again], merge))


def built(method: str, *, after: Callable[[StateGraph[Letter]], object] = linked) -> Callable[[World], Callable[..., Any]]:
    """A method of a builder that has two nodes, and what comes of it when the graph is compiled."""

    def of(world: World) -> Callable[..., Any]:
        graph = StateGraph(Letter).add_node("write", write).add_node("end", write)
        after(graph)

        @wraps(getattr(graph, method))
        def call(*args: Any, **options: Any) -> object:
            return getattr(graph, method)(*args, **options).compile(id="letters", version="1")

        return call

    return of


COMPILED = {
    "id": Parameter("letters", TEXT | NONE),
    "version": Parameter("1", TEXT | NONE),
    "max_node_hops": Parameter(9, WHOLE | NONE),
    "durable": Parameter(True, YES_OR_NO),
    "migrate": Parameter(None, NONE),
    "check": Parameter("full"),
}
ADDED = {"name": BUILT_NAME, "fn": FUNCTION, "timeout": TIMEOUT, "metadata": METADATA, "inline": Parameter(False, YES_OR_NO)}
FANNED = {name: parameter for name, parameter in FANOUT.items() if name != "name"}
FROM = Parameter("write", TEXT, ("an edge", "leads to"))

BUILDER: dict[str, Call] = {
    "__init__": Call(lambda world: StateGraph, {"state": Parameter(Letter, words=("State",))}),
    "start": Call(lambda world: StateGraph(Letter).start, {"node": Parameter(end), "others": Parameter((), LISTED, ("start() takes one node",))}),
    "nodes": Call(lambda world: StateGraph(Letter).start(end).nodes, {"nodes": Parameter((), LISTED)}),
    "add_node": Call(built("add_node"), ADDED),
    "add_fallible_node": Call(built("add_fallible_node"), ADDED),
    "add_streaming_node": Call(built("add_streaming_node"), ADDED),
    "add_async_node": Call(built("add_async_node"), ADDED),
    "add_parallel_group": Call(
        built("add_parallel_group"),
        {
            "name": BUILT_NAME,
            "branches": Parameter([same, write_again], words=("branch",)),
            "merge": Parameter(merge),
            "branch_timeout": TIMEOUT,
            **FANNED,
        },
    ),
    "add_subgraph": Call(
        built("add_subgraph"),
        {
            "name": BUILT_NAME,
            "child": Parameter(LETTERS, words=("a compiled graph",)),
            "enter": Parameter(same),
            "leave": Parameter(leave, words=("its function",)),
            "timeout": TIMEOUT,
            "metadata": METADATA,
        },
    ),
    "add_map": Call(
        built("add_map"),
        {
            "name": BUILT_NAME,
            "child": Parameter(LETTERS, words=("a compiled graph",)),
            "items": Parameter(lines),
            "key": Parameter(key),
            "enter": Parameter(one),
            "merge": Parameter(merge),
            "max_items": Parameter(None, WHOLE | NONE),
            "item_timeout": TIMEOUT,
            **FANNED,
        },
    ),
    "add_wait_for_event": Call(
        built("add_wait_for_event"),
        {
            "name": BUILT_NAME,
            "event_type": Parameter("sent", TEXT, ("event",)),
            "fold": Parameter(fold, NONE, ("its function",)),
            "payload": Parameter(None, NONE),
            "timeout": TIMEOUT,
            "on_timeout": Parameter("end", TEXT | NONE, ("leads to", "add_wait_for_event")),
            "metadata": METADATA,
        },
    ),
    "add_timer": Call(
        built("add_timer"),
        {
            "name": BUILT_NAME,
            "delay": Parameter(60, SECONDS, ("delay", "duration")),
            "until": Parameter(None, NONE),
            "fold": Parameter(same, NONE, ("its function",)),
            "metadata": METADATA,
        },
    ),
    "add_edge": Call(built("add_edge", after=id), {"start": FROM, "to": TARGET}),
    "add_conditional_edge": Call(built("add_conditional_edge", after=id), {"start": FROM, "to": TARGET, "guard": Parameter(is_long)}),
    "set_entry_point": Call(built("set_entry_point"), {"name": BUILT_NAME}),
    "add_interrupt_boundary": Call(
        built("add_interrupt_boundary"),
        {
            "name": BUILT_NAME,
            "on_reject": Parameter("end", TEXT | NONE, ("leads to",)),
            "timeout": TIMEOUT,
            "on_timeout": Parameter("end", TEXT | NONE, ("leads to",)),
        },
    ),
    "set_recovery_policy": Call(
        built("set_recovery_policy"),
        {
            "name": BUILT_NAME,
            "retries": Parameter(2, WHOLE, ("tried again", "tries")),
            "backoff": Parameter(None, NONE),
            "on": Parameter(None, NONE),
            "fallback": Parameter("end", TEXT | NONE, ("leads to",)),
        },
    ),
    "set_timeout": Call(built("set_timeout"), {"name": BUILT_NAME, "timeout": Parameter(60, SECONDS)}),
    "set_node_metadata": Call(built("set_node_metadata"), {"name": BUILT_NAME, "metadata": Parameter({}, PAIRS)}),
    "set_branch_metadata": Call(
        built("set_branch_metadata", after=grouped),
        {"name": BUILT_NAME, "branch": Parameter("same", TEXT), "metadata": Parameter({}, PAIRS)},
    ),
    "compile": Call(lambda world: StateGraph(Letter).add_node("write", write).compile, COMPILED),
}


CALLS: dict[str, Call] = {
    **{f"Runner.{name}": call for name, call in RUNNER.items()},
    **{f"MemoryStore.{name}": on_store("memory", name) for name in STORE},
    **{f"SqliteStore.{name}": on_store("sqlite", name) for name in STORE},
    **VALUES_OF_RUNS,
    **ANSWERS,
    **{f"@{name}": call for name, call in DECORATORS.items()},
    **{f"StateGraph.{name}": call for name, call in BUILDER.items()},
}
