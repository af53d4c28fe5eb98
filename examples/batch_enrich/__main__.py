"""Enrich a batch of companies in one process, which may be killed, and go on in another."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from examples.batch_enrich.companies import Batch, batches
from examples.batch_enrich.register import Register
from strata import Completed, Refused, Runner
from strata.stores.sqlite import SqliteStore


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m examples.batch_enrich")
    calls = parser.add_subparsers(dest="call", required=True)
    run = calls.add_parser("run", help="enrich a batch")
    run.add_argument("id")
    run.add_argument("names", nargs="+")
    run.add_argument("--kill-after", type=int, help="kill this process (SIGKILL) after so many questions")
    calls.add_parser("recover", help="go on with what died")
    return parser.parse_args(arguments)


async def main(asked: argparse.Namespace) -> None:
    register = Register(Path("bills.txt"), lives=asked.kill_after if asked.call == "run" else None)
    async with SqliteStore("batches.db") as store:
        runner = Runner(batches, store, services=[register])
        if asked.call == "run":
            print(f"{asked.id}: {len(asked.names)} companies", flush=True)
            outcomes = [await runner.run(asked.id, Batch(names=tuple(asked.names)))]
        else:
            report = await runner.recover_stale(stale_after=0)  # nobody else works here; else a lease says who is alive
            outcomes = [recovered.outcome for recovered in report.recovered]
    for outcome in outcomes:
        match outcome:
            case Completed(batch):
                print(f"{outcome.thread_id}: {', '.join(batch.labels)}; not found: {', '.join(batch.missing) or 'none'}")
            case _:
                print(f"{outcome.thread_id}: {outcome}")
    print(f"{len(register.paid())} questions paid, {len(set(register.paid()))} different ones")


if __name__ == "__main__":
    try:
        asyncio.run(main(parsed(sys.argv[1:])))
    except Refused as refusal:
        raise SystemExit(f"refused: {refusal}") from None
