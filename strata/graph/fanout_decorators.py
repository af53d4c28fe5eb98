"""`@parallel` and `@map_each`: several branches, or one graph for each item, and a merge of what they give."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import timedelta
from typing import Any, Concatenate, Generic, LiteralString, Never, TypeAlias, TypeVar, Unpack, overload

from strata.graph.bodies import Branch, FanoutSettings, group_body, map_body
from strata.graph.compiled import CompiledGraph
from strata.graph.decorators import Top, TopDecorator, TopOptions, as_node
from strata.graph.joins import Join, Outcomes, Partial
from strata.graph.nodes import Composite, Wired
from strata.graph.places import caller, place_of
from strata.graph.spec import GroupBody, MapBody
from strata.graph.state import State
from strata.graph.text_pairs import text_pairs

S = TypeVar("S", bound=State)
C = TypeVar("C", bound=State)
I = TypeVar("I")  # noqa: E741 (an item)
N = TypeVar("N", bound=LiteralString)
T = TypeVar("T", bound=LiteralString)

BranchFunction: TypeAlias = Callable[Concatenate[S, ...], S | Coroutine[Any, Any, S]]
"""What a branch of a group over `S` may be: what a node may be."""


class MergeDecorator(TopDecorator, Generic[S, C, N]):
    """`@parallel(...)` or `@map_each(...)` on its way to the merge: of states `S`, with parts of state `C`."""

    @overload
    def __call__(self, fn: Wired[Callable[[S, list[C]], S], T], /) -> Composite[S, Callable[[S, list[C]], S], N, T]: ...
    @overload
    def __call__(self, fn: Wired[Callable[[S, Outcomes[C]], S], T], /) -> Composite[S, Callable[[S, Outcomes[C]], S], N, T]: ...
    @overload
    def __call__(self, fn: Callable[[S, list[C]], S], /) -> Composite[S, Callable[[S, list[C]], S], N, Never]: ...
    @overload
    def __call__(self, fn: Callable[[S, Outcomes[C]], S], /) -> Composite[S, Callable[[S, Outcomes[C]], S], N, Never]: ...
    def __call__(self, fn: Any, /) -> Any:
        return as_node(fn, self._top, caller())


class FanoutOptions(TopOptions, total=False):
    """What groups and maps have in common; see `parallel`."""

    partial: Partial
    max_concurrency: int | None
    cancel_siblings: bool
    keep_progress: bool


class GroupOptions(FanoutOptions, total=False):
    branch_timeout: timedelta | float | None


class MapOptions(FanoutOptions, total=False):
    max_items: int | None
    item_timeout: timedelta | float | None


@overload
def parallel(
    *branches: Branch[S] | BranchFunction[S], name: N, join: Join[S] | None = ..., **options: Unpack[GroupOptions]
) -> MergeDecorator[S, S, N]: ...
@overload
def parallel(
    *branches: Branch[S] | BranchFunction[S], name: str, join: Join[S] | None = ..., **options: Unpack[GroupOptions]
) -> MergeDecorator[S, S, Any]: ...
@overload
def parallel(
    *branches: Branch[S] | BranchFunction[S], join: Join[S] | None = ..., **options: Unpack[GroupOptions]
) -> MergeDecorator[S, S, LiteralString]: ...
def parallel(
    *branches: Any,
    name: str | None = None,
    join: Join[Any] | None = None,
    partial: Partial = "fail_group",
    max_concurrency: int | None = None,
    branch_timeout: timedelta | float | None = None,
    cancel_siblings: bool = True,
    timeout: timedelta | float | None = None,
    metadata: Mapping[str, str] | None = None,
    keep_progress: bool = True,
) -> Any:
    """Make a node of several branches that run at once, and of the merge that the decorated function is.

    Every branch gets the state that the group started with. The merge is `(state, results: list[S])`, where the results
    are the states of the branches that decided the join (else of all that succeeded), or `(state, outcomes: Outcomes[S])`;
    both are in the order of declaration. It is sync and pure (strata-execution.md 9).

    Args:
        branches: functions as nodes have, or `branch("name", fn)`.
        name: the node's; by default the merge function's own.
        join: when the group is done: `all_of()` (the default), `first_success()`, `first_matching(...)`, `quorum(n)`.
        partial: what happens when the join cannot be met any more: the group fails, or what succeeded is merged.
        max_concurrency: branches that run at the same time; by default all.
        branch_timeout: limit of each branch from its start.
        cancel_siblings: whether a group that fails stops the branches that still run.
        timeout: limit of each attempt of the whole group.
        metadata: exported with the definition.
        keep_progress: whether a recovery runs only the branches that had not finished.

    Raises:
        TypeError: a branch or the merge is no such function, or decorators are stacked the wrong way round.
    """
    place = place_of(caller())
    settings = FanoutSettings(
        join=join,
        partial=partial,
        max_concurrency=max_concurrency,
        part_timeout=branch_timeout,
        cancel_siblings=cancel_siblings,
        keep_progress=keep_progress,
    )

    def body(fn: Any, where: str, names: Mapping[str, Any]) -> GroupBody:
        return group_body(branches, fn, settings, where=where, names=names, place=place)

    return MergeDecorator[Any, Any, Any](Top(body=body, word="parallel", made=Composite, name=name, timeout=timeout, metadata=metadata))


def branch(name: str, fn: BranchFunction[S], /, *, metadata: Mapping[str, str] | None = None, inline: bool = False) -> Branch[S]:
    """A function as a branch of a parallel group, under a name of its own.

    `metadata` is exported with the definition; `inline=True` runs a sync function on the event loop instead of a thread.
    """
    pairs = None if metadata is None else text_pairs(metadata, f"branch '{name}'")
    return Branch(name, fn, metadata=pairs, inline=inline, place=place_of(caller()))


@overload
def map_each(
    child: CompiledGraph[C],
    /,
    *,
    items: Callable[[S], Sequence[I]],
    key: Callable[[I], str],
    enter: Callable[[S, I], C],
    name: N,
    join: Join[C] | None = ...,
    **options: Unpack[MapOptions],
) -> MergeDecorator[S, C, N]: ...
@overload
def map_each(
    child: CompiledGraph[C],
    /,
    *,
    items: Callable[[S], Sequence[I]],
    key: Callable[[I], str],
    enter: Callable[[S, I], C],
    name: str,
    join: Join[C] | None = ...,
    **options: Unpack[MapOptions],
) -> MergeDecorator[S, C, Any]: ...
@overload
def map_each(
    child: CompiledGraph[C],
    /,
    *,
    items: Callable[[S], Sequence[I]],
    key: Callable[[I], str],
    enter: Callable[[S, I], C],
    join: Join[C] | None = ...,
    **options: Unpack[MapOptions],
) -> MergeDecorator[S, C, LiteralString]: ...
def map_each(
    child: CompiledGraph[Any],
    /,
    *,
    items: Callable[[Any], Sequence[Any]],
    key: Callable[[Any], str],
    enter: Callable[[Any, Any], Any],
    name: str | None = None,
    join: Join[Any] | None = None,
    partial: Partial = "fail_group",
    max_concurrency: int | None = 8,
    max_items: int | None = None,
    item_timeout: timedelta | float | None = None,
    cancel_siblings: bool = True,
    timeout: timedelta | float | None = None,
    metadata: Mapping[str, str] | None = None,
    keep_progress: bool = True,
) -> Any:
    """Make a node that runs a graph for each item of a list, and of the merge that the decorated function is.

    The merge is as that of `parallel`, of the child's last states; its parts are named by their keys. The child may not
    pause: no boundary, no wait in it, at any depth (strata-execution.md 9).

    Args:
        child: the compiled graph that each item runs.
        items: the list, from the state.
        key: names an item in paths and in `Outcomes`; not empty, without `/`, and no two alike.
        enter: the child's first state, from the state and an item.
        name: the node's; by default the merge function's own.
        join, partial, cancel_siblings, timeout, metadata, keep_progress: as of `parallel`, for items.
        max_concurrency: items that run at the same time; None is without limit.
        max_items: a longer list fails the node before anything starts.
        item_timeout: limit of each item from its start.

    Raises:
        TypeError: the child is no compiled graph, a function is none, or decorators are stacked the wrong way round.
    """
    settings = FanoutSettings(
        join=join,
        partial=partial,
        max_concurrency=max_concurrency,
        part_timeout=item_timeout,
        cancel_siblings=cancel_siblings,
        keep_progress=keep_progress,
    )

    def body(fn: Any, where: str, names: Mapping[str, Any]) -> MapBody:
        return map_body(child, items=items, key=key, enter=enter, merge=fn, max_items=max_items, settings=settings, where=where, names=names)

    return MergeDecorator[Any, Any, Any](Top(body=body, word="map_each", made=Composite, name=name, timeout=timeout, metadata=metadata))
