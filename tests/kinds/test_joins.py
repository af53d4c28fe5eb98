"""When a group is decided before all its branches have ended, and what becomes of the rest."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from strata import Failed, Join, Outcome, PredicateFailed, Runner, all_of, first_matching, first_success, quorum
from tests.clocks import HandClock
from tests.graphs.trails import Trail
from tests.kinds.parts import Calls, Merges, fallback, fatal, gather, transient


async def raced(calls: Calls, merges: Merges, branches: dict[str, Any], join: Join[Any], *, seconds: float = 60, **options: Any) -> Outcome[Trail]:
    """What the race of the branches came to, after so much time at most; nothing is left behind."""
    clock = HandClock()
    graph = gather(branches, merges, join=join, outcomes=True, **options).compile()
    running = asyncio.ensure_future(Runner(graph, clock=clock).run("t", Trail()))
    await clock.pass_time(seconds)
    outcome = await running
    assert calls.now == 0
    assert clock.timers == 0
    return outcome


async def test_ex85_the_first_success_decides_and_the_others_are_stopped() -> None:
    calls, merges = Calls(), Merges()
    branches = {"openai": calls.hangs(), "anthropic": calls.takes(0), "local": calls.hangs()}
    assert (await raced(calls, merges, branches, first_success())).unwrap().trail == "AanthropicZ"
    assert merges.statuses == ["openai cancelled", "anthropic succeeded", "local cancelled"]
    assert (merges.outcomes[0].join_met, merges.outcomes[0].deciding) == (True, ("anthropic",))
    assert sorted(calls.cancelled) == ["local", "openai"]


async def test_ex86_the_first_that_matches_decides() -> None:
    calls, merges = Calls(), Merges()
    branches = {"low": calls.takes(0, score=50), "high": calls.takes(0.03, score=95), "slow": calls.hangs()}
    await raced(calls, merges, branches, first_matching(lambda state: state.n >= 90))
    assert merges.statuses == ["low succeeded", "high succeeded", "slow cancelled"]
    assert merges.outcomes[0].deciding == ("high",)


async def test_ex86_the_plain_merge_gets_the_states_that_decided() -> None:
    calls = Calls()
    branches = {"low": calls.takes(0, score=50), "high": calls.takes(0, score=95)}
    graph = gather(branches, join=first_matching(lambda state: state.n >= 90)).compile()
    assert (await Runner(graph).run("t", Trail())).unwrap().trail == "AhighZ"


async def test_ex87_a_quorum_names_who_met_it_in_that_order_and_merges_in_the_order_of_declaration() -> None:
    calls, merges = Calls(), Merges()
    branches = {"openai": calls.takes(2), "anthropic": calls.takes(1), "local": calls.hangs()}
    outcome = await raced(calls, merges, branches, quorum(2))
    assert merges.outcomes[0].deciding == ("anthropic", "openai")
    assert outcome.unwrap().trail == "AopenaianthropicZ"


async def test_ex88_what_never_started_was_cancelled_all_the_same() -> None:
    calls, merges = Calls(), Merges()
    branches = {"b": calls.takes(1), "c": calls.takes(1), "d": calls.takes(1)}
    await raced(calls, merges, branches, first_success(), max_concurrency=1)
    assert calls.started == ["b"]
    assert merges.statuses == ["b succeeded", "c cancelled", "d cancelled"]


@pytest.mark.parametrize("error", [transient("busy"), fatal("no")])
async def test_ex89_a_failure_does_not_matter_where_another_succeeds(error: Exception) -> None:
    calls, merges = Calls(), Merges()
    branches = {"b": calls.fails(error), "c": calls.takes(0.03)}
    assert (await raced(calls, merges, branches, first_success())).unwrap().trail == "AcZ"
    assert merges.statuses == ["b failed", "c succeeded"]
    assert merges.outcomes[0].join_met


async def test_ex91_a_quorum_that_cannot_be_reached_says_how_far_it_came() -> None:
    calls, merges = Calls(), Merges()
    branches = {"openai": calls.takes(0), "anthropic": calls.fails(fatal("refused")), "local": calls.fails(fatal("crashed"))}
    outcome = await raced(calls, merges, branches, quorum(2))
    assert isinstance(outcome, Failed)
    assert outcome.message == "quorum of 2 not reached: 1 of 3 branches succeeded; branch 'anthropic': refused; branch 'local': crashed"
    assert outcome.kind == "fatal"


async def test_ex91_a_quorum_that_a_retry_could_reach_is_transient() -> None:
    calls, merges = Calls(), Merges()
    branches = {"a": calls.fails(transient("busy")), "b": calls.fails(fatal("no")), "c": calls.takes(0)}
    outcome = await raced(calls, merges, branches, quorum(2))
    assert isinstance(outcome, Failed)
    assert outcome.kind == "transient"


async def test_ex93_without_a_match_what_succeeded_is_kept_or_the_group_fails() -> None:
    calls, merges = Calls(), Merges()
    join: Join[Trail] = first_matching(lambda state: state.n >= 90)
    branches = {"b": calls.takes(0, score=1), "c": calls.takes(1, score=2)}
    assert (await raced(calls, merges, branches, join, partial="keep_succeeded")).unwrap().trail == "AbcZ"
    assert not merges.outcomes[0].join_met
    outcome = await raced(calls, merges, branches, join)
    assert isinstance(outcome, Failed)
    assert (outcome.message, outcome.kind) == ("no branch matched the join (2 succeeded)", "transient")


async def test_all_of_is_the_join_without_a_word() -> None:
    calls, merges = Calls(), Merges()
    await raced(calls, merges, {"b": calls.takes(0), "c": calls.takes(1)}, all_of())
    assert merges.outcomes[0].deciding == ("b", "c")


async def test_who_has_ended_when_the_join_is_decided_has_succeeded_but_does_not_decide() -> None:
    calls, merges = Calls(), Merges()
    await raced(calls, merges, {"b": calls.takes(0), "c": calls.takes(0), "d": calls.takes(0)}, first_success())
    assert merges.statuses == ["b succeeded", "c succeeded", "d succeeded"]
    assert merges.outcomes[0].deciding == ("b",)


@pytest.mark.parametrize("retries", [0, 2])
async def test_a_predicate_that_raises_fails_the_group_and_stops_the_others(retries: int) -> None:
    calls, merges, asked = Calls(), Merges(), list[str]()

    def broken(state: Trail) -> bool:
        asked.append(state.trail)
        raise LookupError("no such score")

    clock = HandClock()
    graph = gather({"b": calls.takes(0), "c": calls.hangs()}, merges, join=first_matching(broken), outcomes=True)
    graph = fallback(graph, "Gather", retries=retries, on=LookupError)
    outcome = await Runner(graph.compile(), clock=clock).run("t", Trail())
    assert outcome.unwrap().trail == "AR"
    assert (asked, calls.cancelled, clock.timers) == (["Ab"], ["c"], 0)


async def test_the_predicates_fault_is_the_groups_own_text() -> None:
    def broken(state: Trail) -> bool:
        raise LookupError("no such score")

    outcome = await Runner(gather({"b": Calls().takes(0)}, join=first_matching(broken)).compile()).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, PredicateFailed)
    assert outcome.message == "the predicate of the join raised LookupError: no such score"


async def test_a_loser_that_makes_a_state_of_its_cancellation_has_lost_all_the_same() -> None:
    calls, merges = Calls(), Merges()

    async def stubborn(state: Trail) -> Trail:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return state.replace(trail="late")

    await raced(calls, merges, {"b": calls.takes(1), "late": stubborn}, first_success())
    assert merges.statuses == ["b succeeded", "late cancelled"]


@pytest.mark.parametrize("limit", [1, 2, 3, None])
async def test_par_01_the_merge_runs_once_and_after_all_whatever_the_limit(limit: int | None) -> None:
    calls, merges = Calls(), Merges()
    branches = {"b": calls.takes(1), "c": calls.takes(5), "d": calls.takes(3)}
    assert (await raced(calls, merges, branches, all_of(), max_concurrency=limit)).unwrap().trail == "AbcdZ"
    assert len(merges.outcomes) == 1
