"""What a run is given beside its thread and state."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast

import pytest

from strata import Lease, OptionRefused, Runner, ThreadQuery
from strata.stores.memory import MemoryStore
from tests.graphs.trails import Trail, line


async def test_an_option_of_an_unknown_name_is_refused_with_the_near_one() -> None:
    run: Any = Runner(line("A").compile()).run
    with pytest.raises(TypeError, match=r"a run has no option 'max_hops': did you mean 'max_node_hops'\?"):
        await run("t", Trail(), max_hops=4)


async def test_a_hop_limit_that_is_no_number_is_refused() -> None:
    run: Any = Runner(line("A").compile(), MemoryStore()).run
    with pytest.raises(OptionRefused, match="a run's max_node_hops is a whole number, not '4'"):
        await run("t", Trail(), max_node_hops="4")


def test_a_store_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match=r"'essays.db' does not"):
        Runner(line("A").compile(), cast("Any", "essays.db"))


def test_a_compiled_graph_cannot_change() -> None:
    graph: Any = line("A").compile()
    with pytest.raises(AttributeError, match="a compiled graph cannot change"):
        graph.durable = False


# Options of another type than they are said to have, as a program gives them that no checker was run over


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"max_threads": "4"}, "max_threads is a whole number, not '4'"),
        ({"max_threads": True}, "max_threads is a whole number, not True"),
        ({"services": 3}, r"services= of a run or runner is a list, not 3: write \[...\] around it"),
        ({"observers": print}, r"observers= of a run or runner is a list, not <built-in function print>: write \[...\] around it"),
        ({"observers": ["print"]}, "an observer is a function of an event, and 'print' is none"),
        ({"instrument": "otel"}, "a runner's instrument takes spans and metrics, which 'otel' does not"),
        ({"lease": "worker-1"}, r"a runner's lease is a Lease\(owner, ttl\), not 'worker-1'"),
        ({"scheduler": 4}, r"a runner's scheduler is a Scheduler\(...\), not 4"),
        ({"clock": 12.5}, "a runner's clock tells the time and waits, which 12.5 does not"),
    ],
)
def test_an_option_of_a_runner_is_held_to_its_type(options: dict[str, Any], text: str) -> None:
    with pytest.raises(OptionRefused, match=text):
        Runner(line("A").compile(), MemoryStore(), **options)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"metadata": "x"}, "a run's metadata is a dict of text to text, not 'x'"),
        ({"metadata": None}, "a run's metadata is a dict of text to text, not None"),
        ({"metadata": {"a": 1}}, "the value of run metadata key 'a' must be a string, not 1"),
        ({"run_id": 7}, "a run id is text, not 7"),
        ({"priority": "high"}, "a run's priority is a whole number, not 'high'"),
        ({"services": 3}, "services= of a run or runner is a list, not 3"),
        ({"observers": print}, "observers= of a run or runner is a list, not <built-in"),
        ({"deadline": "soon"}, "a deadline is an aware datetime, a timedelta or a number of seconds from now, not 'soon'"),
        ({"max_node_hops": 1.5}, "a run's max_node_hops is a whole number, not 1.5"),
        ({"start_over": "false"}, "start_over= is True or False, not 'false'"),
    ],
)
async def test_an_option_of_a_run_is_held_to_its_type(options: dict[str, Any], text: str) -> None:
    store = MemoryStore()
    with pytest.raises(OptionRefused, match=text):
        await Runner(line("A").compile(), store).run("t", Trail(), **options)
    assert await store.load("t") is None


Call = Callable[[Any], Any]

CALLS: list[tuple[Call, str]] = [
    (lambda runner: runner.resume("t", at_sequence="1"), "at_sequence= is a whole number, not '1'"),
    (lambda runner: runner.wake("t", now="noon"), "now= is a datetime with a time zone, as in .* and not 'noon'"),
    (lambda runner: runner.end("t", by=3), "the name of who ends a thread is text, not 3"),
    (lambda runner: runner.end("t", force="no"), "force= is True or False, not 'no'"),
    (lambda runner: runner.end("t", metadata="x"), "a run's metadata is a dict of text to text, not 'x'"),
    (lambda runner: runner.reopen("t", by=3), "the name of who reopens a thread is text, not 3"),
    (lambda runner: runner.threads("interrupted"), r"threads are listed by a ThreadQuery\(...\), not 'interrupted'"),
    (lambda runner: runner.threads(ThreadQuery(limit=cast("Any", "x"))), "a page size is a whole number, not 'x'"),
    (lambda runner: runner.log("t", after="1").__anext__(), "the after= of a log is a whole number, not '1'"),
    (lambda runner: runner.wake_due(limit="a"), "a page size is a whole number, not 'a'"),
    (lambda runner: runner.wake_due(now=12.5), "now= is a datetime with a time zone, as in .* and not 12.5"),
    (lambda runner: runner.wake_due(metadata="x"), "a sweep's metadata is a dict of text to text, not 'x'"),
    (lambda runner: runner.wake_due(max_concurrent=1.5), "a sweep's max_concurrent is a whole number, not 1.5"),
    (lambda runner: runner.wake_due(match_graph="no"), "a sweep's match_graph is True or False, not 'no'"),
    (lambda runner: runner.wake_due(stop=True), r"a sweep's stop says whether to stop, with is_set\(\), which True does not"),
    (lambda runner: runner.wake_due(priority="high"), "a run's priority is a whole number, not 'high'"),
    (
        lambda runner: runner.recover_stale(stale_after="1h"),
        "stale_after= cannot be used: a duration is a timedelta or a number of seconds, not '1h'",
    ),
    (lambda runner: runner.recover_stale(stale_after=-1), "stale_after= must be at least 0"),
    (lambda runner: runner.recover_stale(stale_after=1e300), r"stale_after= of 1e\+300 s goes back behind the year 1"),
    (lambda runner: runner.recover_stale(stale_after=1, max_recoveries="x"), "max_recoveries= is a whole number, not 'x'"),
    (lambda runner: runner.stream("t", Trail(), overflow="lose").__aenter__(), 'the overflow= of a stream is "wait" or "drop", not \'lose\''),
    (lambda runner: runner.stream("t", Trail(), select=["Token"]).__aenter__(), "the select= of a stream lists classes of events, .* not 'Token'"),
]


@pytest.mark.parametrize(("call", "text"), CALLS)
async def test_a_parameter_of_a_call_is_held_to_its_type(call: Call, text: str) -> None:
    with pytest.raises(OptionRefused, match=text):
        await call(Runner(line("A").compile(), MemoryStore()))


@pytest.mark.parametrize(
    ("lease", "text"),
    [
        (Lease(cast("Any", 1), 30), "the owner of a run's lease is text, not 1"),
        (Lease("worker-1", cast("Any", "30")), "a run's lease ttl cannot be used: a duration is a timedelta or a number of seconds, not '30'"),
    ],
)
async def test_a_lease_is_held_to_its_types(lease: Lease, text: str) -> None:
    with pytest.raises(OptionRefused, match=text):
        await Runner(line("A").compile(), MemoryStore(), lease=lease).run("t", Trail())


async def test_who_purges_says_a_time_and_not_an_age() -> None:
    with pytest.raises(OptionRefused, match=r"as in datetime.now\(UTC\) - timedelta\(days=30\), and not datetime.timedelta\(days=30\)"):
        await MemoryStore().purge(older_than=cast("Any", timedelta(days=30)))
