"""The desk's command: a customer writes, a colleague answers the agent's question, the reply is read while it is written."""

from __future__ import annotations

import argparse
import asyncio
import sys

from examples.support_agent.agent import Ticket, tickets
from examples.support_agent.outside import Model, Shop
from strata import Completed, Interrupted, Outcome, Refused, Resume, Retried, Runner, RunStream, Token
from strata.stores.sqlite import SqliteStore


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m examples.support_agent")
    calls = parser.add_subparsers(dest="call", required=True)
    write = calls.add_parser("write", help="a customer writes")
    write.add_argument("customer")
    write.add_argument("text")
    allow = calls.add_parser("allow", help="a colleague says how many cents may go back")
    allow.add_argument("customer")
    allow.add_argument("cents")
    allow.add_argument("--by", required=True)
    return parser.parse_args(arguments)


async def main(asked: argparse.Namespace) -> None:
    async with SqliteStore("tickets.db") as store:
        runner = Runner(tickets, store, services=[Model(), Shop()])
        if asked.call == "write":
            await show(runner.stream(asked.customer, Ticket(customer=asked.customer, text=asked.text)))
        else:
            cents = int(asked.cents) if asked.cents.isdigit() else asked.cents
            await show(runner.stream_resume(asked.customer, Resume(cents, by=asked.by)))


async def show(stream: RunStream[Ticket]) -> None:
    async with stream as events:
        async for event in events:
            match event:
                case Retried(node=name):
                    print(f"[{name} is tried again]")
                case Token(text=text):
                    print(text, end="", flush=True)
                case _:
                    pass
    print(told(events.outcome))


def told(outcome: Outcome[Ticket]) -> str:
    match outcome:
        case Interrupted(questions=(question, *_)):
            return f"? {question.asked}"
        case Completed():
            return "[done]"
        case _:
            return f"{outcome.thread_id}: {outcome}"


if __name__ == "__main__":
    try:
        asyncio.run(main(parsed(sys.argv[1:])))
    except Refused as refusal:
        raise SystemExit(f"refused: {refusal}") from None
