"""The recorded groups and maps."""

from __future__ import annotations

from collections.abc import Mapping

from strata import first_matching, first_success, quorum
from tests.graphs.batches import batches
from tests.graphs.quotes import fatal, is_below_25, price, quotes, transient
from tests.wire.policies import bounds, every
from tests.wire.scenario import Scenario

BELOW_25 = first_matching(is_below_25, description="a price below 25")

FANOUTS: Mapping[str, Scenario] = {
    # who comes first of three that are asked at once is chance: here the delays give what was recorded
    "group_all": Scenario(graph=every(quotes(price(30, after=20), price(10), price(20, after=40)))),
    "group_boundary": Scenario(
        graph=bounds(quotes(price(30, after=20), price(10, after=40), price(20)).add_interrupt_boundary("quotes")),
    ),
    "group_branch_timeout": Scenario(
        graph=every(quotes(price(30), price(10, after=5000), price(20, after=10), branch_timeout=0.060, partial="keep_succeeded")),
        graphs={
            1: bounds(quotes(price(30), price(10, after=5000), price(20, after=10), branch_timeout=0.060)),
            2: bounds(quotes(price(1, after=10), price(2, after=10), price(3, after=10), branch_timeout=0.060, max_concurrency=1)),
        },
    ),
    "group_first_matching": Scenario(
        graph=every(quotes(price(30), price(10, after=40), price(20, after=300), join=BELOW_25)),
        graphs={1: every(quotes(price(30), price(40, after=10), price(50, after=20), join=BELOW_25))},
    ),
    "group_first_success": Scenario(graph=every(quotes(price(30, after=300), fatal(), price(20, after=40), join=first_success()))),
    "group_keep_succeeded": Scenario(
        graph=every(quotes(price(30), fatal(after=10), price(20, after=20), partial="keep_succeeded")),
        graphs={1: every(quotes(fatal(), fatal(after=10), fatal(after=20), partial="keep_succeeded"))},
    ),
    "group_one_fails": Scenario(
        graph=every(quotes(price(30), fatal(after=20), price(20, after=300))),
        graphs={
            1: bounds(quotes(price(30), transient(after=20), price(20, after=60), cancel_siblings=False)),
            2: bounds(quotes(transient(), fatal(after=20), price(20, after=60), cancel_siblings=False)),
        },
    ),
    "group_quorum": Scenario(
        graph=every(quotes(price(30, after=300), price(10, after=40), price(20), join=quorum(2))),
        graphs={
            1: bounds(quotes(fatal(), transient(after=20), price(20, after=300), join=quorum(2))),
            2: bounds(quotes(fatal(), transient(after=20), price(20, after=40), join=quorum(2), partial="keep_succeeded")),
        },
    ),
    "group_retry": Scenario(graph=bounds(quotes(price(30), transient(after=10), price(20, after=20)).set_recovery_policy("quotes", retries=1))),
    "map_all": Scenario(graph=every(batches())),
    "map_bad_items": Scenario(
        graph=bounds(batches(durable=False, max_items=3)),
        graphs={
            4: bounds(batches(durable=False, max_items=3, join=quorum(2))),
            5: bounds(batches(durable=False, max_items=3, join=first_success())),
        },
    ),
    "map_item_fails": Scenario(graph=every(batches(max_concurrency=1))),
    "map_keep_succeeded": Scenario(graph=every(batches(partial="keep_succeeded"))),
}
