"""A map: the child graph once an item, each a level of its own in a task of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, assert_never

from strata.engine import walk
from strata.engine.call import within
from strata.engine.child import child_failure_text
from strata.engine.decide.failure import Failure, judge
from strata.engine.decide.joining import ITEMS, PartResult
from strata.engine.endings import Asked, Ending, Finished, NodeFailedForGood, OverLimit, Paused, PausedInside, Stopped
from strata.engine.fanout import fan_out
from strata.engine.faults import ChildFailed
from strata.engine.finished import keeping_finished
from strata.engine.group import merged
from strata.engine.interrupt import Scope
from strata.engine.level import Level
from strata.engine.mappers import mapped
from strata.engine.plan import MapPlan, NodePlan
from strata.engine.run import Run
from strata.errors import BadItems, HandlerCancelled, PartTimedOut
from strata.graph.spec import MapBody
from strata.graph.texts import is_utf8
from strata.ports.events import MapExpanded


async def run_map(run: Run, level: Level, node: NodePlan, mapping: MapPlan) -> Any:
    """The merged state of the items' child graphs (strata-execution.md 9, Map).

    Raises:
        BadItems: too many items, or a key that is no text, is empty, has a `/` or stands twice; nothing was started.
        ChildFailed: too few items succeeded; the text names those that failed.
        StateMutated: an item or a mapper changed the map's state in place.
        MapperFailed: `items`, `key` or the merge raised.
    """
    body = mapping.body
    items = _items(node, body, level.state)
    keys = _keys(node, body, items)
    if run.watch is not None:
        run.watch.emit(MapExpanded(node_path=level.path_of(node), attempt=level.attempt, keys=tuple(keys)))

    def part(index: int, scope: Scope) -> Coroutine[Any, Any, PartResult]:
        return _run_item(run, level, node, mapping, items[index], keys[index], scope)

    async with keeping_finished(run, level, node, keys, part, mapping.child.codec, body.fanout) as kept_part:
        tally = await within(run, level, node, fan_out(run, level, keys, kept_part, body.fanout))
        return merged(level, node, tally, keys, body.fanout, ITEMS)


def _items(node: NodePlan, body: MapBody, state: Any) -> Sequence[Any]:
    items = mapped(node, "items", lambda: list(body.items(state)))
    if body.max_items is not None and len(items) > body.max_items:
        raise BadItems(f"map '{node.name}' has {len(items)} items, more than its limit of {body.max_items}")
    return items


def _keys(node: NodePlan, body: MapBody, items: Sequence[Any]) -> list[str]:
    keys: dict[str, int] = {}
    for index, item in enumerate(items):
        key = mapped(node, "key", body.key, item)
        if not isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BadItems(f"map '{node.name}': item {index} has the key {key!r:.80}, which is no string")
        if not is_utf8(key):
            raise BadItems(f"map '{node.name}': item {index} has the key {key!r:.80}, which has half a surrogate pair")
        if not key:
            raise BadItems(f"map '{node.name}': item {index} has an empty key")
        if "/" in key:
            raise BadItems(f"map '{node.name}': item {index} has the key '{key}', which contains '/'")
        if key in keys:
            raise BadItems(f"map '{node.name}': items {keys[key]} and {index} have the same key '{key}'")
        keys[key] = index
    return list(keys)


async def _run_item(run: Run, level: Level, node: NodePlan, mapping: MapPlan, item: Any, key: str, scope: Scope) -> PartResult:
    try:
        child = _level(level, node, mapping, item, key, scope)
    except Exception as error:
        return PartResult(status="failed", failure=judge(error, node.recovery))
    try:
        ending = await walk.walk(run, child)
    except asyncio.CancelledError:
        if level.interrupt.abandoned:
            raise
        return PartResult(status="failed", failure=judge(HandlerCancelled(child.at.name)))  # a stranger cancelled the item's task
    return _result(mapping, child, ending, key, scope)


def _level(level: Level, node: NodePlan, mapping: MapPlan, item: Any, key: str, scope: Scope) -> Level:
    """An item's level records nothing, counts for itself, and inherits no decision."""
    plan = mapping.child
    state = mapped(node, "enter", mapping.body.enter, level.state, item)
    child = Level(
        plan,
        at=plan.entry,
        state=plan.codec.check_result(None, state, f"{node.name} (enter)"),
        limit=plan.hop_limit,
        stores=False,
        scope=scope,
        parent=level,
        path=(*level.path, node.name, key),
        is_item=True,
    )
    if level.recovering:
        child.recover()
    return child


def _result(mapping: MapPlan, child: Level, ending: Ending, key: str, scope: Scope) -> PartResult:
    """What an item produced while it was being stopped is ignored."""
    timeout = mapping.body.fanout.part_timeout
    if scope.reason == "part_timeout" and timeout is not None:
        return PartResult(status="timed_out", failure=judge(PartTimedOut("item", key, timeout=timeout)))
    if scope.reason is not None:
        return PartResult(status="cancelled")
    match ending:
        case Finished():
            return PartResult(status="succeeded", state=child.state)
        case NodeFailedForGood(failure):
            return PartResult(status="failed", failure=_failure(ending, child, failure))
        case OverLimit():
            return PartResult(status="failed", failure=_failure(ending, child, None))
        case Paused() | PausedInside() | Asked() | Stopped():
            raise AssertionError(f"an item of a map cannot end as {ending!r}: compile() refuses what pauses")
        case _:
            assert_never(ending)


def _failure(ending: NodeFailedForGood | OverLimit, child: Level, failure: Failure | None) -> Failure:
    kind, hint = ("fatal", None) if failure is None else (failure.kind, failure.retry_after)
    errors = () if failure is None else (failure.error,)
    return judge(ChildFailed(child_failure_text(ending, child), kind=kind, retry_after=hint, errors=errors))
