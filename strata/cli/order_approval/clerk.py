"""One process of the demonstration: it does one call on the order's thread and ends, or is killed."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import assert_never

from strata.cli.order_approval.orders import Order, orders
from strata.cli.order_approval.outside import Bank, Journal
from strata.engine.outcomes import Cancelled, Completed, Failed, Interrupted, Outcome
from strata.runtime.runner import Runner
from strata.stores.sqlite import SqliteStore

THREAD = "order-1"
REVIEWER = "ann"


async def work(call: str, folder: Path) -> None:
    services = (Journal(folder / "journal.txt"), Bank(folder / "bank.txt", is_slow=call == "approve"))
    async with SqliteStore(folder / "orders.db") as store:
        runner = Runner(orders, store, services=services)
        print(f"came to {_told(await _outcome(runner, call))}", flush=True)


async def _outcome(runner: Runner[Order], call: str) -> Outcome[Order]:
    match call:
        case "start":
            return await runner.run(THREAD, Order(desks=3))
        case "approve":
            return await runner.resume(THREAD, orders.approve(REVIEWER).override(amount=250))
        case "recover":
            return await runner.recover(THREAD)
        case _:
            raise SystemExit(f"there is no call '{call}'")


def _told(outcome: Outcome[Order]) -> str:
    match outcome:
        case Completed(order):
            return f"the end: the order is {order.status}, {order.amount} paid, approved by {order.approved_by}"
        case Interrupted(order, waiting_at=path):
            return f"a pause at {'/'.join(path)}: the order over {order.amount} is {order.status}"
        case Failed(node=node, message=text):
            return f"a failure at {node}: {text}"
        case Cancelled(node=node, reason=reason):
            return f"a stop at {node}: {reason}"
        case _:
            assert_never(outcome)


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1], Path(sys.argv[2])))
