"""Every recorded scenario: how we play it, or why not yet."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from strata import CompiledGraph, Context, GraphWarning, State, StateGraph, StoredLevel
from strata.graph.nodes import NodeFunction
from tests.graphs.charge import Switch, busy, charge_fails, charge_with_switch, declined
from tests.graphs.essays import Essay, draft, essays_from_data, publish, review
from tests.graphs.orders import Order, approve, order_nodes, orders_that_refuse, price, receive, ship
from tests.graphs.stopped_orders import dying_orders, slow_orders, waiting_last, waiting_orders
from tests.graphs.values import values
from tests.wire.replay import Differs, Left, Records, Result, Scenario

RETRIES = "@retry comes with a later issue"
SUBGRAPHS = "subgraphs are executed with a later issue"
GROUPS = "parallel groups come with a later issue"
MAPS = "maps come with a later issue"
WAITS = "waits, timers and boundary timeouts come with a later issue"
LEASES = "leases come with a later issue"
SCHEDULER = "the scheduler comes with a later issue"
SWEEPS = "recover_stale comes with a later issue"
TOOLS = "tools come with a later issue"

REFERENCE = "reference.md section 4"


def compiled(builder: StateGraph[Any], **options: Any) -> CompiledGraph[Any]:
    """Some of the recorded graphs are such as we warn of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        return builder.compile(**options)


def bounds(builder: StateGraph[Any], **options: Any) -> CompiledGraph[Any]:
    """With the other engines' default: records only where a run stops."""
    return compiled(builder, durable=False, **options)


def every(builder: StateGraph[Any], **options: Any) -> CompiledGraph[Any]:
    """With a record after every node."""
    return compiled(builder, **options)


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


def contexts() -> StateGraph[Essay]:
    """alpha [boundary] -> sub -> omega, where `sub` only stands for the subgraph that it is in the record."""
    return (
        StateGraph(Essay)
        .add_node("alpha", told("parent"))
        .add_node("sub", told("child"))
        .add_node("omega", told("parent"))
        .add_edge("alpha", "sub")
        .add_edge("sub", "omega")
        .add_interrupt_boundary("alpha")
    )


def refuse_every(old: StoredLevel) -> StoredLevel | None:
    return None


def to_cents(old: StoredLevel) -> StoredLevel | None:
    """In cents; and a thread id, which a migration cannot change."""
    return msgspec.structs.replace(old, state={**old.state, "amount": old.state["amount"] * 100}, thread_id="ignored")


def as_it_is(old: StoredLevel) -> StoredLevel | None:
    return old


# What we answer differently


def refused(text: str) -> Callable[[Result], Result]:
    return lambda _: {"outcome": "failed", "error": "execution_aborted", "text": text}


def failed_with(**changes: object) -> Callable[[Records], Records]:
    """The last record has other metadata."""
    return lambda records: [*records[:-1], {**records[-1], "metadata": {**records[-1]["metadata"], **changes}}]


def nothing(_: Records) -> Records:
    return []


def without_unknown_field(records: Records) -> Records:
    """Neither the claim's state nor its decision holds an override that the state does not have."""
    return [_without(record, "unknown_field") for record in records]


def _without(record: dict[str, Any], name: str) -> dict[str, Any]:
    shown = {**record, "frozen_state": {key: value for key, value in record["frozen_state"].items() if key != name}}
    if "decision" in record:
        overrides = {key: value for key, value in record["decision"]["overrides"].items() if key != name}
        shown["decision"] = {**record["decision"], "overrides": overrides}
    return shown


def signal(*, approved: bool = True, **overrides: object) -> Mapping[str, Any]:
    return {"is_approved": approved, "reviewer": "ana@example.com", "overrides": overrides, "field_overrides": {}}


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
    "boundary_is_last": Scenario(graph=bounds(order_ends_at_its_boundary()), graphs={2: every(order_ends_at_its_boundary())}),
    "cancel": Scenario(
        graph=every(waiting_orders()),
        graphs={2: bounds(waiting_orders()), 3: bounds(waiting_orders()), 4: bounds(waiting_orders())},
        differs={
            2: Left(f"{REFERENCE}, cancel 06-08: no public option gives a token that has fired before the call"),
            3: Left(f"{REFERENCE}, cancel 06-08: no public option gives a token that has fired before the call"),
        },
    ),
    "charge_backoff": RETRIES,
    "charge_exhausted": Scenario(
        graph=bounds(charge_with_switch()),
        services={2: [Switch(is_on=True)]},
        differs={0: Left(RETRIES), 1: Left(RETRIES)},
    ),
    "charge_exhausted_every": Scenario(
        graph=every(charge_with_switch(), id="charge", version="2"),
        services={1: [Switch(is_on=True)]},
        differs={0: Left(RETRIES)},
    ),
    "charge_fallback": RETRIES,
    "charge_fatal": Scenario(graph=bounds(charge_fails(declined))),
    "charge_no_policy": Scenario(graph=bounds(charge_fails(busy))),
    "charge_retry_after": RETRIES,
    "charge_retry_success": RETRIES,
    "context_keys": Scenario(
        graph=every(contexts()),
        differs={0: Left(SUBGRAPHS), 1: Left(SUBGRAPHS), 3: Left(SUBGRAPHS), 4: Left(SUBGRAPHS)},
        tells_recovery=True,
    ),
    "deadline": Scenario(graph=bounds(waiting_last())),
    "decision_kept_by_failure": Scenario(
        graph=every(charge_with_switch().add_interrupt_boundary("receive")),
        services={2: [Switch(is_on=True)]},
        differs={1: Left(RETRIES)},
    ),
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
    "event_wait": WAITS,
    "event_wait_in_subgraph": WAITS,
    "event_wait_timeout_end": WAITS,
    "event_wait_timeout_route": WAITS,
    "group_all": GROUPS,
    "group_boundary": GROUPS,
    "group_branch_timeout": GROUPS,
    "group_first_matching": GROUPS,
    "group_first_success": GROUPS,
    "group_keep_succeeded": GROUPS,
    "group_one_fails": GROUPS,
    "group_quorum": GROUPS,
    "group_retry": GROUPS,
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
    "lease": LEASES,
    "lease_lost": LEASES,
    "map_all": MAPS,
    "map_bad_items": MAPS,
    "map_item_fails": MAPS,
    "map_keep_succeeded": MAPS,
    "metadata": Scenario(graph=every(orders())),
    "metadata_failed_then_ok": Scenario(
        graph=bounds(charge_with_switch().add_interrupt_boundary("charge"), max_node_hops=9),
        services={1: [Switch(is_on=True)]},
        differs={0: Left(RETRIES)},
    ),
    "newer_checkpoint": Scenario(
        graph=bounds(orders()),
        differs={number: Left("the record puts the checkpoint there itself") for number in (0, 3, 6, 9, 11, 13)},
    ),
    "node_timeout": Scenario(graph=bounds(slow_orders()), differs={1: Left(RETRIES)}),
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
    "order_boundary_timeout_end": WAITS,
    "order_boundary_timeout_route": WAITS,
    "order_due_resume": WAITS,
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
            5: Left(WAITS),
            6: Left(WAITS),
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
    "recovery": Scenario(
        graph=every(dying_orders(), id="orders", version="1"),
        differs={
            4: Left(SWEEPS),
            5: Left(SWEEPS),
            6: Left(SWEEPS),
            7: Differs(
                row=f"{SWEEPS}; by hand it is the same recovery", ask={"do": "recover"}, result=lambda result: result["recovered"][0]["result"]
            ),
        },
        tells_recovery=True,
    ),
    "recovery_end": Scenario(graph=every(dying_orders(), id="orders", version="1")),
    "recovery_subgraph": SUBGRAPHS,
    "rerun_thread": Scenario(graph=every(essays_from_data(), max_node_hops=20)),
    "scheduler": SCHEDULER,
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
    "streaming_retry_subgraph": SUBGRAPHS,
    "sub_cancel": SUBGRAPHS,
    "sub_complete": SUBGRAPHS,
    "sub_complete_boundaries": SUBGRAPHS,
    "sub_end": SUBGRAPHS,
    "sub_fail": SUBGRAPHS,
    "sub_hop_limit": SUBGRAPHS,
    "sub_interrupt": SUBGRAPHS,
    "sub_interrupt_every": SUBGRAPHS,
    "sub_interrupt_levels": SUBGRAPHS,
    "sub_timeout": SUBGRAPHS,
    "timer": WAITS,
    "timer_until": WAITS,
    "tool_and_model_calls": TOOLS,
}

PLAYED: Mapping[str, Scenario] = {name: scenario for name, scenario in SCENARIOS.items() if isinstance(scenario, Scenario)}
