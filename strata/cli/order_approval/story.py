"""The demonstration told step by step: start, pause, approve, kill, recover, and what the store and the side files say of it."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from pathlib import Path

from strata.cli.order_approval.clerk import REVIEWER, THREAD
from strata.cli.order_approval.orders import Order, orders
from strata.cli.order_approval.outside import Bank, Journal
from strata.cli.terminal import show, show_lines, show_table
from strata.graph import drawing
from strata.runtime.runner import Runner
from strata.runtime.thread import Record
from strata.stores.sqlite import SqliteStore


async def tell(folder: Path) -> bool:
    """Play it in `folder`, which must have nothing of an earlier run. Whether all went as it should."""
    show("An order over three desks needs the approval of a person.")
    show("Three processes work on it, one after the other; what they share is one SQLite file.")
    show()
    show_lines(drawing.terminal(orders.definition(), orders.facts), indent="  ")

    _step(1, "A process takes the order. It pauses for a person, and the process ends.")
    await _process("start", folder)
    _step(2, f"{REVIEWER} approves, and lowers the amount to 250. A second process goes on,")
    show("   and is killed (SIGKILL) in the middle of `pay`: the bank has the money, and nobody heard so.")
    await _process("approve", folder, kill_at="bank takes")
    async with SqliteStore(folder / "orders.db") as store:
        runner = Runner(orders, store)
        _step(3, "This is all that the store knows:")
        thread = await runner.thread(THREAD)
        show(f"   {THREAD} is {thread.state_name} since its record {thread.sequence}, the order is {thread.state.status}")
        _step(4, "A third process recovers the thread. `pay` runs again, with the same key.")
        await _process("recover", folder)
        _step(5, "The log: one record before the first node, after each node, and at every answer.")
        records = [record async for record in runner.log(THREAD)]
        show_table(("   record", "thread is", "hops", "after", "next", "order is", "amount"), map(_row, records))
    return _count(folder, records)


def _step(number: int, text: str) -> None:
    show()
    show(f"{number}. {text}", style="bold")


async def _process(call: str, folder: Path, *, kill_at: str | None = None) -> None:
    """A clerk's process with what it says; killed for real as soon as it says `kill_at`."""
    command = [sys.executable, "-m", "strata.cli.order_approval.clerk", call, str(folder)]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    async for line in process.stdout:
        said = line.decode().rstrip()
        show(f"   [{process.pid}] {said}")
        if kill_at is not None and said.startswith(kill_at):
            process.kill()
    await process.wait()
    show(f"   [{process.pid}] ended with code {process.returncode}")


def _row(record: Record[Order]) -> tuple[str, ...]:
    order = record.state
    return (
        f"   #{record.sequence}",
        record.state_name,
        str(record.hops),
        record.suspended_node or "",
        record.next_node or "",
        order.status,
        str(order.amount),
    )


def _count(folder: Path, records: list[Record[Order]]) -> bool:
    """Compare what ran (the journal) with what was committed (the log), and say what came of it."""
    ran = Counter(entry.node for entry in Journal(folder / "journal.txt").entries())
    charges = Bank(folder / "bank.txt").charges()
    _step(6, "The side files: how often each node ran, and what the bank took.")
    show_table(("   node", "ran", ""), [(f"   {node}", str(times), _why(node, times)) for node, times in ran.items()])
    show(f"   the bank took money {len(charges)} time(s): {', '.join(charges)}")
    show()
    as_expected = ran == {"order": 1, "price": 1, "approve": 1, "pay": 2, "ship": 1} and len(charges) == 1 and records[-1].state_name == "completed"
    show("Nothing that was committed ran twice." if as_expected else "This is not what should have happened.", style="bold")
    return as_expected


def _why(node: str, times: int) -> str:
    return "its first run was killed before it could be committed" if node == "pay" and times > 1 else ""
