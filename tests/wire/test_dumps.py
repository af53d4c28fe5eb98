"""SQLite files that the Rust engine left, cut back to where a call was made: our engine goes on with them as it did."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from strata.stores.sqlite import SqliteStore
from tests.stores.sqlite_files import DUMPS, asked, opened, told
from tests.wire.calls import calls_of
from tests.wire.replay import expect, make, written_before
from tests.wire.scenario import Differs, Left
from tests.wire.scenarios import PLAYED


def scenario_of(dump: Path) -> str:
    """`deltas-essay_every` is the scenario `essay_every` on a store that keeps deltas."""
    return dump.stem.rpartition("-")[2]


def thread_of(record: bytes) -> str:
    thread_id: str = json.loads(record)["thread_id"]
    return thread_id


def calls_on_files() -> Iterator[tuple[Path, int]]:
    for dump in DUMPS:
        scenario = PLAYED.get(scenario_of(dump))
        if scenario is not None:
            for call in calls_of(scenario_of(dump)):
                if not isinstance(scenario.differs.get(call.number), Left):
                    yield dump, call.number


@pytest.mark.leaves_leases("worker-b")
@pytest.mark.parametrize(("dump", "number"), [pytest.param(*case, id=f"{case[0].stem}-{case[1]}") for case in calls_on_files()])
async def test_a_call_on_a_file_of_the_other_engine_does_what_it_did_there(tmp_path: Path, dump: Path, number: int) -> None:
    name = scenario_of(dump)
    scenario, calls = PLAYED[name], calls_of(name)
    difference = scenario.differs.get(number, Differs(row=""))
    assert isinstance(difference, Differs)
    database = tmp_path / "theirs.db"
    told(database, dump.read_text(encoding="utf-8"))  # noqa: ASYNC240
    later = begun(database) - calls[0].moment
    cut(database, Counter(thread_of(record) for record in written_before(calls, number)))
    async with SqliteStore(database) as store:
        expect(await make(scenario, calls[number], store, ask=difference.ask, later=later), calls[number], difference)


def begun(database: Path) -> datetime:
    """When the scenario was played that left this file."""
    ((first,),) = asked(database, "SELECT min(created_at) FROM checkpoints")
    return datetime.fromisoformat(first)


def cut(database: Path, kept: Counter[str]) -> None:
    """Leave the first records of each thread, as many as `kept` says; the file's own trigger writes the heads anew."""
    with opened(database) as connection:
        rows = connection.execute("SELECT * FROM checkpoints ORDER BY thread_id, sequence").fetchall()
        connection.execute("DELETE FROM checkpoints")
        connection.execute("DELETE FROM checkpoint_threads")
        for row in rows:
            thread_id, sequence, *_ = row
            if sequence < kept[thread_id]:
                connection.execute(f"INSERT INTO checkpoints VALUES ({', '.join('?' * len(row))})", row)
