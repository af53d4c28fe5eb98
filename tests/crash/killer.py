"""Kills processes that work on SQLite files, again and again, and looks after each death whether anything was lost.

    python -m tests.crash.killer --kills 500 --seed 7 FOLDER

It imports and compiles everything once and forks from there, so that a life costs little more than its work.
"""

from __future__ import annotations

import argparse
import faulthandler
import logging
import os
import random
import signal
import sqlite3
import sys
import time
import traceback
from collections import Counter
from contextlib import closing
from pathlib import Path

import msgspec

from strata import Runner
from tests.crash.errand import errands
from tests.crash.journey import journeys
from tests.crash.life import PATIENCE, Life
from tests.crash.plot import Job, Plot
from tests.crash.witness import FINISHED, Witness

DEATHS_A_FILE = 12
MOST_WORKERS = 3
OPENING = 0.012  # seconds: within these a file is opened and made
OLD_TABLE = """CREATE TABLE checkpoints (
    thread_id TEXT NOT NULL, sequence INTEGER NOT NULL, schema_version TEXT NOT NULL, status TEXT NOT NULL, suspended_node TEXT,
    next_node TEXT, frozen_state TEXT NOT NULL, metadata TEXT, created_at TEXT NOT NULL, resumed_at TEXT, PRIMARY KEY (thread_id, sequence))"""
OLD_RECORD = "INSERT INTO checkpoints VALUES ('old', 0, '1.0.0', 'completed', 'deliver', NULL, '{}', NULL, '2026-01-01T00:00:00Z', NULL)"


class Tally(msgspec.Struct, kw_only=True):
    """What was seen. `hits` says where the work of a process stood when it died; `a_life` is about what one of a plot takes, in seconds."""

    a_life: dict[str, float]
    kills: int = 0
    lives: int = 0
    files: int = 0
    hits: Counter[str] = msgspec.field(default_factory=Counter[str])

    def __str__(self) -> str:
        seen = ", ".join(f"{count} {state}" for state, count in sorted(self.hits.items()))
        return f"{self.kills} kills of {self.lives} lives on {self.files} files; their work then: {seen}"


class Site:
    """A file, the threads on it, and who works on them."""

    def __init__(self, folder: Path, chance: random.Random, plot: Plot, *, number: int) -> None:
        self.plot = plot
        self.database, self.diary = folder / f"{number}.db", folder / f"{number}.diary"
        ways = tuple(plot.trails)
        crew = chance.randint(1, MOST_WORKERS)
        jobs = [tuple(Job(f"{number}-{worker}-{turn}", chance.choice(ways)) for turn in range(2)) for worker in range(crew)]
        self.lives = tuple(Life(plot=plot, database=self.database, diary=self.diary, jobs=its) for its in jobs)
        self.witness = Witness(self.database, self.diary, tuple(job for its in jobs for job in its), plot)
        if chance.random() < 0.3:
            _make_old(self.database)

    def stands_at(self, life: Life) -> str:
        """The state of the first thread of `life` that has not finished; `new` if it has no record, `done` if all have."""
        with closing(sqlite3.connect(self.database)) as connection:
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'checkpoint_threads'").fetchall():
                return "unmade"
            states = dict(connection.execute("SELECT thread_id, state FROM checkpoint_threads").fetchall())
        unfinished = (states.get(job.thread_id, "new") for job in life.jobs)
        return next((state for state in unfinished if state not in FINISHED), "done")


def main() -> None:
    faulthandler.enable()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=None)
    given = parser.parse_args()
    seed = random.SystemRandom().randrange(2**32) if given.seed is None else given.seed
    _say(f"seed {seed}")
    _say(str(hunt(given.folder, kills=given.kills, seed=seed)))


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def hunt(folder: Path, *, kills: int, seed: int) -> Tally:
    """Kill until `kills` processes have died at their work."""
    chance = random.Random(seed)
    plots = [journeys(), journeys(), errands(durable=True), errands(durable=False)]
    Runner(plots[0].graph)  # loads the engine before anybody is born
    logging.getLogger("strata").setLevel(logging.CRITICAL)  # nodes fail on purpose
    tally = Tally(a_life={plot.name: _duration_of_a_life(folder, chance, plot) for plot in plots})
    while tally.kills < kills:
        site = Site(folder, chance, chance.choice(plots), number=tally.files)
        tally.files += 1
        _haunt(site, chance, tally)
        _clear(folder, tally.files - 1)
    return tally


def _duration_of_a_life(folder: Path, chance: random.Random, plot: Plot) -> float:
    """In seconds, on this machine as busy as it is."""
    site = Site(folder, chance, plot, number=-1)
    born = time.monotonic()
    _live(site, [None for _ in site.lives])
    duration = time.monotonic() - born
    _clear(folder, -1)
    return duration


def _clear(folder: Path, number: int) -> None:
    for path in folder.glob(f"{number}.*"):
        path.unlink()


def _haunt(site: Site, chance: random.Random, tally: Tally) -> None:
    """Kill the workers of one file, then let them finish, and look after each time."""
    deaths = 0
    while deaths < DEATHS_A_FILE and (deaths == 0 or site.witness.unfinished()):
        killed = _live(site, [_time_of_death(chance, latest=tally.a_life[site.plot.name]) for _ in site.lives])
        site.witness.look()
        if chance.random() < 0.1:
            site.witness.integrity()
        deaths += len(killed)
        tally.kills += len(killed)
        tally.lives += len(site.lives)
        tally.hits.update(f"{site.plot.name} {site.stands_at(life)}" for life in killed)
    _live(site, [None for _ in site.lives])
    tally.lives += len(site.lives)
    site.witness.look()
    site.witness.integrity()
    assert site.witness.unfinished() == []


def _time_of_death(chance: random.Random, *, latest: float) -> float:
    """In seconds: a quarter dies while it opens the file."""
    return chance.uniform(0, OPENING) if chance.random() < 0.25 else chance.uniform(0, latest)


def _live(site: Site, deaths: list[float | None]) -> list[Life]:
    """Start a process for each of the lives, and kill it at its time; those that were killed before they had ended."""
    born = time.monotonic()
    crew = sorted(((death, _born(life), life) for life, death in zip(site.lives, deaths, strict=True)), key=lambda member: member[0] or 0)
    killed: list[Life] = []
    for death, process, life in crew:
        if death is not None:
            time.sleep(max(0, born + death - time.monotonic()))
            os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        if os.WIFSIGNALED(status):
            killed.append(life)
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "a process failed by itself; its error stands above"
    return killed


def _born(life: Life) -> int:
    process = os.fork()
    if process:
        return process
    faulthandler.dump_traceback_later(1.5 * PATIENCE, exit=True)
    try:
        life.run()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _make_old(database: Path) -> None:
    """A file in the oldest layout, with a thread in it: the first process brings it up to date."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute(OLD_TABLE)
        connection.execute(OLD_RECORD)


if __name__ == "__main__":
    main()
