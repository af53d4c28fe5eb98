"""A thread goes from one engine to the other and back, over one SQLite file, and neither can tell who did a step."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Literal

import pytest

from strata import (
    Cancelled,
    CompiledGraph,
    Completed,
    HopLimitExceeded,
    Interrupted,
    Runner,
    State,
    StateGraph,
    ThreadFinished,
    ThreadQuery,
    WrongGraph,
)
from strata.stores.sqlite import SqliteStore
from tests.interop.our_engine import Name, OurEngine, graph_of
from tests.interop.rust_engine import Peer
from tests.wire.calls import text_of

pytestmark = pytest.mark.interop

ORDER = {"order_id": "o-1", "amount": 100}
ESSAY = {"topic": "rivers", "min_score": 8}

Engine = Literal["ours", "theirs"]


def log_of(lines: list[str]) -> list[str]:
    return [text_of(json.loads(line)) for line in lines]


def steps_of(lines: list[str]) -> list[tuple[str, str | None, str | None]]:
    records = [json.loads(line) for line in lines]
    return [(record["status"], record["suspended_node"], record["next_node"]) for record in records]


@pytest.mark.parametrize("name", ["essay", "order", "wait", "book"])
def test_both_engines_export_the_same_definition(peer: Peer, name: Name) -> None:
    assert graph_of(name).definition().to_json().decode() == peer.definition(name)


# An order that dies twice and is approved in between: four steps, each by either engine


async def started_and_killed_in_price(engine: Engine, ours: OurEngine, peer: Peer, database: Path) -> str:
    if engine == "ours":
        return str(ours.killed_at("price", database, "start", "order", "o-1", state=ORDER)["idempotency_key"])
    return str(peer.killed_at("price", database, "start", "order", "o-1", state=ORDER)["idempotency_key"])


async def recovered(engine: Engine, ours: OurEngine, peer: Peer, database: Path) -> None:
    if engine == "ours":
        await ours.recover(database, "order", "o-1")
    else:
        peer.recover(database, "order", "o-1")


async def approved_and_killed_in_pay(engine: Engine, ours: OurEngine, peer: Peer, database: Path) -> str:
    if engine == "ours":
        return str(ours.killed_at("pay", database, "resume", "order", "o-1")["idempotency_key"])
    return str(peer.killed_at("pay", database, "resume", "order", "o-1", reviewer="ann")["idempotency_key"])


DEATHS_AND_APPROVAL = [
    ("running", None, "receive"),
    ("running", "receive", "price"),
    ("running", "receive", "price"),
    ("running", "price", "approve"),
    ("interrupted", "approve", "pay"),
    ("running", "approve", "pay"),
    ("running", "approve", "pay"),
    ("running", "pay", "ship"),
    ("completed", "ship", None),
]


@pytest.fixture(scope="session")
def their_log(peer: Peer, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The log of the order if the Rust engine does all four steps."""
    database = tmp_path_factory.mktemp("theirs") / "orders.db"
    peer.killed_at("price", database, "start", "order", "o-1", state=ORDER)
    peer.recover(database, "order", "o-1")
    peer.killed_at("pay", database, "resume", "order", "o-1", reviewer="ann")
    peer.recover(database, "order", "o-1")
    lines = peer.log(database, "o-1")
    assert steps_of(lines) == DEATHS_AND_APPROVAL
    return log_of(lines)


@pytest.mark.parametrize("engines", list(product(("ours", "theirs"), repeat=4))[:-1], ids="-".join)
async def test_whoever_takes_a_step_the_log_and_the_keys_are_the_same(
    peer: Peer, ours: OurEngine, their_log: list[str], tmp_path: Path, engines: tuple[Engine, Engine, Engine, Engine]
) -> None:
    database = tmp_path / "orders.db"
    assert await started_and_killed_in_price(engines[0], ours, peer, database) == "o-1/price#2"
    await recovered(engines[1], ours, peer, database)
    assert await approved_and_killed_in_pay(engines[2], ours, peer, database) == "o-1/pay#4"
    await recovered(engines[3], ours, peer, database)
    assert log_of(peer.log(database, "o-1")) == their_log
    assert log_of(await ours.log(database, "o-1")) == their_log


async def test_a_node_runs_again_under_the_same_key_in_the_other_engine(peer: Peer, ours: OurEngine, tmp_path: Path) -> None:
    database = tmp_path / "essays.db"
    keys = [
        ours.killed_at("review", database, "start", "essay", "e-1", state=ESSAY),
        peer.killed_at("review", database, "recover", "essay", "e-1"),
        ours.killed_at("review", database, "recover", "essay", "e-1"),
    ]
    assert keys == [{"hanging": "review", "idempotency_key": "e-1/review#2"}] * 3
    outcome = await ours.recover(database, "essay", "e-1")
    assert isinstance(outcome, Completed)
    assert [json.loads(line)["metadata"].get("strata.recoveries") for line in peer.log(database, "e-1")][:6] == [None, None, "1", "2", "3", None]


# A pause, answered on the other side


@pytest.mark.parametrize("reject", [False, True], ids=["approve", "reject"])
async def test_they_answer_what_we_paused(peer: Peer, ours: OurEngine, tmp_path: Path, reject: bool) -> None:
    paused = await ours.start(tmp_path / "t.db", "order", "o-1", ORDER, metadata={"tenant": "acme"})
    assert isinstance(paused, Interrupted)
    answer = peer.resume(tmp_path / "t.db", "order", "o-1", reviewer="ann", reject=reject, override={"amount": 75}, metadata=["ticket=T-9"])
    last = "refuse" if reject else "ship"
    assert (answer["outcome"], answer["state"]["amount"], answer["state"]["log"][-1]) == ("completed", 75, last)
    async with SqliteStore(tmp_path / "t.db") as store:
        thread = await Runner(graph_of("order"), store).thread("o-1")
        assert (thread.state_name, thread.state.amount, thread.waiting_at) == ("completed", 75, (last,))
        assert thread.metadata == {"tenant": "acme", "ticket": "T-9", "strata.hops": "4" if reject else "5"}
        assert thread.decision is not None
        assert (thread.decision.reviewer, thread.decision.is_approved, thread.decision.overrides) == ("ann", not reject, {"amount": 75})


@pytest.mark.parametrize("reject", [False, True], ids=["approve", "reject"])
async def test_we_answer_what_they_paused(peer: Peer, ours: OurEngine, tmp_path: Path, reject: bool) -> None:
    peer.start(tmp_path / "t.db", "order", "o-1", ORDER, metadata=["tenant=acme"])
    outcome = await ours.resume(tmp_path / "t.db", "order", "o-1", reviewer="ann", reject=reject, override={"amount": 75}, metadata={"ticket": "T-9"})
    assert isinstance(outcome, Completed)
    assert outcome.state.log[-1] == ("refuse" if reject else "ship")
    record = peer.checkpoint(tmp_path / "t.db", "o-1")
    assert record is not None
    assert record["metadata"] == {"tenant": "acme", "ticket": "T-9", "strata.hops": "4" if reject else "5"}
    assert (record["frozen_state"]["amount"], record["decision"]["overrides"]) == (75, {"amount": 75})


@pytest.mark.parametrize(("starts", "answers"), list(product(("ours", "theirs"), repeat=2)))
async def test_a_thread_that_only_records_its_stops_is_stamped_by_either(
    peer: Peer, ours: OurEngine, tmp_path: Path, starts: Engine, answers: Engine
) -> None:
    database, graph = tmp_path / "t.db", graph_of("order", durable=False)
    if starts == "ours":
        await ours.start(database, "order", "o-1", ORDER, graph=graph)
    else:
        peer.start(database, "order", "o-1", ORDER, bounds=True)
    if answers == "ours":
        await ours.resume(database, "order", "o-1", reviewer="ann", graph=graph)
    else:
        peer.resume(database, "order", "o-1", reviewer="ann", bounds=True)
    paused, stamped = (json.loads(line) for line in peer.log(database, "o-1"))
    assert (paused["schema_version"], paused["status"], paused["metadata"], paused["resumed_at"]) == ("1.6.0", "interrupted", None, None)
    assert stamped["resumed_at"] is not None
    assert {**stamped, "resumed_at": None} == paused


async def test_an_answer_is_taken_once_by_whichever_engine(peer: Peer, ours: OurEngine, tmp_path: Path) -> None:
    await ours.start(tmp_path / "t.db", "order", "o-1", ORDER)
    peer.resume(tmp_path / "t.db", "order", "o-1", reviewer="ann")
    with pytest.raises(ThreadFinished, match="not resumable"):
        await ours.resume(tmp_path / "t.db", "order", "o-1")


async def test_they_end_what_we_paused(peer: Peer, ours: OurEngine, tmp_path: Path) -> None:
    await ours.start(tmp_path / "t.db", "order", "o-1", ORDER)
    assert peer.end(tmp_path / "t.db", "order", "o-1", by="ops")["outcome"] == "cancelled"
    with pytest.raises(ThreadFinished, match="was ended"):
        await ours.resume(tmp_path / "t.db", "order", "o-1")
    again = await ours.end(tmp_path / "t.db", "order", "o-1", by="somebody else")
    assert isinstance(again, Cancelled)
    assert (again.reason, again.stopped_at, len(peer.log(tmp_path / "t.db", "o-1"))) == ("ended", ("approve",), 5)


async def test_we_end_what_they_paused(peer: Peer, ours: OurEngine, tmp_path: Path) -> None:
    peer.start(tmp_path / "t.db", "order", "o-1", ORDER)
    await ours.end(tmp_path / "t.db", "order", "o-1", by="ops")
    refusal = peer.resume(tmp_path / "t.db", "order", "o-1")
    assert refusal["text"] == "thread 'o-1' was ended: an ended thread can't be resumed"
    (thread,) = peer.threads(tmp_path / "t.db", state=["ended"])
    assert thread["metadata"] == {"strata.end_reason": "requested", "strata.ended_by": "ops"}


# Hop limits


async def test_a_hop_limit_that_they_tripped_trips_here_and_goes_on_with_a_higher_one(peer: Peer, ours: OurEngine, tmp_path: Path) -> None:
    database = tmp_path / "t.db"
    peer.start(database, "essay", "e-1", {"topic": "rivers", "min_score": 100}, limit=5)
    again = await ours.resume(database, "essay", "e-1", max_node_hops=5)
    assert isinstance(again, HopLimitExceeded)
    assert (again.hops, again.limit, again.message) == (5, 5, "hop limit of 5 reached: node 'review' would be hop 6")
    higher = peer.resume(database, "essay", "e-1", limit=7)
    assert (higher["error"], higher["hops"]) == ("hop_limit_exceeded", 7)
    done = await ours.resume(database, "essay", "e-1", override={"min_score": 3}, max_node_hops=20)
    assert isinstance(done, Completed)
    assert json.loads(peer.log(database, "e-1")[-1])["metadata"] == {"strata.hops": "9"}


# Whose thread it is


@pytest.mark.parametrize(
    ("graph_id", "version"),
    [("orders", "2"), ("other", "1"), ("", None)],
    ids=["other version", "other graph", "no identity"],
)
async def test_both_engines_refuse_the_other_graphs_thread_in_the_same_words(
    peer: Peer, ours: OurEngine, tmp_path: Path, graph_id: str, version: str | None
) -> None:
    await ours.start(tmp_path / "ours.db", "order", "o-1", ORDER)
    peer.start(tmp_path / "theirs.db", "order", "o-1", ORDER)
    refusal = peer.resume(tmp_path / "ours.db", "order", "o-1", graph_id=graph_id, graph_version=version)
    other = graph_of("order", id=graph_id or None, version=version)
    with pytest.raises(WrongGraph) as refused:
        await ours.resume(tmp_path / "theirs.db", "order", "o-1", graph=other)
    assert str(refused.value) == refusal["text"]
    assert len(await ours.log(tmp_path / "theirs.db", "o-1")) == len(peer.log(tmp_path / "ours.db", "o-1")) == 4


# Threads that stand inside a subgraph that this graph of ours does not have


class Book(State):
    title: str
    chapters: list[str] = []  # noqa: RUF012 (msgspec copies it)
    quality: int = 7
    printed: bool = False


def books() -> CompiledGraph[Book]:
    """The names of the other engine's books, without its subgraph."""

    def same(book: Book) -> Book:
        return book

    builder = StateGraph(Book).add_node("plan", same).add_node("write", same).add_node("print", same)
    return builder.add_edge("plan", "write").add_edge("write", "print").compile(id="books", version="1")


async def test_a_thread_inside_a_subgraph_is_listed_and_read(peer: Peer, tmp_path: Path) -> None:
    peer.start(tmp_path / "t.db", "book", "b-1", {"title": "rivers"})
    async with SqliteStore(tmp_path / "t.db") as store:
        runner = Runner(books(), store)
        (summary,) = (await runner.threads(ThreadQuery(states=["interrupted"], graph_id="books"))).threads
        assert (summary.thread_id, summary.waiting_at, summary.next_node) == ("b-1", ("write", "review"), "write")
        assert [record.waiting_at async for record in runner.log("b-1")] == [(), ("plan",), ("write", "draft"), ("write", "review")]
        assert (await runner.thread("b-1")).state == Book(title="rivers", chapters=["plan"])


async def test_a_thread_inside_a_subgraph_is_not_resumed_by_a_graph_without_it(peer: Peer, ours: OurEngine, tmp_path: Path) -> None:
    peer.start(tmp_path / "t.db", "book", "b-1", {"title": "rivers"})
    with pytest.raises(WrongGraph, match="checkpoint nests a child graph under 'write', which is not a subgraph node"):
        await ours.resume(tmp_path / "t.db", "order", "b-1", graph=books())
    assert len(peer.log(tmp_path / "t.db", "b-1")) == 4
    answer = peer.resume(tmp_path / "t.db", "book", "b-1", override={"min_score": 1})
    assert answer["outcome"] == "interrupted"


async def test_a_thread_inside_a_subgraph_is_ended_at_every_level_as_they_end_it(peer: Peer, ours: OurEngine, tmp_path: Path) -> None:
    for database in (tmp_path / "ours.db", tmp_path / "theirs.db"):
        peer.start(database, "book", "b-1", {"title": "rivers"}, metadata=["tenant=acme"])
    peer.end(tmp_path / "theirs.db", "book", "b-1", by="ops")
    outcome = await ours.end(tmp_path / "ours.db", "order", "b-1", by="ops", graph=books())
    assert isinstance(outcome, Cancelled)
    assert (outcome.node, outcome.stopped_at) == ("write", ("write", "review"))
    assert log_of(peer.log(tmp_path / "ours.db", "b-1")) == log_of(peer.log(tmp_path / "theirs.db", "b-1"))
