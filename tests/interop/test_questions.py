"""A thread that asks in the middle of a node, taken on by the other engine, which knows no questions (design section 2, Asking)."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from strata import CompiledGraph, Context, Interrupted, NotWaiting, Resume, Runner, ThreadFinished
from strata.stores.sqlite import SqliteStore
from tests.graphs.essays import Essay, essays_from_data, review
from tests.interop.rust_engine import Peer

pytestmark = pytest.mark.interop


def asking() -> CompiledGraph[Essay]:
    """The essays of both engines, where our review pays for itself once and then asks a person."""

    async def asks(essay: Essay, ctx: Context) -> Essay:
        await ctx.once("fee", lambda: 3)
        ctx.interrupt({"publish": essay.revision})
        return review(essay)

    return essays_from_data().add_node("review", asks).compile(id="essays", version="1")


async def started(database: Path) -> None:
    async with SqliteStore(database) as store:
        assert isinstance(await Runner(asking(), store).run("e-1", msgspec.convert({"topic": "rivers", "min_score": 3}, Essay)), Interrupted)


@pytest.mark.parametrize("reject", [False, True])
async def test_they_answer_our_question_and_enter_the_node_again(peer: Peer, tmp_path: Path, reject: bool) -> None:
    database = tmp_path / "t.db"
    await started(database)
    before = json.loads(peer.log(database, "e-1")[-1])
    assert (before["status"], before["suspended_node"], before["next_node"]) == ("interrupted", "review", "review")
    done = peer.resume(database, "essay", "e-1", reviewer="ann", reject=reject, override={"revision": 2})
    assert (done["outcome"], done["state"]["revision"], done["state"]["score"]) == ("completed", 2, 6)
    async with SqliteStore(database) as store:
        thread = await Runner(asking(), store).thread("e-1")
        assert (thread.state_name, thread.questions) == ("completed", ())
        with pytest.raises((NotWaiting, ThreadFinished)):
            await Runner(asking(), store).resume("e-1", Resume(True))


async def test_they_end_a_thread_that_asks_and_clear_what_it_had_kept(peer: Peer, tmp_path: Path) -> None:
    database = tmp_path / "t.db"
    await started(database)
    sequence = len(peer.log(database, "e-1")) - 1
    async with SqliteStore(database) as store:
        await store.keep_progress("e-1", sequence, {("review#2", "once/fee"): b"3"})
    assert peer.end(database, "essay", "e-1", by="ops")["outcome"] == "cancelled"
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM strata_py_progress").fetchall() == [(0,)]
