"""A parallel group: every branch gets the state that the node started with, the merge makes one of what they give."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from strata.engine.call import invoke, within
from strata.engine.context import NodeContext
from strata.engine.decide.failure import judge
from strata.engine.decide.joining import BRANCHES, PartResult, Tally, Words, errors_of, failure_of, merge_argument, merges
from strata.engine.fanout import fan_out
from strata.engine.faults import ChildFailed
from strata.engine.finished import keeping_finished
from strata.engine.interrupt import Scope
from strata.engine.level import Level
from strata.engine.mappers import mapped
from strata.engine.plan import GroupPlan, HandlerPlan, NodePlan
from strata.engine.run import Run
from strata.errors import HandlerCancelled, PartTimedOut, StateMutated
from strata.graph.spec import Fanout


async def run_group(run: Run, level: Level, node: NodePlan, group: GroupPlan) -> Any:
    """The merged state of the branches.

    Raises:
        ChildFailed: too few branches succeeded; the text names those that failed.
        StateMutated: a branch changed the state in place that it shares with the others.
        MapperFailed: the merge raised.
    """
    names = [name for name, _ in group.branches]

    def part(index: int, scope: Scope) -> Coroutine[Any, Any, PartResult]:
        return _run_branch(run, level, node, *group.branches[index], scope, group.fanout)

    async with keeping_finished(run, level, node, names, part, level.plan.codec, group.fanout) as kept_part:
        tally = await within(run, level, node, fan_out(run, level, names, kept_part, group.fanout))
        return merged(level, node, tally, names, group.fanout, BRANCHES)


def merged(level: Level, node: NodePlan, tally: Tally, names: list[str], fanout: Fanout, words: Words) -> Any:
    """What the merge makes of the parts, or why it is not called."""
    if not merges(tally, fanout):
        text, kind, hint = failure_of(tally, fanout.join, names, words)
        raise ChildFailed(text, kind=kind, retry_after=hint, errors=errors_of(tally))
    if level.stored is not None and (path := level.plan.codec.changed_since(level.state, level.stored)) is not None:
        raise StateMutated(node.name, path=path)
    return mapped(node, "the merge", lambda: fanout.merge(level.state, merge_argument(tally, fanout)))


async def _run_branch(run: Run, level: Level, node: NodePlan, name: str, handler: HandlerPlan, scope: Scope, fanout: Fanout) -> PartResult:
    path, in_place = f"{level.path_of(node)}/{name}", handler.manner == "inline"
    context = NodeContext(run, level, name, in_place=in_place, path=path, scope=scope) if handler.takes_context else None
    interrupt = scope.interrupt
    interrupt.calling = True
    try:
        if handler.manner == "async" and context is None:  # the most of a thousand: spared two frames
            result = await handler.call(level.state)
        else:
            result = await invoke(run, name, handler, level.state, context)
        interrupt.calling = False
        state = level.plan.codec.check_result(level.state, result, f"{node.name}/{name}")
    except (Exception, asyncio.CancelledError) as error:
        if isinstance(error, asyncio.CancelledError) and level.interrupt.abandoned:
            raise
        return given_up(error, node, name, scope, fanout)
    finally:
        interrupt.calling = False
        if interrupt.sent:
            interrupt.settle()
        if context is not None:
            await context.leave()
    return given_up(None, node, name, scope, fanout) if scope.reason is not None else PartResult(status="succeeded", state=state)


def given_up(error: Exception | asyncio.CancelledError | None, node: NodePlan, name: str, scope: Scope, fanout: Fanout) -> PartResult:
    """A part that was stopped is cancelled, whatever it made of it; one whose own time was over has failed."""
    if scope.reason == "part_timeout" and fanout.part_timeout is not None:
        timed_out = PartTimedOut("branch", name, timeout=fanout.part_timeout)
        return PartResult(status="timed_out", failure=judge(timed_out, node.recovery))
    if scope.reason is not None:
        return PartResult(status="cancelled")
    fault = HandlerCancelled(name) if isinstance(error, asyncio.CancelledError) else error
    assert fault is not None
    return PartResult(status="failed", failure=judge(fault, node.recovery))
