"""Durable graphs of decorated functions: the names that people import daily.

Lazy on purpose: a name loads its module when it is first asked for, so that checkers, the command line and small
programs load no more than they use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strata.engine.outcomes import Cancelled, Completed, Failed, HopLimitExceeded, Interrupted, Outcome
    from strata.engine.stream import Committed, Diagnostic, NodeEnded, NodeFailed, NodeStarted, Retried, StreamEvent, Token
    from strata.errors import (
        BadItems,
        CannotAsk,
        CheckpointUnreadable,
        DatabaseNewer,
        DatabaseOlder,
        DefinitionUnreadable,
        DuplicateTool,
        FatalError,
        GraphInvalid,
        GraphWarning,
        GuardFailed,
        HandlerCancelled,
        HopLimitReached,
        LeaseHeld,
        LeaseLost,
        LoopRunning,
        MapperFailed,
        NodeError,
        NodeTimedOut,
        NoMatchingEdge,
        NotAdmitted,
        NotDue,
        NotDurable,
        NotRunning,
        NotWaiting,
        OnceBlocksLoop,
        OnceInsideItself,
        OptionRefused,
        OverrideRefused,
        PartTimedOut,
        Pause,
        PauseSwallowed,
        PolicyFailed,
        PredicateFailed,
        QuestionChanged,
        Refused,
        ResultRefused,
        RunCancelled,
        RunFailed,
        RunInterrupted,
        SchemaUnsupported,
        SignalRefused,
        StateMutated,
        StateRefused,
        StateUnreadable,
        StoreError,
        StoreLacksLeases,
        StrataError,
        ThreadChanged,
        ThreadExists,
        ThreadFinished,
        ThreadNotFound,
        ThreadRunning,
        ThreadsExhausted,
        TimerFailed,
        ToolArgumentParseFailure,
        ToolCallDenied,
        ToolCallFailed,
        ToolCancelled,
        ToolError,
        ToolExecutionFailure,
        ToolInvalid,
        ToolNotFound,
        ToolNotPermitted,
        ToolUnresolved,
        ToolWarning,
        TransientError,
        UnsupportedEventLoop,
        WrongGraph,
    )
    from strata.graph.answers import Decision, Event, Question, Resume, Signal, StoredLevel, WaitingFor
    from strata.graph.builder import StateGraph
    from strata.graph.clock import SYSTEM, Clock
    from strata.graph.compiled import CompiledGraph
    from strata.graph.context import Context, LastFailure
    from strata.graph.decorators import node
    from strata.graph.definition import Definition
    from strata.graph.fanout_decorators import branch, map_each, parallel
    from strata.graph.identity import Identity
    from strata.graph.joins import BranchOutcome, Join, Outcomes, all_of, first_matching, first_success, quorum
    from strata.graph.marking import boundary, edge, on_reject, on_timeout, when
    from strata.graph.nodes import AnyNode, Node
    from strata.graph.recovery import Backoff
    from strata.graph.recovery_marks import on_failure, retry
    from strata.graph.state import State, reduced
    from strata.graph.subgraph_decorator import subgraph
    from strata.graph.wait_decorators import timer, wait_for_event
    from strata.ports.checkpoints import CheckpointStore, ThreadPage, ThreadQuery, ThreadSummary
    from strata.ports.events import RunEvent
    from strata.rules.facts import Place
    from strata.rules.problem import Problem
    from strata.runtime.admission import Reservation
    from strata.runtime.leases import Lease
    from strata.runtime.options import RunOptions
    from strata.runtime.runner import Runner
    from strata.runtime.scheduler import Scheduler
    from strata.runtime.stream import RunStream
    from strata.runtime.sweeps import Recovered, RecoveryReport, Skipped, WakeReport, Woken
    from strata.runtime.thread import Record, Thread
    from strata.tools.context import ToolContext
    from strata.tools.declaration import strata_tool
    from strata.tools.registry import ToolRegistry

__all__ = [
    # Graphs
    "AnyNode",
    "Backoff",
    "BranchOutcome",
    "CompiledGraph",
    "Context",
    "Decision",
    "Definition",
    "Event",
    "Identity",
    "Join",
    "LastFailure",
    "Node",
    "Outcomes",
    "Place",
    "Problem",
    "Question",
    "Resume",
    "Signal",
    "State",
    "StateGraph",
    "StoredLevel",
    "WaitingFor",
    "all_of",
    "boundary",
    "branch",
    "edge",
    "first_matching",
    "first_success",
    "map_each",
    "node",
    "on_failure",
    "on_reject",
    "on_timeout",
    "parallel",
    "quorum",
    "reduced",
    "retry",
    "subgraph",
    "timer",
    "wait_for_event",
    "when",
    # Running
    "Cancelled",
    "CheckpointStore",
    "Committed",
    "Completed",
    "Diagnostic",
    "Failed",
    "HopLimitExceeded",
    "Interrupted",
    "Lease",
    "NodeEnded",
    "NodeFailed",
    "NodeStarted",
    "Outcome",
    "Record",
    "Recovered",
    "RecoveryReport",
    "Reservation",
    "Retried",
    "RunEvent",
    "RunOptions",
    "RunStream",
    "Runner",
    "Scheduler",
    "Skipped",
    "StreamEvent",
    "Thread",
    "ThreadPage",
    "ThreadQuery",
    "ThreadSummary",
    "Token",
    "WakeReport",
    "Woken",
    # Tools
    "ToolContext",
    "ToolRegistry",
    "strata_tool",
    # Time
    "SYSTEM",
    "Clock",
    # Errors
    "BadItems",
    "CannotAsk",
    "CheckpointUnreadable",
    "DatabaseNewer",
    "DatabaseOlder",
    "DefinitionUnreadable",
    "DuplicateTool",
    "FatalError",
    "GraphInvalid",
    "GraphWarning",
    "GuardFailed",
    "HandlerCancelled",
    "HopLimitReached",
    "LeaseHeld",
    "LeaseLost",
    "LoopRunning",
    "MapperFailed",
    "NoMatchingEdge",
    "NodeError",
    "NodeTimedOut",
    "NotAdmitted",
    "NotDue",
    "NotDurable",
    "NotRunning",
    "NotWaiting",
    "OnceBlocksLoop",
    "OnceInsideItself",
    "OptionRefused",
    "OverrideRefused",
    "PartTimedOut",
    "Pause",
    "PauseSwallowed",
    "PolicyFailed",
    "PredicateFailed",
    "QuestionChanged",
    "Refused",
    "ResultRefused",
    "RunCancelled",
    "RunFailed",
    "RunInterrupted",
    "SchemaUnsupported",
    "SignalRefused",
    "StateMutated",
    "StateRefused",
    "StateUnreadable",
    "StoreError",
    "StoreLacksLeases",
    "StrataError",
    "ThreadChanged",
    "ThreadExists",
    "ThreadFinished",
    "ThreadNotFound",
    "ThreadRunning",
    "ThreadsExhausted",
    "TimerFailed",
    "ToolArgumentParseFailure",
    "ToolCallDenied",
    "ToolCallFailed",
    "ToolCancelled",
    "ToolError",
    "ToolExecutionFailure",
    "ToolInvalid",
    "ToolNotFound",
    "ToolNotPermitted",
    "ToolUnresolved",
    "ToolWarning",
    "TransientError",
    "UnsupportedEventLoop",
    "WrongGraph",
]

# Where each name lives; what is not listed is an error. `__all__` above is spelt out for checkers, and a test compares the two.
MODULES = {
    "AnyNode": "strata.graph.nodes",
    "Backoff": "strata.graph.recovery",
    "BranchOutcome": "strata.graph.joins",
    "Cancelled": "strata.engine.outcomes",
    "CheckpointStore": "strata.ports.checkpoints",
    "Clock": "strata.graph.clock",
    "Committed": "strata.engine.stream",
    "CompiledGraph": "strata.graph.compiled",
    "Completed": "strata.engine.outcomes",
    "Context": "strata.graph.context",
    "Decision": "strata.graph.answers",
    "Definition": "strata.graph.definition",
    "Diagnostic": "strata.engine.stream",
    "Event": "strata.graph.answers",
    "Failed": "strata.engine.outcomes",
    "HopLimitExceeded": "strata.engine.outcomes",
    "Identity": "strata.graph.identity",
    "Interrupted": "strata.engine.outcomes",
    "Join": "strata.graph.joins",
    "LastFailure": "strata.graph.context",
    "Lease": "strata.runtime.leases",
    "Node": "strata.graph.nodes",
    "NodeEnded": "strata.engine.stream",
    "NodeFailed": "strata.engine.stream",
    "NodeStarted": "strata.engine.stream",
    "Outcome": "strata.engine.outcomes",
    "Outcomes": "strata.graph.joins",
    "Place": "strata.rules.facts",
    "Problem": "strata.rules.problem",
    "Question": "strata.graph.answers",
    "Record": "strata.runtime.thread",
    "Recovered": "strata.runtime.sweeps",
    "RecoveryReport": "strata.runtime.sweeps",
    "Reservation": "strata.runtime.admission",
    "Resume": "strata.graph.answers",
    "Retried": "strata.engine.stream",
    "RunEvent": "strata.ports.events",
    "RunOptions": "strata.runtime.options",
    "RunStream": "strata.runtime.stream",
    "Runner": "strata.runtime.runner",
    "SYSTEM": "strata.graph.clock",
    "Scheduler": "strata.runtime.scheduler",
    "Signal": "strata.graph.answers",
    "Skipped": "strata.runtime.sweeps",
    "State": "strata.graph.state",
    "StateGraph": "strata.graph.builder",
    "StoredLevel": "strata.graph.answers",
    "StreamEvent": "strata.engine.stream",
    "Thread": "strata.runtime.thread",
    "ThreadPage": "strata.ports.checkpoints",
    "ThreadQuery": "strata.ports.checkpoints",
    "ThreadSummary": "strata.ports.checkpoints",
    "Token": "strata.engine.stream",
    "ToolContext": "strata.tools.context",
    "ToolRegistry": "strata.tools.registry",
    "WaitingFor": "strata.graph.answers",
    "WakeReport": "strata.runtime.sweeps",
    "Woken": "strata.runtime.sweeps",
    "all_of": "strata.graph.joins",
    "boundary": "strata.graph.marking",
    "branch": "strata.graph.fanout_decorators",
    "edge": "strata.graph.marking",
    "first_matching": "strata.graph.joins",
    "first_success": "strata.graph.joins",
    "map_each": "strata.graph.fanout_decorators",
    "node": "strata.graph.decorators",
    "on_failure": "strata.graph.recovery_marks",
    "on_reject": "strata.graph.marking",
    "on_timeout": "strata.graph.marking",
    "parallel": "strata.graph.fanout_decorators",
    "quorum": "strata.graph.joins",
    "reduced": "strata.graph.state",
    "retry": "strata.graph.recovery_marks",
    "strata_tool": "strata.tools.declaration",
    "subgraph": "strata.graph.subgraph_decorator",
    "timer": "strata.graph.wait_decorators",
    "wait_for_event": "strata.graph.wait_decorators",
    "when": "strata.graph.marking",
}
ERRORS = "strata.errors"


def __getattr__(name: str) -> object:
    module = MODULES.get(name, ERRORS if name in __all__ else None)
    if module is None:
        raise AttributeError(f"module 'strata' has no attribute '{name}'")
    value = getattr(import_module(module), name)
    globals()[name] = value  # the next access does not come here
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
