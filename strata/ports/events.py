"""What observers are told of a run: one frozen record for each thing that happens (strata-observability.md 2).

    async def watch(event: RunEvent) -> None:
        match event:
            case NodeCompleted(node_path=path, result="failed", error=text):
                await page_somebody(path, text)

    runner = Runner(graph, store, observers=[watch])

Durations are in seconds. State, overrides, arguments, prompts and answers are on no event.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Literal, TypeAlias

import msgspec

from strata.checkpoint.record import Status
from strata.graph.answers import WaitingFor
from strata.graph.identity import Identity

EPOCH = datetime.fromtimestamp(0, UTC)

RunMode: TypeAlias = Literal["run", "resume", "end", "recover"]
RunResult: TypeAlias = Literal["completed", "interrupted", "failed", "cancelled"]
CancelReason: TypeAlias = Literal["requested", "deadline", "ended", "lease_lost", "superseded"]
NodeResult: TypeAlias = Literal["committed", "failed", "interrupted", "cancelled"]
BranchResult: TypeAlias = Literal["succeeded", "failed", "cancelled"]
BranchReason: TypeAlias = Literal["timed_out", "lost_race", "sibling_failed"]
ToolResult: TypeAlias = Literal["succeeded", "failed", "cancelled", "refused"]
ModelResult: TypeAlias = Literal["succeeded", "failed", "cancelled"]
Wake: TypeAlias = Literal["human", "event", "timer", "timeout"]
CandidateOutcome: TypeAlias = Literal[
    "answered",
    "failed",
    "refused",
    "rejected",
    "ineligible",
    "cooling_down",
    "breaker_open",
    "lost_race",
    "not_tried",
    "cancelled",
]


class RunEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened in a run. A subgraph's child is the same run.

    Attributes:
        thread_id, run_id: the outermost call's, at every depth.
        sequence: 1, 2, 3, ... in the run, without gaps; observers get events in this order.
        timestamp: when it was recorded, in UTC; it never falls within a run.
    """

    thread_id: str = ""
    run_id: str = ""
    sequence: int = 0
    timestamp: datetime = EPOCH


class NodeEvent(RunEvent, frozen=True, kw_only=True):
    """Something that happened at a node; an event that is not one of these is the run's.

    Attributes:
        node_path: qualified (`Work/Send`, `Fan/k1/assess`).
        attempt: the node's attempt then, from 1; of a branch: its group's.
    """

    node_path: str
    attempt: int


# The run


class RunStarted(RunEvent, frozen=True, kw_only=True):
    """Always first; of a resume, a recovery and an end: after the thread was loaded.

    Attributes:
        node: where the run starts; empty where no thread was found.
        metadata: the stored entries with the call's laid over.
        graph: the identity of the graph that runs, if it has one.
        queued_for: how long the call waited for the scheduler; None without one.
    """

    mode: RunMode
    node: str
    metadata: Mapping[str, str] = {}
    graph: Identity | None = None
    queued_for: float | None = None


class LeaseAcquired(RunEvent, frozen=True, kw_only=True):
    """The thread's lease is the run's. `expires_at` is on the store's clock."""

    owner: str
    token: int
    expires_at: datetime


class CheckpointSaved(RunEvent, frozen=True, kw_only=True):
    """The outermost level has stored a record. `resume_stamp`: it is the paused record again, marked as resumed."""

    status: Status
    waiting_at: tuple[str, ...]
    resume_stamp: bool
    duration: float


class Resumed(RunEvent, frozen=True, kw_only=True):
    """The thread goes on, and that is stored.

    Attributes:
        from_status: of the record that was resumed.
        wake: what woke the thread. Where it was no person, `is_approved` is True and `reviewer` empty.
        rejected_to: the reject route that the innermost level took.
        timed_out_to: the timeout route that it took.
    """

    from_status: Status
    waiting_at: tuple[str, ...]
    is_approved: bool
    reviewer: str
    wake: Wake
    rejected_to: str | None = None
    event_type: str | None = None
    timed_out_to: str | None = None


class Recovered(RunEvent, frozen=True, kw_only=True):
    """The thread was claimed from a run that died. `at`: the next node of each level, outermost first; `recoveries` counts this one."""

    at: tuple[str, ...]
    recoveries: int


class LeaseLost(RunEvent, frozen=True, kw_only=True):
    """Another owner has taken the thread: the run stops, and writes nothing more."""

    owner: str
    token: int


class Interrupted(RunEvent, frozen=True, kw_only=True):
    """The thread waits. `next_node` is empty where an approval leads nowhere; `wait` is the innermost level's."""

    waiting_at: tuple[str, ...]
    next_node: str
    wait: WaitingFor | None = None


class RunCompleted(RunEvent, frozen=True, kw_only=True):
    """Always last. `superseded`, a reason of our own, says that another run appended to the thread."""

    outcome: RunResult
    duration: float
    error: str | None = None
    cancel_reason: CancelReason | None = None


class HopLimitExceeded(RunEvent, frozen=True, kw_only=True):
    """The level of `node_path`, which was not started, may make no more hops. It has no attempt."""

    node_path: str
    hops: int
    limit: int


# Its nodes


class NodeStarted(NodeEvent, frozen=True, kw_only=True):
    """Before the first attempt."""


class RetryScheduled(NodeEvent, frozen=True, kw_only=True):
    """`attempt` failed and another follows after `delay`."""

    error: str
    timed_out: bool
    delay: float


class NodeCompleted(NodeEvent, frozen=True, kw_only=True):
    """Exactly one for each `NodeStarted`. `duration` is that of all attempts; `fallback` is the node that takes over a failure."""

    result: NodeResult
    duration: float
    error: str | None = None
    fallback: str | None = None


class BranchStarted(NodeEvent, frozen=True, kw_only=True):
    """A branch of a group or an item of a map."""


class BranchCompleted(NodeEvent, frozen=True, kw_only=True):
    """Exactly one for each `BranchStarted`. One that the run, or the group's own timeout, stopped is cancelled without a reason."""

    result: BranchResult
    duration: float
    error: str | None = None
    reason: BranchReason | None = None


class MapExpanded(NodeEvent, frozen=True, kw_only=True):
    """The keys of an attempt of a map, in the order of its list; they are sound, and no item has started."""

    keys: tuple[str, ...]


class JoinDecided(NodeEvent, frozen=True, kw_only=True):
    """A join that is not `all` is decided; `deciding` met it, in that order. Between the deciding branch's end and the losers'."""

    policy: Literal["first_success", "first_matching", "quorum"]
    met: bool
    deciding: tuple[str, ...]


# What its nodes call


class ToolCallStarted(NodeEvent, frozen=True, kw_only=True):
    """A registry was asked for a tool; the name is not looked up yet."""

    tool: str
    call_id: str
    caller_id: str | None = None


class ToolCallCompleted(NodeEvent, frozen=True, kw_only=True):
    """Exactly one for each `ToolCallStarted`."""

    tool: str
    call_id: str
    result: ToolResult
    duration: float
    error: str | None = None


class ModelCallStarted(NodeEvent, frozen=True, kw_only=True):
    """A model is about to be asked. `call_id` is a UUID of version 7."""

    model: str
    call_id: str
    operation: Literal["chat", "embeddings"]
    provider: str | None = None
    route: str | None = None


class ModelCallCompleted(NodeEvent, frozen=True, kw_only=True):
    """Exactly one for each `ModelCallStarted`. Tokens are those that the provider reported, never an estimate."""

    model: str
    call_id: str
    operation: Literal["chat", "embeddings"]
    result: ModelResult
    duration: float
    input_tokens: int | None = None
    output_tokens: int | None = None
    finish_reason: str | None = None
    error: str | None = None
    route: str | None = None


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """What a route made of one of its models. `call_id` is the model call's, if there was one."""

    candidate: str
    outcome: CandidateOutcome
    reason: str | None = None
    call_id: str | None = None


class ModelRouted(NodeEvent, frozen=True, kw_only=True):
    """A route is done. `attempts` has every candidate once, as declared; `answered` is the one that answered, with its `model`."""

    route: str
    call_id: str
    answered: str | None
    model: str | None
    attempts: tuple[Candidate, ...]
    hedges: int
    duration: float
