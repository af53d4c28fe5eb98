"""Random graphs, runs and answers: the engine against the model, from the start and from each of its records."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata import (
    CompiledGraph,
    Definition,
    FatalError,
    GraphInvalid,
    GraphWarning,
    Outcome,
    Refused,
    Runner,
    State,
    StateGraph,
    TransientError,
)
from strata.checkpoint.record import Checkpoint
from strata.stores.memory import MemoryStore
from strata.wire.checkpoint import decode_checkpoint
from tests.engine.walk_model import MODULUS, Answer, Map, Model, Seen, Spot, Way, name_of
from tests.wire.replay import log_of, stocked

THREAD = "t"

numbers = st.integers(0, MODULUS - 1)
subsets = st.frozensets(numbers)
answers = st.builds(Answer, rejects=st.booleans(), number=st.none() | numbers, limit=st.none() | st.integers(1, 20))


class Walk(State):
    number: int = 0
    trail: tuple[str, ...] = ()


@st.composite
def maps(draw: st.DrawFn) -> Map:
    """Sound graphs: each node reaches the next one, plain edges lead on only."""
    size = draw(st.integers(1, 5))
    return Map(spots=tuple(draw(spots(at, size)) for at in range(size)), limit=draw(st.integers(1, 12)))


@st.composite
def spots(draw: st.DrawFn, at: int, size: int) -> Spot:
    ways: list[Way] = []
    if at < size - 1:
        plain = st.builds(Way, st.integers(at + 1, size - 1), st.none())
        guarded = st.builds(Way, st.integers(0, size - 1), subsets)
        ways = draw(st.lists(plain | guarded, max_size=3))
        ways.insert(draw(st.integers(0, len(ways))), Way(at + 1, draw(st.none() | subsets)))
    pauses = draw(st.booleans())
    return Spot(
        adds=draw(numbers),
        fails_at=draw(st.just(frozenset[int]()) | subsets),
        how=draw(st.sampled_from(["transient", "fatal", "bug"])),
        ways=tuple(ways),
        pauses=pauses,
        reject_route=draw(st.none() | st.integers(0, size - 1)) if pauses else None,
        is_async=draw(st.booleans()),
    )


def handler(here: str, spot: Spot, began: list[str]) -> Callable[[Walk], Any]:
    def step(walk: Walk) -> Walk:
        began.append(here)
        if walk.number in spot.fails_at:
            raise {"transient": TransientError, "fatal": FatalError, "bug": ValueError}[spot.how]("no")
        return walk.replace(number=(walk.number + spot.adds) % MODULUS, trail=(*walk.trail, here))

    async def step_async(walk: Walk) -> Walk:
        return step(walk)

    return step_async if spot.is_async else step


def guard(values: frozenset[int]) -> Callable[[Walk], bool]:
    return lambda walk: walk.number in values


def builder_of(graph: Map, began: list[str]) -> StateGraph[Walk]:
    builder = StateGraph(Walk)
    for at, spot in enumerate(graph.spots):
        builder.add_node(name_of(at), handler(name_of(at), spot, began), inline=not spot.is_async)
        for way in spot.ways:
            if way.when is None:
                builder.add_edge(name_of(at), name_of(way.target))
            else:
                builder.add_conditional_edge(name_of(at), name_of(way.target), guard(way.when))
        if spot.pauses:
            builder.add_interrupt_boundary(name_of(at), on_reject=None if spot.reject_route is None else name_of(spot.reject_route))
    return builder


def compiled(graph: Map, began: list[str], *, durable: bool) -> CompiledGraph[Walk]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        return builder_of(graph, began).compile(durable=durable, max_node_hops=graph.limit)


def seen(record: bytes) -> Seen:
    checkpoint = decode_checkpoint(record)
    metadata = checkpoint.metadata or {}
    state = msgspec.json.decode(checkpoint.frozen_state, type=Walk)
    return Seen(
        status=checkpoint.status,
        suspended=checkpoint.suspended_node,
        next_node=checkpoint.next_node,
        number=state.number,
        trail=state.trail,
        hops=int(metadata["strata.hops"]),
        error_kind=metadata.get("error_kind"),
        attempts=metadata.get("attempts"),
        approved=None if checkpoint.decision is None else checkpoint.decision.is_approved,
        is_stamped=checkpoint.resumed_at is not None,
    )


class Thread:
    """The same calls on the engine. `limits` has the hop limit of the run that wrote each record."""

    def __init__(self, graph: Map, *, durable: bool) -> None:
        self.began: list[str] = []
        self.graph = compiled(graph, self.began, durable=durable)
        self.store = MemoryStore()
        self.came_to = ""
        self.limits: list[int | None] = []

    async def run(self) -> None:
        await self._make(Runner(self.graph, self.store).run(THREAD, Walk()), None)

    async def answer(self, answer: Answer) -> bool:
        said: Any = self.graph.reject("ann") if answer.rejects else self.graph.approve("ann")
        if answer.number is not None:
            said = said.override(number=answer.number)
        try:
            await self._make(Runner(self.graph, self.store).resume(THREAD, said, max_node_hops=answer.limit), answer.limit)
        except Refused:
            return False
        return True

    async def log(self) -> list[bytes]:
        return await log_of(self.store, THREAD)

    async def _make(self, call: Any, limit: int | None) -> None:
        outcome: Outcome[Walk] = await call
        self.came_to = {"HopLimitExceeded": "failed"}.get(type(outcome).__name__, type(outcome).__name__.lower())
        self.limits += [limit] * (len(await self.log()) - len(self.limits))


@given(graph=maps(), said=st.lists(answers, max_size=4), durable=st.booleans())
async def test_the_engine_does_and_stores_what_the_model_says(graph: Map, said: list[Answer], durable: bool) -> None:
    model, thread = Model(graph, durable=durable), Thread(graph, durable=durable)
    model.run()
    await thread.run()
    for answer in said:
        assert await thread.answer(answer) == model.answer(answer)
    assert thread.came_to == model.came_to
    assert thread.began == model.began
    assert [seen(record) for record in await thread.log()] == model.log


@given(graph=maps(), said=st.lists(answers, max_size=3))
async def test_a_thread_that_died_behind_any_of_its_records_comes_to_the_same_end(graph: Map, said: list[Answer]) -> None:
    thread = Thread(graph, durable=True)
    await thread.run()
    for answer in said:
        await thread.answer(answer)
    log = await thread.log()
    for number, record in enumerate(log):
        if seen(record).status != "running":
            continue
        stop = next(later for later in range(number, len(log)) if seen(log[later]).status != "running")
        store = await stocked(log[: number + 1])
        await Runner(thread.graph, store).recover(THREAD, max_node_hops=thread.limits[number])
        claim, *rest = (await log_of(store, THREAD))[number + 1 :]
        assert (seen(claim), decode_checkpoint(claim).metadata) == (seen(record), _recovered(decode_checkpoint(record)))
        assert [seen(later) for later in rest] == [seen(later) for later in log[number + 1 : stop + 1]]


def _recovered(checkpoint: Checkpoint) -> dict[str, str]:
    return {**(checkpoint.metadata or {}), "strata.recoveries": "1"}


@given(graph=maps())
def test_a_graph_that_compiles_has_a_definition_that_reads_back_as_it_is(graph: Map) -> None:
    definition = compiled(graph, [], durable=True).definition()
    assert Definition.from_json(definition.to_json()) == definition
    assert Definition.from_json(definition.to_json()).to_json() == definition.to_json()


names = st.sampled_from(["a", "b", "c", "d", "gone"])


@given(
    nodes=st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=4),
    edges=st.lists(st.tuples(names, names, st.booleans()), max_size=8),
    boundaries=st.lists(st.tuples(names, st.none() | names), max_size=2),
    entry=st.none() | names,
)
def test_compile_refuses_exactly_what_validate_finds(
    nodes: list[str], edges: list[tuple[str, str, bool]], boundaries: list[tuple[str, str | None]], entry: str | None
) -> None:
    builder = StateGraph(Walk)
    for node in nodes:
        builder.add_node(node, handler(node, Spot(adds=1), []), inline=True)
    for start, to, is_guarded in edges:
        if is_guarded:
            builder.add_conditional_edge(start, to, guard(frozenset()))
        else:
            builder.add_edge(start, to)
    for node, route in boundaries:
        builder.add_interrupt_boundary(node, on_reject=route)
    if entry is not None:
        builder.set_entry_point(entry)
    problems = builder.validate()
    errors = tuple(problem for problem in problems if problem.severity == "error")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        if errors:
            with pytest.raises(GraphInvalid) as refused:
                builder.compile()
            assert refused.value.problems == errors
        else:
            assert builder.compile().warnings == problems
