"""A store of a user's own that answers with what is no lease: it is named, with what is wrong, and nothing is written."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from strata import Completed, Lease, Runner, StateGraph, StoreError
from strata.checkpoint.record import Checkpoint
from strata.ports import Acquired, Held, ThreadLease
from strata.stores.memory import MemoryStore
from tests.clocks import START, HandClock
from tests.graphs.trails import Trail, line

TTL = 30.0


class OddStore(MemoryStore):
    """Gives leases as any store, or the answer that it is told to give to a call."""

    def __init__(self, **answers: Any) -> None:
        super().__init__(clock=HandClock())
        self._answers = answers

    async def try_acquire_lease(self, thread_id: str, owner: str, ttl: float, /) -> Any:
        return self._answers.get("try_acquire_lease", Acquired(lease()))

    async def renew_lease(self, lease: ThreadLease, ttl: float, /) -> Any:
        return self._answers.get("renew_lease", lease)

    async def get_lease(self, thread_id: str, /) -> Any:
        return self._answers.get("get_lease")

    async def release_lease(self, lease: ThreadLease, /) -> bool:
        return True

    async def save_under_lease(self, checkpoint: Checkpoint, lease: ThreadLease, /, expected: int | None = None) -> int:
        return await self.save_if_latest(checkpoint, expected)


def lease(**fields: Any) -> ThreadLease:
    right: dict[str, Any] = {"thread_id": "t", "owner": "worker-1", "token": 1, "expires_at": int((START + TTL) * 1000)}
    return ThreadLease(**right | fields)


NO_LEASES: list[tuple[Any, str]] = [
    ("abc", "with 'abc' for a lease, and not with a ThreadLease"),
    (lease(token="abc"), "with a lease whose token is 'abc', and not a whole number"),
    (lease(token=1.5), "with a lease whose token is 1.5, and not a whole number"),
    (lease(token=True), "with a lease whose token is True, and not a whole number"),
    (lease(token=None), "with a lease whose token is None, and not a whole number"),
    (lease(expires_at="soon"), "with a lease whose expires_at is 'soon', and not a Unix time in whole milliseconds"),
    (lease(owner=None), "with a lease whose owner is None, and no text"),
]


async def refusal(call: Any, text: str) -> None:
    with pytest.raises(StoreError, match=re.escape(text)) as refused:
        await call
    assert refused.value.written is False


@pytest.mark.parametrize("answer", [None, True, lease()])
async def test_an_answer_that_is_neither_acquired_nor_held(answer: Any) -> None:
    store = OddStore(try_acquire_lease=answer)
    text = f"the store OddStore answered try_acquire_lease() with {answer!r:.80}, and not with Acquired(lease) or Held(lease)"
    await refusal(Runner(line("A").compile(), store, lease=Lease("worker-1", TTL), clock=store.clock).run("t", Trail()), text)
    assert await store.load("t") is None


@pytest.mark.parametrize("kind", [Acquired, Held])
@pytest.mark.parametrize(("given", "text"), NO_LEASES)
async def test_a_lease_that_is_none_is_told_before_anything_is_written(kind: Any, given: Any, text: str) -> None:
    store = OddStore(try_acquire_lease=kind(given))
    runner = Runner(line("A").compile(), store, lease=Lease("worker-1", TTL), clock=store.clock)
    await refusal(runner.run("t", Trail()), f"the store OddStore answered try_acquire_lease() {text}")
    assert await store.load("t") is None


@pytest.mark.parametrize(("given", "text"), NO_LEASES)
async def test_a_holder_that_is_none_is_told_to_whoever_recovers_the_thread(given: Any, text: str) -> None:
    store, graph = OddStore(get_lease=given), line("A", "B").compile()
    await Runner(graph, store, clock=store.clock).run("t", Trail())
    died = (await store.get_log("t", limit=1)).records[0].checkpoint
    assert isinstance(died, Checkpoint)
    await store.save(died)
    runner = Runner(graph, store, clock=store.clock)
    await refusal(runner.recover("t"), f"the store OddStore answered get_lease() {text}")
    await refusal(runner.end("t"), f"the store OddStore answered get_lease() {text}")


@pytest.mark.parametrize(("given", "text"), NO_LEASES)
async def test_a_renewal_that_is_no_lease_counts_as_one_that_failed(given: Any, text: str, caplog: pytest.LogCaptureFixture) -> None:
    store, entered, opened = OddStore(renew_lease=given), asyncio.Event(), asyncio.Event()

    async def wait(trail: Trail) -> Trail:
        entered.set()
        await opened.wait()
        return trail

    clock = store.clock
    assert isinstance(clock, HandClock)
    runner = Runner(StateGraph(Trail).add_node("A", wait).compile(), store, lease=Lease("worker-1", TTL), clock=clock)
    running = asyncio.ensure_future(runner.run("t", Trail()))
    await entered.wait()
    await clock.pass_time(TTL / 3)
    assert f"could not be renewed: the store OddStore answered renew_lease() {text}" in caplog.text
    opened.set()
    assert (await running).unwrap() == Trail()


async def test_a_lease_may_live_longer_than_the_calendar() -> None:
    store = OddStore(try_acquire_lease=Acquired(lease(expires_at=2**62)))
    seen: list[object] = []
    runner = Runner(line("A").compile(), store, lease=Lease("worker-1", TTL), clock=store.clock, observers=[seen.append])
    assert isinstance(await runner.run("t", Trail()), Completed)
    assert "9999" in str([event for event in seen if type(event).__name__ == "LeaseAcquired"])
