"""Decorators of every kind of node: what they make of a function, and what each wrong use of them says."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any

import msgspec
import pytest

import strata
from strata import (
    Backoff,
    BranchOutcome,
    Context,
    Event,
    Outcomes,
    State,
    StateGraph,
    TransientError,
    boundary,
    branch,
    edge,
    map_each,
    node,
    on_failure,
    on_reject,
    on_timeout,
    parallel,
    quorum,
    retry,
    subgraph,
    timer,
    wait_for_event,
    when,
)
from strata.graph.spec import EventWaitBody, GroupBody, MapBody, SubgraphBody, TimerBody
from tests.graphs.counts import Count, enter_item, first, is_even, items, leave, same

untyped: Any = strata
"""For calls that a checker refuses, and that are made all the same by who runs none."""


class Letter(State):
    text: str = ""


class Payment(msgspec.Struct):
    amount: int


async def asked(count: Count, ctx: Context) -> Count:
    return count


def due(count: Count) -> datetime:
    return datetime.fromtimestamp(count.n, UTC)


def fold(count: Count, payment: Payment) -> Count:
    return count.replace(n=payment.amount)


child = StateGraph(Count).add_node("inner", same).compile()


def line_here() -> int:
    return sys._getframe(1).f_lineno  # pyright: ignore[reportPrivateUsage]


def at(line: int) -> str:
    return f"{__file__}:{line}"


def body_of(made: Any) -> Any:
    return made.spec.body


# What a decorator makes


def test_a_group_holds_its_branches_its_merge_and_its_settings() -> None:
    group = parallel(
        same,
        branch("other", asked, metadata={"team": "x"}),
        branch("quick", same, inline=True),
        name="group",
        join=quorum(2),
        partial="keep_succeeded",
        max_concurrency=2,
        branch_timeout=timedelta(seconds=3),
        cancel_siblings=False,
        timeout=9,
        metadata={"team": "y"},
        keep_progress=False,
    )(first)
    body = body_of(group)
    assert isinstance(body, GroupBody)
    assert [(part.name, part.handler.is_async, part.handler.inline, part.metadata) for part in body.branches] == [
        ("same", False, False, None),
        ("other", True, False, {"team": "x"}),
        ("quick", False, True, None),
    ]
    fanout = body.fanout
    assert (fanout.merge, fanout.takes_outcomes, fanout.join.policy, fanout.join.count, fanout.partial) == (
        first,
        False,
        "quorum",
        2,
        "keep_succeeded",
    )
    assert (fanout.max_concurrency, fanout.part_timeout, fanout.cancel_siblings, fanout.keep_progress) == (2, 3.0, False, False)
    assert (group.spec.name, group.spec.timeout, group.spec.metadata) == ("group", 9.0, {"team": "y"})


def test_a_group_by_default_waits_for_all_without_limit_and_has_its_functions_name() -> None:
    group = parallel(same, asked)(first)
    fanout = body_of(group).fanout
    assert (group.name, fanout.join.policy, fanout.partial, fanout.max_concurrency, fanout.part_timeout) == ("first", "all", "fail_group", None, None)
    assert (fanout.cancel_siblings, fanout.keep_progress) == (True, True)


def test_a_subgraph_holds_its_child_and_both_mappers() -> None:
    body = body_of(subgraph(child, enter=same)(leave))
    assert isinstance(body, SubgraphBody)
    assert (body.child, body.enter, body.leave) == (child, same, leave)


def test_a_map_holds_its_child_its_functions_and_a_limit_of_eight() -> None:
    body = body_of(map_each(child, items=items, key=str, enter=enter_item, max_items=5, item_timeout=2)(first))
    assert isinstance(body, MapBody)
    assert (body.child, body.items, body.key, body.enter, body.max_items) == (child, items, str, enter_item, 5)
    assert (body.fanout.merge, body.fanout.max_concurrency, body.fanout.part_timeout) == (first, 8, 2.0)


def test_a_wait_holds_its_event_its_fold_and_its_timeout() -> None:
    wait = wait_for_event("paid", timeout=timedelta(hours=1), metadata={"k": "v"})(on_timeout("end")(edge("next")(fold)))
    body = body_of(wait)
    assert isinstance(body, EventWaitBody)
    assert (body.event_type, body.fold, body.takes_payload, body.timeout, body.on_timeout) == ("paid", fold, True, 3600.0, "end")
    assert (wait.name, wait.spec.metadata, wait.spec.timeout, wait.spec.boundary) == ("fold", {"k": "v"}, None, None)
    assert not body_of(wait_for_event("ping")(same)).takes_payload


def test_a_timer_has_a_delay_or_a_time_of_the_state() -> None:
    delayed, timed = body_of(timer(timedelta(minutes=1))(same)), body_of(timer(until=due, name="t")(same))
    assert isinstance(delayed, TimerBody)
    assert (delayed.delay, delayed.until, delayed.fold) == (60.0, None, same)
    assert (timed.delay, timed.until, timed.fold) == (None, due, same)


def test_marks_for_failure_are_one_policy() -> None:
    backoff = Backoff(initial=timedelta(milliseconds=10), maximum=2)
    line = line_here() + 3

    @node
    @retry(3, backoff=backoff, on=ValueError)
    @on_failure("rescue", on=(KeyError, TimeoutError))
    def risky(count: Count) -> Count:
        return count

    policy = risky.spec.recovery
    assert policy is not None
    assert policy.is_transient is not None
    assert policy.takes is not None
    assert (policy.retries, policy.backoff, policy.fallback) == (3, backoff, "rescue")
    assert (policy.is_transient(ValueError()), policy.is_transient(TypeError())) == (True, False)
    assert (policy.takes(KeyError()), policy.takes(TimeoutError()), policy.takes(ValueError())) == (True, True, False)
    assert (str(policy.place), str(policy.fallback_place)) == (at(line), at(line + 1))


def test_what_is_tried_again_by_default() -> None:
    policy = node("n")(retry(1)(same)).spec.recovery
    assert policy is not None
    assert policy.is_transient is not None
    assert [policy.is_transient(error) for error in (TransientError("x"), ConnectionResetError(), TimeoutError(), ValueError())] == [
        True,
        True,
        True,
        False,
    ]


def test_a_fallback_takes_every_error_by_default_and_tries_nothing_again() -> None:
    policy = node("n")(on_failure("rescue")(same)).spec.recovery
    assert policy is not None
    assert (policy.retries, policy.is_transient, policy.takes) == (0, None, None)


def test_a_predicate_says_what_is_tried_again() -> None:
    policy = node("n")(retry(1, on=lambda error: "busy" in str(error))(same)).spec.recovery
    assert policy is not None
    assert policy.is_transient is not None
    assert (policy.is_transient(ValueError("busy")), policy.is_transient(ValueError("gone"))) == (True, False)


def test_a_boundary_may_have_a_timeout_and_its_route() -> None:
    mark = node("n")(boundary(timeout=timedelta(days=1))(on_timeout("end")(same))).spec.boundary
    assert mark is not None
    assert (mark.timeout, mark.on_timeout) == (86400.0, "end")


def test_nodes_of_every_kind_call_their_function_plainly_and_keep_what_it_says() -> None:
    group = parallel(same)(first)
    assert group(Count(), [Count(n=3)]) == Count(n=3)
    assert (group.__name__, group.__doc__, group.__wrapped__) == ("first", "The first of them.", first)
    assert group.__signature__ == inspect.signature(first)
    assert wait_for_event("paid")(fold)(Count(), Payment(amount=2)) == Count(n=2)
    assert subgraph(child, enter=same)(leave)(Count(), Count(n=1)) == Count(n=1)


def test_targets_may_be_nodes_of_every_kind() -> None:
    wait, group = wait_for_event("paid")(fold), parallel(same)(first)
    marked = node("n")(when(is_even, to=wait)(on_failure(group)(edge(group)(same))))
    assert [way.target for way in marked.spec.edges] == ["fold", "first"]
    assert marked.spec.recovery is not None
    assert marked.spec.recovery.fallback == "first"


# What the merge takes


def by_list(count: Count, results: list[Count]) -> Count:
    return count


def by_sequence(count: Count, results: Sequence[Count]) -> Count:
    return count


def by_outcomes(count: Count, outcomes: Outcomes[Count]) -> Count:
    return count


def by_sequence_of_outcomes(count: Count, outcomes: Sequence[BranchOutcome[Count]]) -> Count:
    return count


def by_maybe(count: Count, outcomes: Outcomes[Count] | None) -> Count:
    return count


def by_later(count: Count, outcomes: Outcomes[DefinedLater]) -> Count:
    return count


def by_text(count: Count, outcomes: Any) -> Count:
    return count


by_text.__annotations__["outcomes"] = "strata.Outcomes[OnlyForCheckers]"
Results = Outcomes[Count]


def by_alias(count: Count, outcomes: Results) -> Count:
    return count


class Merger:
    def merge(self, count: Count, outcomes: Outcomes[Count]) -> Count:
        return count


def annotated_nothing() -> Any:
    return eval("lambda count, results: count")


@pytest.mark.parametrize(
    ("merge", "takes"),
    [
        (by_list, False),
        (by_sequence, False),
        (annotated_nothing(), False),
        (by_outcomes, True),
        (by_sequence_of_outcomes, True),
        (by_maybe, True),
        (by_later, True),
        (by_text, True),
        (by_alias, True),
        (Merger().merge, True),
    ],
)
def test_the_merges_second_annotation_says_whether_it_takes_outcomes(merge: Any, takes: bool) -> None:
    assert body_of(untyped.parallel(same, name="g")(merge)).fanout.takes_outcomes is takes


def test_outcomes_under_a_name_of_a_function_are_found() -> None:
    from strata import Outcomes as Told

    def merge(count: Count, outcomes: Told[Count]) -> Count:
        return count

    assert body_of(parallel(same)(merge)).fanout.takes_outcomes


class DefinedLater(State):
    pass


# Events


def test_an_event_made_by_its_wait_has_its_type_and_payload() -> None:
    wait, ping = wait_for_event("paid")(fold), wait_for_event("ping")(same)
    assert wait.event(Payment(amount=3)) == Event("paid", payload=Payment(amount=3))
    assert ping.event(None) == ping.event() == Event("ping")


def test_no_payload_is_not_the_payload_none() -> None:
    assert not Event("paid").has_payload
    assert Event("paid").payload is msgspec.UNSET
    assert Event("paid", payload=None).has_payload
    assert Event("paid", payload=None) != Event("paid")
    assert untyped.wait_for_event("paid")(fold).event(None).has_payload


def test_an_event_cannot_change_and_shows_what_it_is() -> None:
    overrides = {"n": 3}
    event: Any = Event("paid", payload=3, overrides=overrides)
    overrides["n"] = 4
    with pytest.raises(AttributeError, match="an Event cannot change"):
        event.type = "other"
    assert repr(event) == "Event('paid', payload=3, overrides={'n': 3})"
    with pytest.raises(TypeError, match="an event has a type"):
        untyped.Event(3)


# Wrong stackings


def lines_of(make: Callable[[], object]) -> str:
    with pytest.raises(TypeError) as raised:
        make()
    return str(raised.value)


@pytest.mark.parametrize(
    ("top", "word"),
    [
        (parallel(same, name="x"), "parallel"),
        (subgraph(child, enter=same, name="x"), "subgraph"),
        (map_each(child, items=items, key=str, enter=enter_item, name="x"), "map_each"),
    ],
)
def test_a_mark_above_any_top_decorator_says_to_move_it_below(top: Any, word: str) -> None:
    assert f"@edge stands above the @{word} of 'x': move it below @{word}" in lines_of(lambda: untyped.edge("next")(top(leave)))
    assert f"@retry stands above the @{word} of 'x': move it below @{word}" in lines_of(lambda: untyped.retry(3)(top(leave)))


def test_two_top_decorators_of_different_kinds_say_to_remove_one() -> None:
    text = lines_of(lambda: untyped.node("again")(parallel(same, name="x")(first)))
    assert "has two top decorators: remove @parallel or @node" in text
    assert "remove one @timer" in lines_of(lambda: untyped.timer(3)(timer(3)(same)))


@pytest.mark.parametrize(("mark", "word"), [(retry(3), "retry"), (on_failure("a"), "on_failure")])
def test_a_wait_does_nothing_that_could_fail(mark: Any, word: str) -> None:
    for top, what in ((wait_for_event("paid", name="w"), "wait"), (timer(3, name="w"), "timer")):
        text = lines_of(lambda top=top: top(mark(same)))  # type: ignore[misc]
        assert f"{what} 'w' has @{word}, and a {what} does nothing that could fail: remove @{word}, or put it on the node behind" in text
        assert text.startswith(f"{__file__}:")


def test_nobody_rejects_a_wait_and_a_timer_has_no_timeout() -> None:
    assert "wait 'w' has @on_reject, and no person answers a wait: remove @on_reject" in lines_of(
        lambda: wait_for_event("paid", name="w")(on_reject("a")(same))
    )
    assert "timer 't' has @on_timeout, and a timer only has its time: say with @edge where it leads" in lines_of(
        lambda: timer(3, name="t")(on_timeout("a")(same))
    )


def test_on_timeout_without_a_boundary_says_to_add_one() -> None:
    line = line_here() + 1
    text = lines_of(lambda: node("n")(on_timeout("a")(same)))
    assert text == f"{at(line)}: node 'n' has @on_timeout and no @boundary: put @boundary(timeout=...) above @on_timeout"


@pytest.mark.parametrize(("mark", "word"), [(retry(3), "retry"), (on_failure("a"), "on_failure"), (on_timeout("a"), "on_timeout")])
def test_a_mark_that_can_stand_once_stands_twice(mark: Any, word: str) -> None:
    assert f"@{word} stands twice on 'same' (also at {__file__}:" in lines_of(lambda: mark(mark(same)))


def test_a_decorator_without_a_function_cannot_be_listed() -> None:
    graph = untyped.StateGraph(Count)
    text = r"start\(\) takes nodes, and <@parallel\(...\) with no function under it> is none: decorate a function with it"
    with pytest.raises(TypeError, match=text):
        graph.start(parallel(same))


# Wrong parameters


async def slow_merge(count: Count, results: list[Count]) -> Count:
    return count


def with_context(count: Count, results: list[Count], ctx: Context) -> Count:
    return count


def generator(count: Count, results: list[Count]) -> Iterator[Count]:
    yield count


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: untyped.parallel(same, name="g")(slow_merge), "parallel group 'g': its merge is async: it is asked between two steps"),
        (lambda: untyped.parallel(same, name="g")(with_context), "parallel group 'g': its merge has no context: take 'ctx' away"),
        (lambda: untyped.parallel(same, name="g")(generator), "parallel group 'g': its merge is a generator: it gives its result at once"),
        (
            lambda: untyped.parallel(same, name="g")(same),
            "parallel group 'g': its merge is a function of the state and the results of the branches, and this one is (count)",
        ),
        (lambda: untyped.parallel(3, name="g")(first), "parallel group 'g': the branch 3 has no name of its own: give it one, branch('name', ...)"),
        (lambda: untyped.parallel(node("n")(same), name="g")(first), "is no branch: a branch is a plain function"),
        (lambda: untyped.parallel(edge("n")(same), name="g")(first), "is no branch: a branch is a plain function"),
        (lambda: untyped.parallel(untyped.branch("b", 3), name="g")(first), "parallel group 'g': branch 'b': 3 is no function"),
        (lambda: untyped.parallel(same, name="g", join=quorum)(first), "parallel group 'g': join= is a join, as in join=quorum(2), not"),
        (
            lambda: untyped.parallel(same, name="g", max_concurrency="2")(first),
            "parallel group 'g': max_concurrency= is a whole number or None, not '2'",
        ),
        (
            lambda: untyped.parallel(same, name="g", join=untyped.first_matching(asked))(first),
            "parallel group 'g': the predicate of its join is async",
        ),
        (lambda: untyped.first_matching(3), "first_matching asks a function of a part's state, not 3"),
        (lambda: untyped.quorum("2"), "a quorum is a whole number, not '2'"),
        (lambda: untyped.subgraph(StateGraph(Count), enter=same, name="s")(leave), "subgraph 's' runs a compiled graph, not"),
        (lambda: untyped.subgraph(child, enter=asked, name="s")(leave), "subgraph 's': enter= is async"),
        (lambda: untyped.subgraph(child, enter=3, name="s")(leave), "subgraph 's': enter= is a function of the state, not 3"),
        (
            lambda: untyped.map_each(child, items=items, key=leave, enter=enter_item, name="m")(first),
            "map 'm': key= is a function of an item, and this one is (count, child)",
        ),
        (
            lambda: untyped.map_each(child, items=items, key=str, enter=same, name="m")(first),
            "map 'm': enter= is a function of the state and an item",
        ),
        (lambda: untyped.wait_for_event(3, name="w")(same), "wait 'w' waits for a type of event"),
        (lambda: untyped.wait_for_event("paid", name="w")(asked), "wait 'w': its function is async"),
        (lambda: untyped.timer(name="t")(same), "timer 't' has a delay or until=, one of the two"),
        (lambda: untyped.timer(3, until=due, name="t")(same), "timer 't' has a delay or until=, one of the two"),
        (lambda: untyped.timer(due, name="t")(same), "timer 't' has a function for a delay: @timer(until=due)"),
        (lambda: untyped.timer("3", name="t")(same), "a duration is a timedelta or a number of seconds, not '3'"),
        (lambda: untyped.retry(same), "@retry asks how often the node is tried again, as in @retry(3)"),
        (lambda: untyped.retry(True), "@retry asks how often the node is tried again, as in @retry(3)"),
        (lambda: untyped.retry(3, backoff=2), "@retry backoff= is a Backoff(initial=..., maximum=...), not 2"),
        (lambda: untyped.retry(3, on=3), "@retry on= is a class of errors, a tuple of them or a predicate, not 3"),
        (lambda: untyped.retry(3, on=(ValueError, 3)), "and 3 is no class of errors"),
        (lambda: untyped.on_failure(same), "@on_failure leads to same, which is no node"),
    ],
)
def test_what_does_not_fit_is_refused_at_the_decorator_with_its_name(make: Callable[[], object], text: str) -> None:
    assert text in lines_of(make)


def test_a_child_that_is_not_compiled_says_to_compile_it() -> None:
    assert "compile it first" in lines_of(lambda: untyped.subgraph(StateGraph(Count), enter=same)(leave))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: untyped.parallel(same, name="g", partial="some")(first), 'partial= is "fail_group" or "keep_succeeded", not \'some\''),
        (lambda: retry(-1), "tries a node again 0 times or more, not -1"),
        (lambda: Backoff(initial=-1, maximum=2), "initial= is a delay, and -1 is negative"),
        (lambda: untyped.Backoff(initial=1, maximum=2, jitter="some"), 'jitter= is "full", "equal" or "none", not \'some\''),
    ],
)
def test_values_outside_their_range_are_refused(make: Callable[[], object], text: str) -> None:
    with pytest.raises(ValueError) as raised:
        make()
    assert text in str(raised.value)


def test_functions_written_in_c_may_be_keys_and_mappers() -> None:
    body = body_of(untyped.map_each(child, items=attrgetter("n"), key=str, enter=enter_item, name="m")(first))
    assert body.key is str


def test_a_backoff_keeps_seconds_and_cannot_change() -> None:
    backoff: Any = Backoff(initial=timedelta(milliseconds=250), maximum=2)
    assert (backoff.initial, backoff.maximum, backoff.jitter) == (0.25, 2.0, "full")
    assert backoff == Backoff(initial=0.25, maximum=2.0)
    assert len({backoff, Backoff(initial=0.25, maximum=2)}) == 1
    with pytest.raises(AttributeError, match="a Backoff cannot change"):
        backoff.initial = 3


# Listing


def test_nodes_of_every_kind_over_another_state_cannot_be_listed() -> None:
    letters = untyped.StateGraph(Letter)
    for made, what in (
        (parallel(same, name="x")(first), "node 'x' is over Count"),
        (subgraph(child, enter=same, name="x")(leave), "node 'x' is over Count"),
        (wait_for_event("paid", name="x")(fold), "node 'x' is over Count"),
        (timer(until=due, name="x")(untyped_function()), "until= of node 'x' is over Count"),
    ):
        with pytest.raises(TypeError, match=rf"test_kinds_decorators.py:\d+: {what}, and start\(\) of a graph over Letter was given it"):
            letters.start(made)


def untyped_function() -> Any:
    return eval("lambda count: count")


def test_a_composite_given_as_data_says_which_method_adds_it() -> None:
    with pytest.raises(TypeError, match=r"add_node takes functions, and .* is made by @parallel: add_parallel_group adds it from data"):
        untyped.StateGraph(Count).add_node("x", parallel(same, name="x")(first))


@pytest.mark.parametrize(
    ("method", "given"),
    [
        ("set_recovery_policy", ("a",)),
        ("set_branch_metadata", ("a", "b", {"k": "v"})),
        ("add_timer", ("a", 3)),
        ("add_wait_for_event", ("a", "paid")),
    ],
)
def test_one_graph_is_built_in_one_form(method: str, given: tuple[object, ...]) -> None:
    graph = StateGraph(Count)
    getattr(graph, method)(*given)
    with pytest.raises(TypeError, match="this builder was given data: build the graph in one form"):
        graph.start(node("n")(same))
