"""A program without an event loop: it runs three reports, and goes on with those that failed."""

from __future__ import annotations

import logging
import sys

from examples.pipeline.pipeline import Directory, Report, pipeline
from strata import Completed, Failed, Outcome, Runner, ThreadNotFound
from strata.stores.sqlite import SqliteStore

CITIES = {"st-1": "Bergen", "st-2": "Oslo", "st-3": "Tromsø"}


def main(database: str) -> None:
    logging.getLogger("strata").addHandler(logging.NullHandler())  # failures are printed below
    directory = Directory(CITIES, delay=0)
    with SqliteStore(database) as store:  # keeps one loop for all calls inside
        runner = Runner(pipeline, store, services=[directory])

        print(told(runner.run_sync("report-1", Report(station="st-1", lines=("7.5", "8.5")))))
        try:
            runner.thread_sync("report-1")
        except ThreadNotFound as error:
            print(f"   nothing was recorded: {error}")

        directory.delay = 5.0  # the service hangs
        print(told(runner.run_sync("report-2", Report(station="st-2", lines=("1", "2", "3")))))
        directory.delay = 0.0  # it is well again
        print(told(runner.resume_sync("report-2")))

        print(told(runner.run_sync("report-3", Report(station="st-3", lines=("-4", "minus five")))))
        print(told(runner.resume_sync("report-3", pipeline.amend("operator").override(lines=("-4", "-5")))))


def told(outcome: Outcome[Report]) -> str:
    match outcome:
        case Completed(report):
            return f"{outcome.thread_id}: {report.text}"
        case Failed(node=name, message=text):
            return f"{outcome.thread_id}: failed at {name}: {text}"
        case _:
            return f"{outcome.thread_id}: {outcome}"


if __name__ == "__main__":
    main(*sys.argv[1:])
