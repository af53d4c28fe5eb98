"""The contract of the design: what users import, from where, and with which parameters.

A contract may grow, and never change: a signature may gain keywords with defaults; nothing of what stands here may go,
move or take another default.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from importlib import import_module
from inspect import Parameter
from types import SimpleNamespace
from typing import Any, get_args

import msgspec
import pytest

import strata
from strata import (
    Cancelled,
    CompiledGraph,
    Completed,
    Context,
    Failed,
    HopLimitExceeded,
    Interrupted,
    Outcome,
    Runner,
    Scheduler,
    Signal,
    State,
    StateGraph,
    Thread,
)
from strata.engine.outcomes import CancelReason

GRAPHS = """
    State reduced node edge when boundary on_reject on_timeout on_failure retry Backoff parallel branch subgraph map_each wait_for_event timer
    all_of first_success first_matching quorum Outcomes BranchOutcome AnyNode Context StateGraph CompiledGraph Definition Problem
    Signal Event Resume Decision WaitingFor StoredLevel Identity
"""
RUNNING = """
    Runner Lease Scheduler ThreadQuery Thread Record Outcome Completed Interrupted Failed HopLimitExceeded Cancelled
    StreamEvent Token NodeStarted NodeEnded Retried NodeFailed Diagnostic Committed WakeReport RecoveryReport
"""
ERRORS = """
    StrataError GraphInvalid GraphWarning TransientError FatalError ThreadNotFound ThreadExists ThreadRunning NotRunning ThreadFinished
    ThreadChanged CheckpointUnreadable WrongGraph SignalRefused NotWaiting NotDue NotDurable LeaseHeld NotAdmitted OptionRefused StoreError
    StoreLacksLeases DatabaseNewer DatabaseOlder StateMutated Pause PauseSwallowed
    RunFailed RunInterrupted RunCancelled ThreadsExhausted UnsupportedEventLoop
"""
ELSEWHERE = {
    "strata.stores": "open_store StoreBase",
    "strata.stores.memory": "MemoryStore",
    "strata.stores.sqlite": "SqliteStore",
    "strata.ports": "CheckpointStore",
    "strata.testing": "context",
}

FUNCTIONS = {
    "edge": "(to, /)",
    "when": "(guard, /, *, to)",
    "boundary": "(fn=None, /, *, timeout=None)",
    "on_reject": "(to, /)",
    "on_timeout": "(to, /)",
    "on_failure": "(to, /, *, on=Exception)",
    "retry": "(retries, /, *, backoff=None, on=(TransientError, ConnectionError, TimeoutError))",
    "Backoff": "(*, initial, maximum, jitter='full')",
    "node": "(name=None, /, *, timeout=None, metadata=None, inline=False)",
    "parallel": (
        "(*branches, name=None, join=None, partial='fail_group', max_concurrency=None, branch_timeout=None, cancel_siblings=True,"
        " timeout=None, metadata=None, keep_progress=True)"
    ),
    "branch": "(name, fn, /, *, metadata=None, inline=False)",
    "subgraph": "(child, /, *, enter, name=None, timeout=None, metadata=None)",
    "map_each": (
        "(child, /, *, items, key, enter, name=None, join=None, partial='fail_group', max_concurrency=8, max_items=None,"
        " item_timeout=None, cancel_siblings=True, timeout=None, metadata=None, keep_progress=True)"
    ),
    "wait_for_event": "(event_type, /, *, name=None, timeout=None, metadata=None)",
    "timer": "(delay=None, /, *, until=None, name=None, metadata=None)",
    "all_of": "()",
    "first_success": "()",
    "first_matching": "(predicate, /, *, description=None)",
    "quorum": "(n, /)",
    "Event": "(type, /, *, payload=UNSET, overrides=None)",
    "Runner": ("(graph, store=None, *, services=(), observers=(), instrument=None, lease=None, scheduler=None, clock=SYSTEM, max_threads=40)"),
    "TransientError": "(message, /, *, retry_after=None)",
    "Lease": "(owner, ttl)",
    "Scheduler": (
        "(max_concurrent=16, *, max_queued=1024, max_queue_time=None, reservations=(), tenant_key='tenant', tenant_limit=None,"
        " tenant_max_queued=None, name='default')"
    ),
    "ThreadQuery": (
        "(*, states=(), updated_after=None, updated_before=None, due_by=None, graph_id=None, graph_version=None, limit=100, cursor=None)"
    ),
}

COMPILE = "(*, id=None, version=None, max_node_hops=None, durable=True, migrate=None, check='full')"
NODE_OPTIONS = "(name, fn, /, *, timeout=None, metadata=None, inline=False)"
FANOUT_OPTIONS = "join=None, partial='fail_group', {concurrency}, cancel_siblings=True, timeout=None, metadata=None, keep_progress=True"

METHODS: dict[type, dict[str, str]] = {
    StateGraph: {
        "add_node": NODE_OPTIONS,
        "add_fallible_node": NODE_OPTIONS,
        "add_streaming_node": NODE_OPTIONS,
        "add_async_node": NODE_OPTIONS,
        "add_edge": "(a, b, /)",
        "add_conditional_edge": "(a, b, guard, /)",
        "set_entry_point": "(name, /)",
        "add_interrupt_boundary": "(name, /, *, on_reject=None, timeout=None, on_timeout=None)",
        "add_wait_for_event": "(name, event_type, /, *, fold=None, payload=None, timeout=None, on_timeout=None)",
        "add_timer": "(name, delay=None, /, *, until=None, fold=None)",
        "add_parallel_group": f"(name, branches, merge, /, *, {FANOUT_OPTIONS.format(concurrency='max_concurrency=None, branch_timeout=None')})",
        "add_subgraph": "(name, child, /, *, enter, leave, timeout=None, metadata=None)",
        "add_map": (
            "(name, child, /, *, items, key, enter, merge, "
            f"{FANOUT_OPTIONS.format(concurrency='max_concurrency=8, max_items=None, item_timeout=None')})"
        ),
        "set_recovery_policy": "(name, /, *, retries=0, backoff=None, fallback=None)",
        "set_timeout": "(name, seconds, /)",
        "set_node_metadata": "(name, metadata, /)",
        "compile": COMPILE,
        "validate": "()",
        "definition": "()",
        "mermaid": "()",
    },
    CompiledGraph: {
        "approve": "(reviewer='', /)",
        "reject": "(reviewer='', /)",
        "amend": "(who='', /)",
        "definition": "()",
        "mermaid": "()",
    },
    Signal: {"at": "(*path, signal)"},
    Runner: {
        "run": "(thread_id, state, /, *, start_over=False, **options)",
        "resume": "(thread_id, answer=None, /, *, at_sequence=None, **options)",
        "signal": "(thread_id, event, /, *, at_sequence=None, **options)",
        "wake": "(thread_id, /, *, now=None, **options)",
        "recover": "(thread_id, /, **options)",
        "end": "(thread_id, /, *, by=None, metadata=None, force=False)",
        "reopen": "(thread_id, /, *, by=None)",
        "cancel": "(thread_id, /)",
        "stream": "(thread_id, state, /, *, select=None, overflow='wait', **options)",
        "stream_resume": "(thread_id, answer=None, /, *, select=None, overflow='wait', **options)",
        "stream_wake": "(thread_id, /, *, now=None, select=None, overflow='wait', **options)",
        "stream_recover": "(thread_id, /, *, select=None, overflow='wait', **options)",
        "thread": "(thread_id, /)",
        "threads": "(query=None, /)",
        "log": "(thread_id, /, *, after=None)",
        "owns": "(record, /)",
        "wake_due": "(*, now=None, metadata=None, limit=100, match_graph=True, max_concurrent=1, stop=None, **options)",
        "recover_stale": (
            "(*, now=None, stale_after=None, max_recoveries=None, metadata=None, limit=100, match_graph=True, max_concurrent=1, stop=None, **options)"
        ),
        "run_sync": "(thread_id, state, /, *, start_over=False, **options)",
        "resume_sync": "(thread_id, answer=None, /, *, at_sequence=None, **options)",
        "signal_sync": "(thread_id, event, /, *, at_sequence=None, **options)",
        "end_sync": "(thread_id, /, *, by=None, metadata=None, force=False)",
        "thread_sync": "(thread_id, /)",
    },
    Scheduler: {"snapshot": "()", "close": "()", "set_tenant_limit": "(tenant, limit)"},
    Context: {
        "raise_if_cancelled": "()",
        "service": "(type_, /)",
        "diagnostic": "(message, /, **details)",
        "diagnostic_sync": "(message, /, **details)",
        "token": "(text, /)",
        "token_sync": "(text, /)",
        "interrupt": "(question, /, *, returns=UNSET, key=None)",
        "sleep": "(seconds, /)",
        "sleep_sync": "(seconds, /)",
    },
}

ATTRIBUTES: dict[type, str] = {
    Context: """
        thread_id node path attempt run_id hop metadata decision last_failure idempotency_key is_recovery recoveries deadline graph streaming
        cancelled
    """,
    Thread: """
        thread_id state_name status state raw_state waiting_at wait questions decision metadata graph identity updated_at hops error
    """,
}

RUN_OPTIONS = "metadata deadline max_node_hops priority run_id services observers"

OUTCOMES: dict[type, str] = {
    Completed: "state thread_id run_id",
    Interrupted: "state thread_id run_id suspended_node next_node waiting_at wait questions",
    Failed: "state thread_id run_id node path message kind attempts retry_after error",
    HopLimitExceeded: "state thread_id run_id node path message kind attempts retry_after error hops limit",
    Cancelled: "state thread_id run_id node reason stopped_at",
}
CANCEL_REASONS = {"requested", "deadline", "ended", "lease_lost", "superseded"}

RECORDS = {
    "Decision": "boundary is_approved reviewer overrides decided_at",
    "WaitingFor": "kind event_type wake_at",
    "BranchOutcome": "name status state error",
    "WakeReport": "woken skipped",
    "RecoveryReport": "recovered skipped",
    "Problem": "code severity node related place text",
}


class Empty(State):
    pass


@pytest.mark.parametrize("name", (GRAPHS + RUNNING + ERRORS).split())
def test_a_name_imports_from_strata(name: str) -> None:
    assert name in strata.__all__
    assert getattr(strata, name) is not None


@pytest.mark.parametrize(("module", "name"), [(module, name) for module, names in ELSEWHERE.items() for name in names.split()])
def test_a_name_imports_from_its_module(module: str, name: str) -> None:
    assert hasattr(import_module(module), name)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_its_parameters(name: str) -> None:
    assert_offers(getattr(strata, name), FUNCTIONS[name])


@pytest.mark.parametrize(("owner", "name"), [(owner, name) for owner, methods in METHODS.items() for name in methods])
def test_a_method_has_its_parameters(owner: type, name: str) -> None:
    assert_offers(getattr(owner, name), METHODS[owner][name], is_method=True)


@pytest.mark.parametrize(("owner", "name"), [(owner, name) for owner, names in ATTRIBUTES.items() for name in names.split()])
def test_an_attribute_is_there(owner: type, name: str) -> None:
    assert hasattr(owner, name)


def test_a_graph_is_wired_in_three_calls() -> None:
    @strata.node
    @strata.edge("second")
    def first(state: Empty) -> Empty:
        return state

    @strata.node
    def second(state: Empty) -> Empty:
        return state

    wiring = StateGraph(Empty).start(first).nodes(second)
    assert_offers(wiring.compile, COMPILE)
    assert isinstance(wiring.compile(id="two", version="1"), CompiledGraph)


def test_an_event_is_made_by_the_node_that_waits_for_it() -> None:
    @strata.wait_for_event("payment.received")
    def await_payment(state: Empty, amount: int) -> Empty:
        return state

    assert await_payment.event(3) == strata.Event("payment.received", payload=3)


def test_the_options_of_a_run() -> None:
    assert set(RUN_OPTIONS.split()) <= strata.RunOptions.__optional_keys__


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: outcome.__name__)
def test_an_outcome_has_its_fields_and_only_its_state_by_position(outcome: type[msgspec.Struct]) -> None:
    fields = inspect.signature(outcome).parameters
    assert set(OUTCOMES[outcome].split()) <= set(fields)
    by_position = [name for name, field in fields.items() if field.kind is not Parameter.KEYWORD_ONLY]
    assert by_position == ["state"]
    assert outcome.__match_args__ == ("state",)
    assert_offers(getattr(outcome, "unwrap"), "()", is_method=True)  # noqa: B009


def test_the_outcomes_are_a_closed_union() -> None:
    members = {typing.get_origin(member) or member for member in get_args(Outcome)}
    assert members == {Completed, Interrupted, Failed, Cancelled}
    assert issubclass(HopLimitExceeded, Failed)
    assert set(get_args(CancelReason)) == CANCEL_REASONS


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_has_its_fields(name: str) -> None:
    assert set(RECORDS[name].split()) <= set(getattr(strata, name).__struct_fields__)


def test_what_is_refused_is_under_one_tree() -> None:
    refusals = set(ERRORS.split()) - {"GraphWarning", "Pause"}
    assert all(issubclass(getattr(strata, name), strata.StrataError) for name in refusals)
    assert issubclass(strata.NotWaiting, strata.SignalRefused)
    assert issubclass(strata.OptionRefused, ValueError)
    assert issubclass(strata.GraphWarning, Warning)
    assert not issubclass(strata.Pause, Exception)  # so that a handler for errors does not see it


# Comparing with a signature as the design writes it


def assert_offers(offered: Callable[..., Any], written: str, *, is_method: bool = False) -> None:
    """Each parameter as it is written, in its place; further ones only as keywords that may be left out."""
    given = list(inspect.signature(offered).parameters.values())[1 if is_method else 0 :]
    wanted = parameters_of(written)
    by_place = [shape(parameter) for parameter in given if is_by_place(parameter)]
    assert by_place == [shape(parameter) for parameter in wanted if is_by_place(parameter)]
    by_name = {parameter.name: shape(parameter) for parameter in given if not is_by_place(parameter)}
    assert {name: by_name.get(name) for name in names_of(wanted)} == {name: shape(wanted_one) for name, wanted_one in names_of(wanted).items()}
    added = [parameter for name, parameter in names_of(given).items() if name not in names_of(wanted)]
    assert all(parameter.default is not Parameter.empty or parameter.kind is Parameter.VAR_KEYWORD for parameter in added)


def parameters_of(written: str) -> list[Parameter]:
    values = {**vars(strata), **{name: getattr(strata, name) for name in ("SYSTEM", "TransientError")}, "UNSET": msgspec.UNSET}
    found = SimpleNamespace()
    exec(f"def written{written}: ...", values, found.__dict__)  # noqa: S102 - what stands in this file
    return list(inspect.signature(found.written).parameters.values())


def shape(parameter: Parameter) -> tuple[object, ...]:
    """What a caller notices: the kind, the default, and the name where it can be used."""
    name = None if parameter.kind is Parameter.POSITIONAL_ONLY else parameter.name
    return name, parameter.kind, parameter.default


def is_by_place(parameter: Parameter) -> bool:
    return parameter.kind not in (Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD)


def names_of(parameters: list[Parameter]) -> dict[str, Parameter]:
    return {parameter.name: parameter for parameter in parameters if not is_by_place(parameter)}
