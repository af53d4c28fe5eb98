"""What nodes say of themselves, in a file that outlives their process."""

from __future__ import annotations

import os
from pathlib import Path

from strata import Context


class Diary:
    """A file beside the database, which nodes append to when they begin. A line is written whole, or not at all."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def write(self, *words: str) -> None:
        os.write(self._file, " ".join(words).encode() + b"\n")


def begun(ctx: Context) -> str:
    """Say that the node has begun, and give the key that is in the trail once it has committed."""
    diary = ctx.service(Diary)
    assert diary is not None
    diary.write("began", ctx.idempotency_key, "again" if ctx.is_recovery or ctx.attempt > 1 else "first")
    return ctx.idempotency_key


async def give_once(ctx: Context) -> None:
    """Do what must not be done twice: once it is known to be kept, it is not done again."""
    diary = ctx.service(Diary)
    assert diary is not None
    await ctx.once("gift", lambda: diary.write("gave", ctx.idempotency_key, "gift"))
    diary.write("kept", ctx.idempotency_key, "gift")
