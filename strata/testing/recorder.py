"""An observer that keeps what it is told, and shows it in a few words."""

from __future__ import annotations

from collections.abc import Collection

from strata.ports.events import (
    BranchCompleted,
    CheckpointSaved,
    HopLimitExceeded,
    Interrupted,
    JoinDecided,
    LeaseAcquired,
    LeaseLost,
    MapExpanded,
    ModelCallCompleted,
    ModelCallStarted,
    ModelRouted,
    NodeCompleted,
    NodeEvent,
    Recovered,
    Resumed,
    RetryScheduled,
    RunCompleted,
    RunEvent,
    RunStarted,
    ToolCallCompleted,
    ToolCallStarted,
)


class EventRecorder:
    """Records run events: `Runner(observers=[recorder])`, or for one call `run(..., observers=[recorder])`.

    Attributes:
        events: all of them, in the order delivered; those of one run in the order they happened.
    """

    def __init__(self) -> None:
        self.events: list[RunEvent] = []

    def __call__(self, event: RunEvent) -> None:
        self.events.append(event)

    def clear(self) -> None:
        """Forget what has been recorded: a test often asks about the resume only."""
        self.events.clear()

    def lines(self, *kinds: type[RunEvent], without: Collection[type[RunEvent]] = ()) -> list[str]:
        """Each event on a line (all, or those of `kinds`): its name, where it happened, and what came of it.

            RunStarted run draft
            NodeStarted draft#1
            NodeCompleted draft#1 committed
            CheckpointSaved completed draft
            RunCompleted completed

        Times and durations are left out, so that lines can be compared.
        """
        wanted = kinds or (RunEvent,)
        return [line_of(event) for event in self.events if isinstance(event, wanted) and not isinstance(event, tuple(without))]


def line_of(event: RunEvent) -> str:
    """One event in a few words."""
    place = f"{event.node_path}#{event.attempt}" if isinstance(event, NodeEvent) else ""
    words = _of_the_run(event) if not isinstance(event, NodeEvent) else _of_a_node(event)
    return " ".join(word for word in (type(event).__name__, place, *words) if word)


def _of_the_run(event: RunEvent) -> tuple[str, ...]:
    match event:
        case RunStarted(mode=mode, node=node):
            return mode, node
        case CheckpointSaved(status=status, resume_stamp=stamp):
            return status, "/".join(event.waiting_at), "(stamp)" if stamp else ""
        case Resumed(from_status=status, wake=wake):
            return status, "/".join(event.waiting_at), "" if wake == "human" else f"({wake})"
        case Recovered(at=at, recoveries=recoveries):
            return "/".join(at), f"({recoveries})"
        case Interrupted(next_node=next_node):
            return "/".join(event.waiting_at), f"→ {next_node}" if next_node else ""
        case RunCompleted(outcome=outcome, cancel_reason=reason, error=error):
            return outcome, f"({reason})" if reason else "", _quoted(error)
        case LeaseAcquired(owner=owner, token=token) | LeaseLost(owner=owner, token=token):
            return owner, str(token)
        case HopLimitExceeded(node_path=path, hops=hops, limit=limit):
            return path, f"{hops}/{limit}"
        case _:
            return ()


def _of_a_node(event: NodeEvent) -> tuple[str, ...]:
    match event:
        case RetryScheduled(error=error, timed_out=timed_out, delay=delay):
            return f"in {delay:g} s", "(timed out)" if timed_out else "", _quoted(error)
        case NodeCompleted(result=result, fallback=fallback, error=error):
            return result, f"→ {fallback}" if fallback else "", _quoted(error)
        case BranchCompleted(result=result, reason=reason, error=error):
            return result, f"({reason})" if reason else "", _quoted(error)
        case MapExpanded(keys=keys):
            return (f"[{', '.join(keys)}]",)
        case JoinDecided(policy=policy, met=met, deciding=deciding):
            return policy, "met" if met else "unmet", f"[{', '.join(deciding)}]"
        case ToolCallStarted(tool=name) | ModelCallStarted(model=name):
            return (name,)
        case ToolCallCompleted(tool=name, result=result, error=error) | ModelCallCompleted(model=name, result=result, error=error):
            return name, result, _quoted(error)
        case ModelRouted(route=route, answered=answered):
            return route, f"→ {answered}" if answered else ""
        case _:
            return ()


def _quoted(error: str | None) -> str:
    return "" if error is None else f'"{error}"'
