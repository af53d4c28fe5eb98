"""The desk's command: a customer writes, a colleague agrees or not to what the model would do."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import assert_never

import msgspec

from strata import Completed, Interrupted, Outcome, Question, Refused, Runner
from strata.stores.sqlite import SqliteStore
from support_desk.desk import Ticket, tickets
from support_desk.made.dispatch import AnyCall, OrdersFind, OrdersRefund, TicketsEscalate, read
from support_desk.model import ScriptedModel
from support_desk.shop import Shop


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m support_desk")
    calls = parser.add_subparsers(dest="call", required=True)
    write = calls.add_parser("write", help="a customer writes")
    write.add_argument("customer")
    write.add_argument("text")
    for name, what in (("agree", "let the model do it"), ("refuse", "tell the model no")):
        answer = calls.add_parser(name, help=what)
        answer.add_argument("customer")
        answer.add_argument("--by", required=True)
    return parser.parse_args(arguments)


async def main(asked: argparse.Namespace) -> None:
    async with SqliteStore("desk.db") as store:
        runner = Runner(tickets, store, services=[ScriptedModel(), Shop()])
        match asked.call:
            case "write":
                outcome = await runner.run(asked.customer, Ticket(customer=asked.customer, text=asked.text))
            case "agree":
                outcome = await runner.resume(asked.customer, tickets.approve(asked.by))
            case _:
                outcome = await runner.resume(asked.customer, tickets.reject(asked.by))
        print(told(outcome))


def told(outcome: Outcome[Ticket]) -> str:
    match outcome:
        case Interrupted(questions=(question, *_)):
            return f"? {sentence(call_in(question))}"
        case Completed(ticket):
            return ticket.reply
        case _:
            return f"{outcome.thread_id}: {outcome}"


def call_in(question: Question) -> AnyCall:
    """The call that a person is asked about, as a value of its own class."""
    return read(question.asked["tool"], msgspec.json.encode(question.asked["arguments"]).decode())


def sentence(call: AnyCall) -> str:
    match call:
        case OrdersRefund(order_id=order, cents=cents, note=note):
            return f"pay {cents / 100:.2f} back for {order}, {note or 'without a note'}"
        case OrdersFind(customer=customer):
            return f"look up what {customer} has ordered"
        case TicketsEscalate(reason=reason):
            return f"call back about {reason}"
        case _:
            assert_never(call)


if __name__ == "__main__":
    try:
        asyncio.run(main(parsed(sys.argv[1:])))
    except Refused as refusal:
        raise SystemExit(f"refused: {refusal}") from None
