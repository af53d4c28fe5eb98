"""The shop's command: each call is a process of its own, and they meet in the database."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from decimal import Decimal

from examples.order_approval.orders import Line, Order, orders
from strata import Cancelled, Completed, Failed, Interrupted, Outcome, Refused, Runner
from strata.stores.sqlite import SqliteStore


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m examples.order_approval")
    parser.add_argument("--database", default="orders.db")
    calls = parser.add_subparsers(dest="call", required=True)
    place = calls.add_parser("place", help="place an order: it waits for an approval")
    place.add_argument("id")
    place.add_argument("lines", nargs="+", metavar="ITEM=QUANTITY")
    approve = calls.add_parser("approve", help="approve it, at another total if need be")
    approve.add_argument("id")
    approve.add_argument("--by", required=True)
    approve.add_argument("--total", type=Decimal)
    reject = calls.add_parser("reject", help="reject it")
    reject.add_argument("id")
    reject.add_argument("--by", required=True)
    recover = calls.add_parser("recover", help="go on where a process died")
    recover.add_argument("id")
    return parser.parse_args(arguments)


async def main(asked: argparse.Namespace) -> None:
    async with SqliteStore(asked.database) as store:
        print(told(await answered(Runner(orders, store), asked)))


async def answered(runner: Runner[Order], asked: argparse.Namespace) -> Outcome[Order]:
    match asked.call:
        case "place":
            return await runner.run(asked.id, Order(customer="c-7", lines=tuple(line_of(text) for text in asked.lines)))
        case "approve":
            answer = orders.approve(asked.by)
            return await runner.resume(asked.id, answer if asked.total is None else answer.override(total=asked.total))
        case "reject":
            return await runner.resume(asked.id, orders.reject(asked.by))
        case _:
            return await runner.recover(asked.id)


def line_of(text: str) -> Line:
    item, _, quantity = text.partition("=")
    return Line(item, int(quantity or 1))


def told(outcome: Outcome[Order]) -> str:
    match outcome:
        case Interrupted(order, waiting_at=path):
            return f"{outcome.thread_id} waits at {'/'.join(path)}: {order.total}"
        case Completed(order):
            return f"{outcome.thread_id} is {order.status}, {order.receipt or 'nothing was paid'}"
        case Failed(node=name, message=text):
            return f"{outcome.thread_id} failed at {name}: {text}"
        case Cancelled(node=name, reason=reason):
            return f"{outcome.thread_id} was stopped at {name}: {reason}"


if __name__ == "__main__":
    logging.getLogger("strata").addHandler(logging.NullHandler())  # failures are printed, not logged
    try:
        asyncio.run(main(parsed(sys.argv[1:])))
    except Refused as refusal:
        raise SystemExit(f"refused: {refusal}") from None
