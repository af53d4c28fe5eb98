"""The recorded graphs inside nodes: what their levels store, and who is asked in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from strata import CompiledGraph, Context, StateGraph
from strata.graph.nodes import NodeFunction
from tests.graphs.books import books_over, books_over_orders, shelves_over
from tests.graphs.charge import Switch, charge_with_switch
from tests.graphs.essays import Essay, essays_from_data, reviewed_essays
from tests.graphs.stopped_essays import dying_essays, lost_once, stopped_essays
from tests.wire.policies import bounds, every
from tests.wire.scenario import Scenario


def told(who: str) -> NodeFunction[Essay]:
    """A node that writes down all that its context says."""

    def note(essay: Essay, ctx: Context) -> Essay:
        reviewer = "-" if ctx.decision is None else ctx.decision.reviewer
        said = (
            f"{who}: thread={ctx.thread_id} node={ctx.node} path={ctx.path} attempt={ctx.attempt} run={ctx.run_id} "
            f"key={ctx.idempotency_key} recovery={str(ctx.is_recovery).lower()} tenant={ctx.metadata.get('tenant', '-')} decision={reviewer}"
        )
        return essay.replace(notes=[*essay.notes, said])

    return note


def children_told() -> StateGraph[Essay]:
    return StateGraph(Essay).add_node("first", told("child")).add_node("second", told("child")).add_edge("first", "second")


def contexts_over(child: CompiledGraph[Essay]) -> StateGraph[Essay]:
    """alpha -> sub, which is the child -> omega."""
    return (
        StateGraph(Essay)
        .add_node("alpha", told("parent"))
        .add_subgraph("sub", child, enter=lambda essay: essay, leave=lambda _, inner: inner)
        .add_node("omega", told("parent"))
        .add_edge("alpha", "sub")
        .add_edge("sub", "omega")
    )


def contexts_with_boundary() -> CompiledGraph[Essay]:
    return every(contexts_over(every(children_told())).add_interrupt_boundary("alpha"))


def levels(compile: Any) -> tuple[CompiledGraph[Any], ...]:
    """shelves over books over reviewed essays, outermost first."""
    essays = compile(reviewed_essays())
    books = compile(books_over(essays))
    return compile(shelves_over(books)), books, essays


SHELVES, SHELVED_BOOKS, SHELVED_ESSAYS = levels(bounds)
REVIEWED = bounds(reviewed_essays())
IDENTIFIED = every(reviewed_essays(), id="essays", version="7")
STOPPED = every(stopped_essays())
SWITCH = bounds(charge_with_switch().set_recovery_policy("charge", retries=2))
DYING = every(dying_essays())

LEVELS: Mapping[str, Scenario] = {
    "context_keys": Scenario(
        graph=bounds(contexts_over(bounds(children_told()))),
        graphs={
            1: every(contexts_over(every(children_told()))),
            2: contexts_with_boundary(),
            3: contexts_with_boundary(),
            4: bounds(contexts_over(bounds(children_told())), max_node_hops=10),
        },
        tells_recovery=True,
    ),
    "recovery_subgraph": Scenario(graph=every(books_over(DYING)), inside=(DYING,)),
    "streaming_retry_subgraph": Scenario(graph=bounds(books_over(bounds(lost_once())))),
    "sub_cancel": Scenario(graph=every(books_over(STOPPED)), inside=(STOPPED,)),
    "sub_complete": Scenario(graph=every(books_over(every(essays_from_data())))),
    "sub_complete_boundaries": Scenario(graph=bounds(books_over(bounds(essays_from_data())))),
    "sub_end": Scenario(graph=SHELVES, inside=(SHELVED_BOOKS, SHELVED_ESSAYS)),
    "sub_fail": Scenario(
        graph=bounds(books_over_orders(SWITCH).set_recovery_policy("order", retries=1)), inside=(SWITCH,), services={1: [Switch(is_on=True)]}
    ),
    "sub_hop_limit": Scenario(
        graph=bounds(books_over(bounds(essays_from_data(), max_node_hops=4)), max_node_hops=50), inside=(bounds(essays_from_data()),)
    ),
    "sub_interrupt": Scenario(graph=bounds(books_over(REVIEWED)), inside=(REVIEWED,)),
    "sub_interrupt_every": Scenario(graph=every(books_over(IDENTIFIED), id="books", version="1"), inside=(IDENTIFIED,)),
    "sub_interrupt_levels": Scenario(graph=SHELVES, inside=(SHELVED_BOOKS, SHELVED_ESSAYS)),
    "sub_timeout": Scenario(graph=every(books_over(STOPPED, timeout=0.060)), inside=(STOPPED,)),
}
