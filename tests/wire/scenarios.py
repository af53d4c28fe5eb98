"""Every recorded scenario: how we play it, or why not yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from strata import Context, State, StateGraph, StoredLevel
from tests.graphs.essays import Essay, draft, essays_from_data, publish, review
from tests.graphs.orders import Order, approve, order_nodes, orders_that_refuse, price, receive, ship
from tests.graphs.stopped_orders import waiting_last, waiting_orders
from tests.graphs.values import values
from tests.wire.charge_scenarios import CHARGES
from tests.wire.differences import REFERENCE, failed_with, nothing, refused, signal, without_unknown_field
from tests.wire.durable_scenarios import DURABLE
from tests.wire.fanout_scenarios import FANOUTS
from tests.wire.level_scenarios import LEVELS
from tests.wire.policies import bounds, every
from tests.wire.scenario import Differs, Left, Scenario
from tests.wire.wait_scenarios import WAITS

TOOLS = "tools come with a later issue"


# Graphs of one scenario only


def orders() -> StateGraph[Order]:
    return order_nodes().add_interrupt_boundary("approve")


def orders_without_pay() -> StateGraph[Order]:
    return (
        StateGraph(Order)
        .add_node("receive", receive)
        .add_node("price", price)
        .add_node("approve", approve)
        .add_node("ship", ship)
        .add_edge("receive", "price")
        .add_edge("price", "approve")
        .add_edge("approve", "ship")
        .add_interrupt_boundary("approve")
    )


def order_with_three_boundaries() -> StateGraph[Order]:
    return order_nodes().add_interrupt_boundary("price").add_interrupt_boundary("approve").add_interrupt_boundary("ship")


def order_ends_at_its_boundary() -> StateGraph[Order]:
    return (
        StateGraph(Order).add_node("receive", receive).add_node("approve", approve).add_edge("receive", "approve").add_interrupt_boundary("approve")
    )


class Title(State):
    title: str


def orders_of_another_state() -> StateGraph[Title]:
    """The names of the order's nodes over a state that no order fits."""

    def same(title: Title) -> Title:
        return title

    builder = StateGraph(Title).add_node("receive", same).add_node("price", same).add_node("approve", same).add_node("pay", same)
    return builder.add_edge("receive", "price").add_edge("price", "approve").add_edge("approve", "pay").add_interrupt_boundary("approve")


def essays_without_a_way_out() -> StateGraph[Essay]:
    return (
        StateGraph(Essay)
        .add_node("draft", draft)
        .add_node("review", review)
        .add_node("publish", publish)
        .add_edge("draft", "review")
        .add_conditional_edge("review", "draft", lambda essay: False)
        .add_conditional_edge("review", "publish", lambda essay: essay.score > 5)
    )


def essays_with_a_bug() -> StateGraph[Essay]:
    def review_or_crash(essay: Essay) -> Essay:
        if essay.topic == "bad":
            raise RuntimeError("no topic")
        return essay.replace(score=min(essay.revision * 3, 10))

    return StateGraph(Essay).add_node("draft", draft).add_node("review", review_or_crash).add_edge("draft", "review")


def essays_that_stream() -> StateGraph[Essay]:
    async def write(essay: Essay, ctx: Context) -> Essay:
        for text in ("Once", " upon", " a", " river"):
            await ctx.token(text)
        return essay.replace(notes=[*essay.notes, "written"])

    return (
        StateGraph(Essay)
        .add_node("draft", draft)
        .add_node("write", write)
        .add_node("publish", publish)
        .add_edge("draft", "write")
        .add_edge("write", "publish")
    )


def refuse_every(old: StoredLevel) -> StoredLevel | None:
    return None


def to_cents(old: StoredLevel) -> StoredLevel | None:
    """In cents; and a thread id, which a migration cannot change."""
    return msgspec.structs.replace(old, state={**old.state, "amount": old.state["amount"] * 100}, thread_id="ignored")


def as_it_is(old: StoredLevel) -> StoredLevel | None:
    return old


GAP: dict[str, Any] = {
    "schema_version": "1.0.0",
    "thread_id": "essay-1",
    "status": "failed",
    "suspended_node": "review",
    "next_node": "review",
    "frozen_state": {"min_score": 8, "notes": ["draft 1"], "published": False, "revision": 1, "score": 0, "topic": "rivers"},
    "metadata": {"error": "no outgoing edge condition matched for node 'review'", "error_kind": "fatal"},
    "created_at": "2026-11-30T19:27:24Z",
    "resumed_at": None,
}
"""What we write of a routing gap in a run that is not durable: the other engine's record of a durable one, without its hops."""

NO_PAY = "the next node of thread 'order-1' is 'pay', which this graph does not have: its nodes are"

SCENARIOS: Mapping[str, Scenario | str] = {
    **CHARGES,
    **LEVELS,
    **FANOUTS,
    **WAITS,
    **DURABLE,
    "boundary_is_last": Scenario(graph=bounds(order_ends_at_its_boundary()), graphs={2: every(order_ends_at_its_boundary())}),
    "cancel": Scenario(
        graph=every(waiting_orders()),
        graphs={2: bounds(waiting_orders()), 3: bounds(waiting_orders()), 4: bounds(waiting_orders())},
        differs={
            2: Left(f"{REFERENCE}, cancel 06-08: no public option gives a token that has fired before the call"),
            3: Left(f"{REFERENCE}, cancel 06-08: no public option gives a token that has fired before the call"),
        },
    ),
    "deadline": Scenario(graph=bounds(waiting_last())),
    "essay_boundaries": Scenario(graph=bounds(essays_from_data())),
    "essay_every": Scenario(graph=every(essays_from_data())),
    "essay_hop_limit": Scenario(graph=bounds(essays_from_data(), max_node_hops=5)),
    "essay_hop_limit_every": Scenario(graph=every(essays_from_data(), id="essays", version="1", max_node_hops=5)),
    "essay_hop_limit_run_option": Scenario(graph=bounds(essays_from_data())),
    "essay_identity": Scenario(graph=every(essays_from_data(), id="essays", version="1")),
    "essay_identity_unversioned": Scenario(graph=every(essays_from_data(), id="essays")),
    "essay_no_match": Scenario(
        graph=every(essays_without_a_way_out()),
        graphs={0: bounds(essays_without_a_way_out())},
        differs={0: Differs(row=f"{REFERENCE}, GW4: a routing gap leaves a failed record", records=lambda _: [GAP])},
    ),
    "essay_panic": Scenario(
        graph=every(essays_with_a_bug()),
        differs={
            0: Differs(
                row=f"{REFERENCE}, essay_panic: a bug is a failure of its node; its stored text names the type",
                result=lambda _: {"outcome": "failed", "error": "node_failed", "node": "review", "attempts": 1, "message": "RuntimeError: no topic"},
                records=failed_with(error="RuntimeError: no topic"),
            )
        },
    ),
    "essay_unicode": Scenario(graph=every(essays_from_data())),
    "identity": Scenario(
        graph=bounds(orders(), id="orders", version="1"),
        graphs={
            1: bounds(orders()),
            2: bounds(orders(), id="other", version="1"),
            3: bounds(orders(), id="orders", version="2"),
            4: bounds(orders(), id="orders"),
            5: bounds(orders(), id="other"),
            6: bounds(orders(), id="orders", version="2", migrate=refuse_every),
            7: bounds(orders(), id="orders", version="2", migrate=to_cents),
            8: bounds(orders()),
        },
    ),
    "identity_gained_every": Scenario(
        graph=every(orders(), id="orders", version="1"),
        graphs={0: every(orders()), 3: every(orders(), id="orders", version="2", migrate=as_it_is)},
    ),
    "metadata": Scenario(graph=every(orders())),
    "newer_checkpoint": Scenario(
        graph=bounds(orders()),
        differs={number: Left("the record puts the checkpoint there itself") for number in (0, 3, 6, 9, 11, 13)},
    ),
    "numbers": Scenario(graph=every(values)),
    "order_approve": Scenario(graph=bounds(orders())),
    "order_approve_every": Scenario(graph=every(orders(), id="orders", version="1")),
    "order_bad_override": Scenario(
        graph=bounds(orders()),
        differs={
            1: Differs(
                row="strata-checkpoint.md 16: only the start of the text is pinned, the rest is the JSON reader's",
                result=refused("failed to rehydrate state for thread 'order-1': override of 'amount': expected int, found str"),
            ),
            2: Left(f"{REFERENCE}, order_bad_override (both maps): only typed overrides exist"),
        },
    ),
    "order_end": Scenario(
        graph=bounds(orders()),
        graphs={4: every(orders(), id="orders"), 5: every(orders(), id="orders")},
    ),
    "order_other_graph_nodes": Scenario(
        graph=bounds(orders()),
        graphs={1: bounds(orders_without_pay()), 2: bounds(essays_from_data())},
        differs={
            1: Differs(
                row=f"{REFERENCE}, order_other_graph_nodes: refused before the stamp",
                result=refused(f"{NO_PAY} receive, price, approve, ship"),
                records=nothing,
            )
        },
    ),
    "order_override": Scenario(
        graph=bounds(orders()),
        differs={
            1: Differs(
                row=f"{REFERENCE}, CK47: an override that the state does not have is refused; here it is left out",
                ask={"signal": signal(amount=75, approved_by=None, log=["reset"], paid=False, status="changed")},
            )
        },
    ),
    "order_override_every": Scenario(
        graph=every(orders()),
        differs={
            1: Differs(
                row=f"{REFERENCE}, CK47: an override that the state does not have is refused; here it is left out",
                ask={"signal": signal(amount=75, status="changed")},
                records=without_unknown_field,
            )
        },
    ),
    "order_refusals": Scenario(
        graph=bounds(orders()),
        graphs={number: every(order_nodes()) for number in (13, 14, 15, 16, 17)},
        differs={
            7: Differs(
                row="reference.md section 1: the name of the policy is each engine's own",
                result=refused("this graph doesn't checkpoint every node: only a graph compiled with compile(durable=True) can recover a thread"),
            ),
            12: Differs(row=f"{REFERENCE}, order_refusals [2]: a second run on an unfinished thread needs start_over=True", ask={"start_over": True}),
        },
    ),
    "order_reject_no_route": Scenario(graph=bounds(orders())),
    "order_reject_route": Scenario(graph=every(orders_that_refuse())),
    "order_two_boundaries": Scenario(graph=every(order_with_three_boundaries())),
    "rerun_thread": Scenario(graph=every(essays_from_data(), max_node_hops=20)),
    "state_shape": Scenario(
        graph=bounds(orders()),
        graphs={1: bounds(orders_of_another_state())},
        differs={
            1: Differs(
                row="strata-checkpoint.md 16: only the start of the text is pinned, the rest is the JSON reader's",
                result=refused(
                    "failed to rehydrate state for thread 'order-1': the stored state is not a readable Title: Object missing required field `title`"
                ),
            )
        },
    ),
    "streaming": Scenario(
        graph=every(essays_that_stream()),
        graphs={0: bounds(essays_that_stream())},
        differs={
            0: Differs(
                row=f"{REFERENCE}, streaming (first run): without a reader tokens go nowhere",
                result=lambda _: {
                    "outcome": "completed",
                    "state": {
                        "min_score": 1,
                        "notes": ["draft 1", "written", "published"],
                        "published": True,
                        "revision": 1,
                        "score": 0,
                        "topic": "rivers",
                    },
                },
            )
        },
    ),
    "tool_and_model_calls": TOOLS,
}

PLAYED: Mapping[str, Scenario] = {name: scenario for name, scenario in SCENARIOS.items() if isinstance(scenario, Scenario)}
