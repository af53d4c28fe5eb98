"""Threads that stand in a subgraph, wait for an event or a timer, or were asked in mid-node, handed from one engine to the other."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pytest

from strata import Completed, Context, Decision, Interrupted, ThreadFinished
from tests.graphs.orders import Order, orders_that_refuse, step
from tests.interop.our_engine import OurEngine
from tests.interop.rust_engine import Peer
from tests.wire.calls import text_of

pytestmark = pytest.mark.interop

Engine = Literal["ours", "theirs"]
Engines = tuple[Engine, ...]

BOOK = {"title": "rivers", "quality": 3}
ORDER = {"order_id": "o-1", "amount": 100}


def every_way(steps: int) -> list[Engines]:
    """Who takes which step: all ways but the one in which the Rust engine takes all."""
    engines: tuple[Engine, Engine] = ("ours", "theirs")
    return list(product(engines, repeat=steps))[:-1]


def log_of(lines: list[str]) -> list[str]:
    return [text_of(json.loads(line)) for line in lines]


# A book that dies twice inside its child, and is approved there in between


async def write_a_book(peer: Peer, ours: OurEngine, database: Path, engines: Engines) -> list[object]:
    starts, recovers, approves, finishes = engines
    keys: list[object] = []
    if starts == "ours":
        keys.append(ours.killed_at("write/review", database, "start", "book", "b-1", state=BOOK)["idempotency_key"])
    else:
        keys.append(peer.killed_at("write/review", database, "start", "book", "b-1", state=BOOK)["idempotency_key"])
    await recover_book(peer, ours, database, recovers)
    if approves == "ours":
        keys.append(ours.killed_at("write/publish", database, "resume", "book", "b-1")["idempotency_key"])
    else:
        keys.append(peer.killed_at("write/publish", database, "resume", "book", "b-1", reviewer="ann")["idempotency_key"])
    await recover_book(peer, ours, database, finishes)
    return keys


async def recover_book(peer: Peer, ours: OurEngine, database: Path, engine: Engine) -> None:
    if engine == "ours":
        await ours.recover(database, "book", "b-1")
    else:
        peer.recover(database, "book", "b-1")


@pytest.fixture(scope="session")
async def their_book(peer: Peer, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The log of the book if the Rust engine does all."""
    database = tmp_path_factory.mktemp("books") / "theirs.db"
    await write_a_book(peer, OurEngine(), database, ("theirs",) * 4)
    log = log_of(peer.log(database, "b-1"))
    assert json.loads(log[-1])["status"] == "completed"
    return log


@pytest.mark.parametrize("engines", every_way(4), ids="-".join)
async def test_a_thread_inside_a_subgraph_goes_from_engine_to_engine(
    peer: Peer, ours: OurEngine, their_book: list[str], tmp_path: Path, engines: Engines
) -> None:
    database = tmp_path / "books.db"
    assert await write_a_book(peer, ours, database, engines) == ["b-1/write/review#2.2", "b-1/write/publish#2.3"]
    assert log_of(peer.log(database, "b-1")) == their_book
    assert log_of(await ours.log(database, "b-1")) == their_book


@pytest.mark.parametrize("answers", ["ours", "theirs"])
async def test_an_answer_with_an_override_reaches_the_child(peer: Peer, ours: OurEngine, tmp_path: Path, answers: Engine) -> None:
    """The edge was chosen at the pause: the child drafts once more, whatever the answer says."""
    database = tmp_path / "books.db"
    if answers == "theirs":
        await ours.start(database, "book", "b-1", {"title": "rivers"})
        peer.resume(database, "book", "b-1", reviewer="ann", override={"min_score": 1})
    else:
        peer.start(database, "book", "b-1", {"title": "rivers"})
        await ours.resume(database, "book", "b-1", reviewer="ann", override={"min_score": 1})
    record = peer.checkpoint(database, "b-1")
    assert record is not None
    inner = record["nested"]
    assert (record["status"], record["next_node"], inner["next_node"]) == ("interrupted", "write", "publish")
    assert (inner["frozen_state"]["min_score"], inner["frozen_state"]["revision"], inner["graph"]) == (1, 2, {"id": "essays", "version": "7"})
    assert inner["decision"]["overrides"] == {"min_score": 1}


# An order that waits for its payment, and then for a timer


async def pay_and_wait(peer: Peer, ours: OurEngine, database: Path, engines: Engines) -> None:
    starts, recovers, tells, wakes = engines
    if starts == "ours":
        ours.killed_at("receive", database, "start", "wait", "o-1", state=ORDER)
    else:
        peer.killed_at("receive", database, "start", "wait", "o-1", state=ORDER)
    if recovers == "ours":
        await ours.recover(database, "wait", "o-1")
    else:
        peer.recover(database, "wait", "o-1")
    if tells == "ours":
        await ours.signal(database, "wait", "o-1", override={"amount": 99, "paid": True})
    else:
        peer.signal(database, "wait", "o-1", override={"amount": 99, "paid": True})
    assert await woken(peer, ours, database, wakes, seconds=1) == []
    assert await woken(peer, ours, database, wakes, seconds=62) == [("o-1", "timer")]


async def woken(peer: Peer, ours: OurEngine, database: Path, engine: Engine, *, seconds: int) -> list[tuple[str, str]]:
    if engine == "ours":
        return await ours.wake(database, "wait", seconds=seconds)
    report = peer.wake(database, "wait", seconds=seconds)
    return [(thread["thread_id"], thread["reason"]) for thread in report["woken"]]


@pytest.fixture(scope="session")
async def their_wait(peer: Peer, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The log of the order if the Rust engine does all."""
    database = tmp_path_factory.mktemp("waits") / "theirs.db"
    await pay_and_wait(peer, OurEngine(), database, ("theirs",) * 4)
    log = log_of(peer.log(database, "o-1"))
    assert json.loads(log[-1])["status"] == "completed"
    return log


@pytest.mark.parametrize("engines", every_way(4), ids="-".join)
async def test_a_waiting_thread_goes_from_engine_to_engine(
    peer: Peer, ours: OurEngine, their_wait: list[str], tmp_path: Path, engines: Engines
) -> None:
    database = tmp_path / "waits.db"
    await pay_and_wait(peer, ours, database, engines)
    assert log_of(peer.log(database, "o-1")) == their_wait
    assert log_of(await ours.log(database, "o-1")) == their_wait


@pytest.mark.parametrize(("starts", "wakes"), list(product(("ours", "theirs"), repeat=2)))
async def test_a_payment_that_never_came_times_out_in_either_engine(
    peer: Peer, ours: OurEngine, tmp_path: Path, starts: Engine, wakes: Engine
) -> None:
    database = tmp_path / "waits.db"
    if starts == "ours":
        await ours.start(database, "wait", "o-1", ORDER)
    else:
        peer.start(database, "wait", "o-1", ORDER)
    assert await woken(peer, ours, database, wakes, seconds=80) == []
    assert await woken(peer, ours, database, wakes, seconds=92) == [("o-1", "timeout")]
    record = peer.checkpoint(database, "o-1")
    assert record is not None
    assert (record["status"], record["frozen_state"]["log"], record["metadata"]) == ("completed", ["receive", "expire"], {"strata.hops": "3"})


async def test_both_engines_list_what_the_other_one_waits_for(peer: Peer, ours: OurEngine, tmp_path: Path) -> None:
    await ours.start(tmp_path / "ours.db", "wait", "o-1", ORDER)
    peer.start(tmp_path / "theirs.db", "wait", "o-1", ORDER)
    (here,), (there,) = peer.threads(tmp_path / "ours.db"), peer.threads(tmp_path / "theirs.db")
    assert here["wait"]["wake_at"] is not None
    assert {**here, "wait": None, "updated_at": None} == {**there, "wait": None, "updated_at": None}
    assert {**here["wait"], "wake_at": None} == {**there["wait"], "wake_at": None}


# A question in mid-node: the other engine can only approve, reject, override and end; each but the end enters the node again


def asking_orders(said: list[bool]) -> Any:
    """Our order, whose `receive` asks a person before it is done."""

    async def receive(order: Order, ctx: Context) -> Order:
        answer = ctx.interrupt("Shall we take it?")
        assert isinstance(answer, Decision)
        said.append(answer.is_approved)
        return step(order, "receive", "received")

    return orders_that_refuse().add_node("receive", receive).compile(id="orders", version="1")


@pytest.mark.parametrize("reject", [False, True], ids=["approve", "reject"])
async def test_they_answer_what_a_node_of_ours_asked(peer: Peer, ours: OurEngine, tmp_path: Path, reject: bool) -> None:
    database = tmp_path / "t.db"
    asked = await ours.start(database, "order", "o-1", ORDER, graph=asking_orders([]))
    assert isinstance(asked, Interrupted)
    assert (asked.suspended_node, asked.next_node, asked.waiting_at) == ("receive", "receive", ("receive",))
    answer = peer.resume(database, "order", "o-1", reviewer="ann", reject=reject, override={"amount": 75})
    assert (answer["outcome"], answer["waiting_at"]) == ("interrupted", ["approve"])
    assert (answer["state"]["amount"], answer["state"]["log"]) == (75, ["receive", "price", "approve"])
    done = await ours.resume(database, "order", "o-1", reviewer="bob")
    assert isinstance(done, Completed)
    assert done.state.log == ["receive", "price", "approve", "pay", "ship"]


async def test_a_node_of_ours_asks_again_where_they_died_with_the_answer(peer: Peer, ours: OurEngine, tmp_path: Path) -> None:
    """The other engine keeps no answers to questions: what it was told is known to its own run of the node only."""
    database, said = tmp_path / "t.db", list[bool]()
    await ours.start(database, "order", "o-1", ORDER, graph=asking_orders(said))
    died = peer.killed_at("receive", database, "resume", "order", "o-1", reviewer="ann")
    assert died["idempotency_key"] == "o-1/receive#1"
    again = await ours.recover(database, "order", "o-1", graph=asking_orders(said))
    assert isinstance(again, Interrupted)
    assert (again.waiting_at, said) == (("receive",), [])
    paused = await ours.resume(database, "order", "o-1", reviewer="ann", reject=True, graph=asking_orders(said))
    assert isinstance(paused, Interrupted)
    assert (paused.waiting_at, said) == (("approve",), [False])


async def test_they_end_what_a_node_of_ours_asked(peer: Peer, ours: OurEngine, tmp_path: Path) -> None:
    database = tmp_path / "t.db"
    await ours.start(database, "order", "o-1", ORDER, graph=asking_orders([]))
    assert peer.end(database, "order", "o-1", by="ops")["stopped_at"] == ["receive"]
    with pytest.raises(ThreadFinished, match="was ended"):
        await ours.resume(database, "order", "o-1", graph=asking_orders([]))
