"""The shop's command: orders come, payments come, and a sweep that runs every minute wakes what is due."""

from __future__ import annotations

import argparse
import asyncio
import sys
from datetime import UTC, datetime, timedelta

from examples.payment.orders import Order, Payment, await_payment, orders
from strata import Completed, Interrupted, Outcome, Refused, Runner
from strata.stores.sqlite import SqliteStore


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m examples.payment")
    calls = parser.add_subparsers(dest="call", required=True)
    order = calls.add_parser("order")
    order.add_argument("id")
    order.add_argument("item")
    order.add_argument("cents", type=int)
    pay = calls.add_parser("pay", help="what the bank tells the shop")
    pay.add_argument("id")
    pay.add_argument("cents", type=int)
    pay.add_argument("--account", required=True)
    sweep = calls.add_parser("sweep", help="wake what is due")
    sweep.add_argument("--days-from-now", type=float, default=0, help="as if so much time had passed")
    return parser.parse_args(arguments)


async def main(asked: argparse.Namespace) -> None:
    async with SqliteStore("payments.db") as store:
        runner = Runner(orders, store)
        outcomes = await outcomes_of(runner, asked)
    print("\n".join(told(outcome) for outcome in outcomes) or "nothing is due")


async def outcomes_of(runner: Runner[Order], asked: argparse.Namespace) -> list[Outcome[Order]]:
    match asked.call:
        case "order":
            return [await runner.run(asked.id, Order(item=asked.item, cents=asked.cents))]
        case "pay":
            return [await runner.signal(asked.id, await_payment.event(Payment(asked.cents, asked.account)))]
        case _:
            report = await runner.wake_due(now=datetime.now(UTC) + timedelta(days=asked.days_from_now))
            return [woken.outcome for woken in report.woken]


def told(outcome: Outcome[Order]) -> str:
    match outcome:
        case Interrupted(order, wait=wait) if wait is not None:
            return f"{outcome.thread_id} is {order.status}, and waits for {wait.event_type or f'its {wait.kind}'}"
        case Completed(order):
            return f"{outcome.thread_id} is {order.status}"
        case _:
            return f"{outcome.thread_id}: {outcome}"


if __name__ == "__main__":
    try:
        asyncio.run(main(parsed(sys.argv[1:])))
    except Refused as refusal:
        raise SystemExit(f"refused: {refusal}") from None
