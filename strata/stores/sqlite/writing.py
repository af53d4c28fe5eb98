"""Where and with whom a record is committed: at once on the loop, with the others of its turn, or on the thread.

A commit on the loop costs 30 to 200 us, a change of threads 100 to 300. So a record goes in place while nothing stands
in the way: nobody holds the lock, commits are quick, and no other run saves in the same turn of the loop. Records of
several runs saved in one turn share one transaction at its end. What the loop cannot do without waiting goes to the
thread, and so does everything after it until the thread has nothing left to write.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Final

from strata.errors import StoreError
from strata.stores.sqlite import faults
from strata.stores.sqlite.appends import Append, Refusal, Verdict, append_all_that_can_be, append_one, append_together
from strata.stores.sqlite.database import Database
from strata.stores.sqlite.rows import Row

LONGEST_IN_PLACE: Final = 0.0015
"""Seconds: commits that take longer on average are not made on the loop."""

MOST_TOGETHER: Final = 256
"""Records in one transaction, as in the engine's group commit; the rest follow in the next turn."""

_WEIGHT: Final = 1 / 32
"""Of one commit in the average: a checkpoint of the write-ahead log every thousand pages is no reason to move."""


class Writer:
    """All appends of one loop to one database, in the order in which they were handed over.

    It takes records before the database is open; they are written once it is. `opened` is that database, or why there is none.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, now: Callable[[], float]) -> None:
        self.loop = loop
        self._now = now
        self.opened: asyncio.Future[Database] = loop.create_future()
        self.database: Database | None = None
        self._queue: list[Append] = []
        self._thread_has_work = True  # it is opening the database
        self._commit_seconds = 0.0
        self._first_of_turn: asyncio.Task[Any] | None = None
        self._turn_ends = False
        self._is_crowded = False

    def put(self, row: Row, expected: int | None, token: int | None) -> int | Refusal | asyncio.Future[int | Refusal]:
        """Append `row` if `expected` is its thread's newest sequence, and `token` its latest: what becomes of it, or a future of that.

        The record is owned from here on: nothing that happens to the future stops the write.

        Raises:
            sqlite3.Error: the record was to be written in place, and cannot be.
        """
        if self._may_commit_at_once():
            try:
                return self._commit_in_place(row, expected, token)
            except sqlite3.OperationalError as error:
                if not faults.is_busy(error):
                    raise
                waiter = self._line_up(row, expected, token)
                self._give_to_thread(self._take())
                return waiter
        waiter = self._line_up(row, expected, token)
        if not self._thread_has_work:
            self._end_turn_later()
        return waiter

    def begin(self, database: Database) -> None:
        """Write to `database`, beginning with what has come so far."""
        self.database = database
        self.opened.set_result(database)
        self._go_on()

    def fail(self, error: Exception) -> None:
        """The database could not be opened: whoever handed something over hears why."""
        self.opened.set_exception(error)
        self.opened.exception()  # there may be nobody to hear it
        queue, self._queue = self._queue, []
        for append in queue:
            append.settle(error)

    def finish(self) -> None:
        """Give all that is left to the thread, whose next piece of work then finds everything written or refused."""
        while self._queue:
            self._give_to_thread(self._take())

    # On the loop

    def _may_commit_at_once(self) -> bool:
        """Whether this record may go first and alone: one run at a time saves, in this turn and in the last.

        The same run may save again in its turn: it goes on without suspending, and would otherwise wait for nobody.
        """
        if self._queue or self._thread_has_work or self._is_crowded or self._commit_seconds > LONGEST_IN_PLACE:
            return False
        run = asyncio.current_task(self.loop)
        if self._first_of_turn is None:
            self._first_of_turn = run
            self._end_turn_later()
        return self._first_of_turn is run

    def _commit_in_place(self, row: Row, expected: int | None, token: int | None) -> int | Refusal:
        assert self.database is not None
        started = self._now()
        written = append_one(self.database.in_place, row, expected, token)
        self._commit_seconds += (self._now() - started - self._commit_seconds) * _WEIGHT
        return written

    def _line_up(self, row: Row, expected: int | None, token: int | None) -> asyncio.Future[int | Refusal]:
        append = Append(row, expected, token, self.loop.create_future())
        self._queue.append(append)
        return append.waiter

    def _end_turn_later(self) -> None:
        if not self._turn_ends:
            self._turn_ends = True
            self.loop.call_soon(self._end_turn)

    def _end_turn(self) -> None:
        runs = len(self._queue) + (self._first_of_turn is not None)
        self._turn_ends, self._first_of_turn, self._is_crowded = False, None, runs > 1
        if self._queue and not self._thread_has_work:
            self._commit_queue()

    def _commit_queue(self) -> None:
        appends = self._take()
        if self._commit_seconds > LONGEST_IN_PLACE:
            self._give_to_thread(appends)
            return
        assert self.database is not None
        try:
            verdicts, seconds = append_together(self.database.in_place, appends, self._now)
        except Exception:  # the thread waits where this one may not, and finds the culprit among several
            self._give_to_thread(appends)
            return
        self._settle(appends, verdicts, seconds)
        if self._queue:
            self._end_turn_later()

    def _take(self) -> list[Append]:
        taken, self._queue = self._queue[:MOST_TOGETHER], self._queue[MOST_TOGETHER:]
        return taken

    # On the thread

    def _give_to_thread(self, appends: Sequence[Append]) -> None:
        assert self.database is not None
        self._thread_has_work = True
        done = self.database.submit(lambda connection: append_all_that_can_be(connection, appends, self._now))
        done.add_done_callback(lambda done: self._take_back(appends, done))

    def _take_back(self, appends: Sequence[Append], done: asyncio.Future[tuple[Sequence[Verdict], float]]) -> None:
        error = done.exception()
        verdicts, seconds = (
            done.result() if error is None else ([StoreError(f"the store's thread failed: {error!r}", written=None)] * len(appends), 0.0)
        )
        self._settle(appends, verdicts, seconds)
        self._go_on()

    def _go_on(self) -> None:
        self._thread_has_work = False
        if self._queue:
            self._end_turn_later()  # with what the runs save that the thread has just set free: one commit for all, not two in turn

    def _settle(self, appends: Sequence[Append], verdicts: Sequence[Verdict], seconds: float) -> None:
        self._commit_seconds += (seconds - self._commit_seconds) * _WEIGHT
        for append, verdict in zip(appends, verdicts, strict=True):
            append.settle(verdict)
