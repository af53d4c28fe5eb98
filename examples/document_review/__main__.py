"""The office's command: each call is a process of its own, and they meet in the database."""

from __future__ import annotations

import argparse
import asyncio
import sys

from examples.document_review.documents import Document, documents, signing
from strata import Completed, Interrupted, Outcome, Refused, Runner
from strata.stores.sqlite import SqliteStore


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m examples.document_review")
    calls = parser.add_subparsers(dest="call", required=True)
    submit = calls.add_parser("submit", help="have a document reviewed: it waits for a signature")
    submit.add_argument("title")
    submit.add_argument("text")
    for call in ("sign", "reject"):
        answer = calls.add_parser(call)
        answer.add_argument("title")
        answer.add_argument("--by", required=True)
    return parser.parse_args(arguments)


async def main(asked: argparse.Namespace) -> None:
    async with SqliteStore("documents.db") as store:
        print(told(await answered(Runner(documents, store), asked)))


async def answered(runner: Runner[Document], asked: argparse.Namespace) -> Outcome[Document]:
    match asked.call:
        case "submit":
            return await runner.run(asked.title, Document(title=asked.title, text=asked.text))
        case "sign":
            return await runner.resume(asked.title, signing.approve(asked.by))  # the answer is of the graph that asks
        case _:
            return await runner.resume(asked.title, signing.reject(asked.by))


def told(outcome: Outcome[Document]) -> str:
    match outcome:
        case Interrupted(document, waiting_at=path):
            return f"{document.title} waits at {'/'.join(path)}: {'; '.join(document.remarks)}"
        case Completed(document):
            return f"{document.title} is {document.status}, signed by {document.signed_by or 'nobody'}"
        case _:
            return f"{outcome.thread_id}: {outcome}"


if __name__ == "__main__":
    try:
        asyncio.run(main(parsed(sys.argv[1:])))
    except Refused as refusal:
        raise SystemExit(f"refused: {refusal}") from None
