"""The errors of Strata, one tree under `StrataError`.

A *refusal* (`Refused`) means that nothing was written and the thread stands as it stood. Texts that other engines
compare are theirs, byte for byte; what to do about it then stands in `hint`, which tracebacks and the command line show.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from strata.rules.problem import Problem

if TYPE_CHECKING:
    from strata.graph.identity import Identity


class StrataError(Exception):
    """The root of everything that Strata raises on purpose.

    `hint` says what to do where the text itself may not; it is also a note of the exception.
    """

    def __init__(self, text: str, /, *, hint: str | None = None) -> None:
        super().__init__(text)
        self.hint = hint
        if hint is not None:
            self.add_note(hint)

    def __reduce__(self) -> tuple[Callable[..., StrataError], tuple[object, ...], dict[str, object]]:
        """Copies and other processes get it as it is, and not made again from its text alone: a process pool would break of that."""
        return _as_it_was, (type(self), *self.args), self.__dict__


def _as_it_was(kind: type[StrataError], *args: object) -> StrataError:
    return kind.__new__(kind, *args)


def at_level(path: Sequence[str]) -> str:
    """` at level [Work/Inner]` for an inner level, nothing for the outermost."""
    return f" at level [{'/'.join(path)}]" if path else ""


# Graphs


class GraphInvalid(StrataError):
    """`compile()` refused the graph. `problems` are all its errors, sorted; each has a code, a node and a place."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        lines = "\n".join(f"  {problem}" for problem in self.problems)
        super().__init__(f"the graph has {count} error{'s' if count != 1 else ''}:\n{lines}")


class GraphWarning(UserWarning):
    """A graph that compiles and may surprise; issued once by `compile()` for each warning."""


class DefinitionUnreadable(StrataError):
    """The bytes are not a definition, or their shape is not sound (strata-graph.md 4.5)."""


# Refusals


class Refused(StrataError):
    """The call was refused before anything was written."""


class OptionRefused(Refused, ValueError):
    """An option of the call cannot be used: a reserved metadata key, an empty run id, a hop limit of 0."""


class ThreadNotFound(Refused):
    """The store has no such thread."""

    def __init__(self, thread_id: str) -> None:
        self.thread_id = thread_id
        super().__init__(f"no checkpoint found for thread '{thread_id}'", hint="start it with run(), or look for the id with threads()")


class ThreadExists(Refused):
    """`run` was called with the id of a thread that has not finished."""

    def __init__(self, thread_id: str, *, state_name: str, sequence: int | None) -> None:
        self.thread_id, self.state_name, self.sequence = thread_id, state_name, sequence
        super().__init__(
            f"thread '{thread_id}' exists and has not finished: its latest checkpoint is {state_name}; "
            f"continue it with resume(), signal(), wake() or recover(), finish it with end(), use another id, or pass start_over=True"
        )


class ThreadRunning(Refused):
    """The thread is running, or its process died; only `recover` or `end` take it."""

    def __init__(self, thread_id: str) -> None:
        self.thread_id = thread_id
        super().__init__(
            f"thread '{thread_id}' is running: only a waiting, failed or cancelled thread can be resumed",
            hint="if its process died, continue it with recover()",
        )


class NotRunning(Refused):
    """`recover` was called on a thread that is not running."""

    def __init__(self, thread_id: str, *, state_name: str) -> None:
        self.thread_id, self.state_name = thread_id, state_name
        super().__init__(
            f"thread '{thread_id}' is not running: its latest checkpoint is {state_name}",
            hint="recover() is for a thread whose process died; a waiting, failed or cancelled one takes resume()",
        )


class ThreadFinished(Refused):
    """The thread has completed or was ended."""

    def __init__(self, text: str, *, thread_id: str) -> None:
        self.thread_id = thread_id
        super().__init__(text, hint="start a new thread, or this one anew with run()")


ChangeReason: TypeAlias = Literal["appended", "resumed", "not_resumed"]


class ThreadChanged(Refused):
    """The thread is not as the call needs it: somebody else was there first.

    `reason`: its record is not the latest any more (`appended`), was resumed already (`resumed`), or, where a stuck resume is to
    be undone, was not (`not_resumed`).
    """

    def __init__(
        self,
        text: str,
        *,
        thread_id: str,
        reason: ChangeReason = "appended",
        hint: str | None = "look at the thread again before you decide",
    ) -> None:
        self.thread_id = thread_id
        self.reason: ChangeReason = reason
        super().__init__(text, hint=hint)


class CheckpointUnreadable(Refused):
    """A stored record cannot be read. Nothing was overwritten; `sequence` and `path` name the place where they are known."""

    def __init__(
        self,
        text: str,
        *,
        thread_id: str | None = None,
        sequence: int | None = None,
        level: Sequence[str] = (),
        path: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.thread_id, self.sequence, self.level, self.path = thread_id, sequence, tuple(level), path
        super().__init__(text, hint=hint)


class SchemaUnsupported(CheckpointUnreadable):
    """The record, or a level of it, is of a `version` that this build does not know."""

    def __init__(self, version: str, *, readable: Collection[str], thread_id: str, sequence: int | None, level: Sequence[str]) -> None:
        self.version, self.level = version, tuple(level)
        super().__init__(
            self.told_of(f"checkpoint for thread '{thread_id}'"),
            thread_id=thread_id,
            sequence=sequence,
            level=level,
            path="schema_version",
            hint=f"a newer engine wrote it: this build reads {', '.join(sorted(readable))}; upgrade, or run it where it was written",
        )

    def told_of(self, checkpoint: str) -> str:
        """The text, with these words for the checkpoint."""
        return f"{checkpoint}{at_level(self.level)} has unsupported schema_version '{self.version}'"


class WrongGraph(Refused):
    """The thread was written by another graph, or by a version of this one that this graph does not take over."""

    def __init__(
        self,
        text: str,
        *,
        thread_id: str,
        level: Sequence[str] = (),
        wrote: Identity | None = None,
        runs: Identity | None = None,
        hint: str | None = None,
    ) -> None:
        self.thread_id, self.level, self.wrote, self.runs = thread_id, tuple(level), wrote, runs
        super().__init__(text, hint=hint)


class SignalRefused(Refused):
    """The answer does not fit what the thread waits for, or what its state takes."""

    def __init__(self, text: str, *, thread_id: str, hint: str | None = None) -> None:
        self.thread_id = thread_id
        super().__init__(text, hint=hint)


class NotWaiting(SignalRefused):
    """The thread does not wait for that event."""


class NotDue(Refused):
    """The thread's time has not come, or it waits for none."""

    def __init__(self, text: str, *, thread_id: str) -> None:
        self.thread_id = thread_id
        super().__init__(text)


class NotDurable(Refused):
    """Only a graph compiled with `durable=True` records enough to be recovered."""


class UnsupportedEventLoop(Refused):
    """Strata runs on asyncio (uvloop included), and this is another event loop, or none."""


class LoopRunning(Refused):
    """A `..._sync` call (or a store's `with`) was made inside a running event loop, which it would block."""

    def __init__(self, name: str, *, text: str | None = None) -> None:
        self.name = name
        super().__init__(text or f"{name}_sync() was called inside a running event loop, which it would block: await {name}() there")


# Leases and admission

_LAST_SECOND: Final = 253_402_300_799
"""9999-12-31T23:59:59Z, the last that can be told."""


class LeaseHeld(Refused):
    """Somebody else works on the thread: `owner`, `until` (UTC, whole seconds) unless that owner renews its lease."""

    def __init__(self, thread_id: str, *, owner: str, expires_at: int) -> None:
        """`expires_at` is in Unix milliseconds; it is told rounded up, so that the lease is over at the time told."""
        self.thread_id, self.owner = thread_id, owner
        self.until = datetime.fromtimestamp(min(-(-expires_at // 1000), _LAST_SECOND), UTC)
        super().__init__(self.told_of(f"thread '{thread_id}'"), hint="try again then, or leave the thread to its owner")

    def told_of(self, thread: str) -> str:
        """The text, with these words for the thread."""
        return f"{thread} is held by '{self.owner}' until {self.until:%Y-%m-%dT%H:%M:%SZ}"


class LeaseLost(Refused):
    """The record was not written: another owner has taken the thread since `owner` got it with `token`."""

    def __init__(self, thread_id: str, *, owner: str, token: int) -> None:
        self.thread_id, self.owner, self.token = thread_id, owner, token
        super().__init__(f"the lease of '{owner}' on thread '{thread_id}' (token {token}) is lost: another owner may work on the thread")


RefusalReason: TypeAlias = Literal["queue_full", "shed", "queue_timeout", "cancelled", "deadline", "closed"]

_NOT_ADMITTED: Final[dict[RefusalReason, str]] = {
    "queue_full": "the scheduler's queue is full",
    "shed": "shed from the scheduler's queue for a higher-priority run",
    "queue_timeout": "no slot within the scheduler's longest wait",
    "cancelled": "cancelled while waiting for a slot",
    "deadline": "its deadline passed while it waited for a slot",
    "closed": "the scheduler is closed",
}


class NotAdmitted(Refused):
    """The scheduler gave the run no slot. `reason` is its word, `waited` how long the run waited, in seconds."""

    def __init__(self, reason: RefusalReason, *, waited: float) -> None:
        self.reason: RefusalReason = reason
        self.waited = waited
        super().__init__(f"run not admitted: {_NOT_ADMITTED[reason]}")


# Stores


class StoreError(StrataError):
    """The store failed. `written` says whether the record was kept (None: it cannot be known)."""

    def __init__(self, text: str, *, written: bool | None = False, hint: str | None = None) -> None:
        self.written = written
        super().__init__(text, hint=hint)


class StoreLacksLeases(StoreError):
    """The store cannot say who works on a thread: use one that can, or run without `lease=`."""

    def __init__(self, text: str = "this checkpoint store has no leases") -> None:
        super().__init__(text, hint="run without lease=, or keep the threads in a store that has leases")


class DatabaseNewer(StoreError):
    """A newer build made the database; this one leaves it alone."""


class DatabaseOlder(StoreError):
    """The database needs a migration that was not allowed."""


# Failures of a node: what a handler may raise, and what the engine finds


class TransientError(StrataError):
    """Raised by a handler: it may work the next time. `retry_after` (seconds) says how long to wait at least."""

    def __init__(self, message: str, /, *, retry_after: float | None = None) -> None:
        self.retry_after = retry_after
        super().__init__(message)


class FatalError(StrataError):
    """Raised by a handler: trying again cannot help."""


class NodeError(StrataError):
    """A fault that the engine finds in a node: it fails that node and is stored as its error."""


class NodeTimedOut(NodeError):
    """An attempt of the node took longer than its timeout (a transient failure)."""

    def __init__(self, node: str, *, timeout: float) -> None:
        self.node, self.timeout = node, timeout
        super().__init__(f"node '{node}' timed out after {round(timeout * 1_000_000) // 1000} ms")


class NoMatchingEdge(NodeError):
    """The node has edges, and none of their guards matched."""

    def __init__(self, node: str) -> None:
        self.node = node
        super().__init__(
            f"no outgoing edge condition matched for node '{node}'",
            hint=f"add an @edge without a guard below the @when edges of '{node}': it is the else",
        )


class HopLimitReached(NodeError):
    """The node was not started: its level has made as many hops as it may."""

    def __init__(self, node: str, *, hops: int, limit: int) -> None:
        self.node, self.hops, self.limit = node, hops, limit
        super().__init__(
            f"hop limit of {limit} reached: node '{node}' would be hop {hops + 1}",
            hint="resume with a higher max_node_hops=, or with an override that lets the loop end",
        )


class GuardFailed(NodeError):
    """A guard raised, or answered with something other than a bool; the error it raised is the cause."""

    def __init__(self, text: str, *, node: str, guard: str) -> None:
        self.node, self.guard = node, guard
        super().__init__(text)


class MapperFailed(NodeError):
    """A function around a node's work raised: `enter`, a merge, a fold, the keys of a map; its error is the cause."""

    def __init__(self, node: str, what: str, error: Exception) -> None:
        self.node, self.what = node, what
        super().__init__(f"{what} of node '{node}' raised {type(error).__name__}: {error}")


class PredicateFailed(NodeError):
    """The predicate of a `first_matching` join raised; its error is the cause."""

    def __init__(self, error: Exception) -> None:
        super().__init__(f"the predicate of the join raised {type(error).__name__}: {error}")


class PolicyFailed(NodeError):
    """The `on=` of a node's `@retry` or `@on_failure` raised when it was asked about an error; what it raised is the cause."""

    def __init__(self, policy: str, raised: Exception, *, about: Exception) -> None:
        self.about = about
        super().__init__(f"the on= of @{policy} raised {type(raised).__name__}: {raised}, asked about {type(about).__name__}: {about}")


class StateMutated(NodeError):
    """A branch, an item or a mapper changed the state in place that it shares with the others of its group or map."""

    def __init__(self, node: str, *, path: str) -> None:
        self.node, self.path = node, path
        super().__init__(
            f"the state that node '{node}' started with was changed in place at {path}",
            hint="states are values: return state.replace(...), and make new lists and dicts instead of changing those that you were given",
        )


class TimerFailed(NodeError):
    """The `until` of a timer raised, or gave no time."""

    def __init__(self, node: str, what: str) -> None:
        self.node = node
        super().__init__(f"the `until` of timer '{node}' {what}")


class Pause(BaseException):
    """Stops a node that has asked a question: raised by `ctx.interrupt`, and to be left alone by everything on its way up."""


class PauseSwallowed(NodeError):
    """The handler went on, or failed with something else, after `ctx.interrupt` had stopped it."""

    def __init__(self, node: str) -> None:
        self.node = node
        super().__init__(
            f"node '{node}' swallowed the Pause with which ctx.interrupt stops it",
            hint="let it pass: it is a BaseException, which `except Exception` does not catch; raise it again where everything is caught",
        )


class QuestionChanged(NodeError):
    """The node asks for another type than the one that was asked for when the answer was given, or in words to which none of several was."""

    def __init__(self, node: str, question: str, *, why: str) -> None:
        self.node, self.question = node, question
        super().__init__(
            f"node '{node}' was given an answer to its question '{question}' that is not what it asks for now: {why}",
            hint="ask another type under another key=, and questions whose order or words change each under a key of its own",
        )


class ResultRefused(NodeError):
    """What `ctx.once` was to keep cannot be kept, or does not come back as the same."""

    def __init__(self, node: str, key: str, why: str) -> None:
        self.node, self.key = node, key
        super().__init__(
            f"node '{node}' cannot keep the result of '{key}': {why}",
            hint="let the function return plain JSON values, or a type that JSON can hold, and annotate what it returns",
        )


class OnceInsideItself(NodeError):
    """A call of `ctx.once` would wait for itself for ever: for the one in whose function it stands, or for one that waits for that.

    Attributes:
        path: the node.
        key: of the call.
        waiting: the keys on the way from there to the call in whose function it stands, each waiting for the next.
    """

    def __init__(self, path: str, key: str, *waiting: str) -> None:
        self.path, self.key, self.waiting = path, key, waiting
        if not waiting:
            super().__init__(
                f"'{path}' calls ctx.once('{key}') inside the function of that same call, which would wait for itself",
                hint="take another key for what is inside, or do it before",
            )
            return
        chain = ", which".join(f" waits for '{one}'" for one in waiting)
        super().__init__(
            f"'{path}' calls ctx.once('{key}') inside the function of ctx.once('{waiting[-1]}'), and '{key}'{chain}: none of them would end",
            hint="call the one before or behind the other, not inside its function",
        )


class OnceBlocksLoop(NodeError):
    """`ctx.once_sync` was called on the event loop for what is being done elsewhere, and would keep the loop from everything until then."""

    def __init__(self, path: str, key: str) -> None:
        self.path, self.key = path, key
        super().__init__(
            f"'{path}' calls ctx.once_sync('{key}') on the event loop while another call does it, for which only a thread could wait",
            hint=f"await ctx.once('{key}', ...) in an async node",
        )


class CannotAsk(NodeError):
    """`ctx.interrupt` was called in a branch of a group or in an item of a map."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"'{path}' runs beside others and cannot ask: ask in a node before or behind the group or map")


class PartTimedOut(NodeTimedOut):
    """A branch or item took longer than it may (a transient failure)."""

    def __init__(self, kind: str, name: str, *, timeout: float) -> None:
        self.node, self.timeout = name, timeout
        NodeError.__init__(self, f"{kind} '{name}' timed out after {round(timeout * 1_000_000) // 1000} ms")


class BadItems(NodeError):
    """The items of a map cannot be run: too many of them, or their keys are no names."""


class StateRefused(NodeError):
    """What a node returned cannot be stored as its state: `path` names the field, `expected` and `found` what is wrong there."""

    def __init__(self, text: str, *, path: str, expected: str, found: str, hint: str | None = None) -> None:
        self.path, self.expected, self.found = path, expected, found
        super().__init__(text, hint=hint)


class HandlerCancelled(NodeError):
    """The handler raised `CancelledError` though nobody cancelled the run."""

    def __init__(self, node: str) -> None:
        self.node = node
        super().__init__(f"node '{node}' raised CancelledError, and nobody cancelled the run: something that it awaits was cancelled")


class ThreadsExhausted(NodeError):
    """No worker thread came free: all are held by calls that were abandoned and still run, or that are slow."""

    def __init__(self, node: str, *, limit: int, waited: float) -> None:
        self.node, self.limit, self.waited = node, limit, waited
        super().__init__(
            f"node '{node}' found none of the {limit} worker threads free within {waited:g} s: "
            f"give the runner more with max_threads=, make the node async, or mark a quick one inline=True"
        )


# Tools


class ToolError(StrataError):
    """A call of a tool came to nothing, or a tool cannot be had. `raise ... from` keeps what led to it."""


class ToolInvalid(ToolError, TypeError):
    """A function was refused as a tool where it was declared; `place` is its `file:line`, which the text begins with."""

    def __init__(self, text: str, *, place: str = "", hint: str | None = None) -> None:
        self.place = place
        super().__init__(f"{place}: {text}" if place else text, hint=hint)


class ToolUnresolved(ToolInvalid):
    """An annotation of the function names what is not found: it is defined further down yet, or nowhere that the function can see."""


class ToolWarning(UserWarning):
    """A tool that works, and not as it looks: providers know it by another name, or its docstring speaks of what it does not have."""


class DuplicateTool(ToolError):
    """A registry has a tool of that name, which stays."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"tool '{name}' is already registered")


class ToolNotFound(ToolError):
    """The registry has no tool of that name."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"tool '{name}' not found")


class ToolNotPermitted(ToolError):
    """The registry is a subset that leaves this tool out."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"tool '{name}' is not permitted here")


class ToolCallDenied(ToolError):
    """A policy, or a person who was asked, does not want this call."""

    def __init__(self, tool: str, reason: str) -> None:
        self.tool, self.reason = tool, reason
        super().__init__(f"tool '{tool}' was denied: {reason}")


class ToolArgumentParseFailure(ToolError):
    """The arguments are not those of the tool, which was not called; `text` says what is wrong with them."""

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__(f"invalid tool arguments: {text}")


class ToolExecutionFailure(ToolError):
    """The tool's function raised. Other engines have no more than this text; `message` is of what it raised, which is the cause."""

    def __init__(self, name: str, message: str = "") -> None:
        self.name, self.message = name, message
        super().__init__(f"tool '{name}' failed")


class ToolCallFailed(ToolError):
    """The call failed otherwise: it ran out of time, its result is no JSON, or a middleware says so. A model is told `message`."""

    def __init__(self, tool: str, message: str) -> None:
        self.tool, self.message = tool, message
        super().__init__(f"tool '{tool}' failed: {message}")


class ToolCancelled(ToolError):
    """The call was cancelled by its token, or with the node that made it."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"tool '{name}' was cancelled")


# From `Outcome.unwrap()`


class RunFailed(StrataError):
    """`unwrap()` of a run that failed; the node's own error is the cause."""


class RunInterrupted(StrataError):
    """`unwrap()` of a run that waits for an answer."""


class RunCancelled(StrataError):
    """`unwrap()` of a run that was cancelled or ended."""


class StateUnreadable(StrataError):
    """Stored bytes do not fit the state's type; `path` names the field as msgspec does (`$.lines[0]`)."""

    def __init__(self, text: str, *, path: str | None = None) -> None:
        self.path = path
        super().__init__(text)


class OverrideRefused(StrataError):
    """An override names no field of the state, or its value is not of the field's type."""

    def __init__(self, text: str, *, field: str) -> None:
        self.field = field
        super().__init__(text)
