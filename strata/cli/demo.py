"""`strata demo`: see a thread paused, killed and recovered."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from cyclopts import Parameter

from strata.cli import terminal
from strata.cli.faults import CannotDo
from strata.cli.order_approval.story import tell


def demo(*, folder: Annotated[Path | None, Parameter(help="Keep its files in this new folder; by default they are deleted.")] = None) -> int:
    """An order is priced, approved by a person, paid and shipped, by three processes on one SQLite file; one of them is killed.

    Exit code 1: it did not go as it should.
    """
    if folder is None:
        with TemporaryDirectory(prefix="strata-demo-") as name:
            return int(not asyncio.run(tell(Path(name))))
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise CannotDo(f"the folder '{folder}' cannot be made: {error.strerror}", hint="name one that is not there yet") from error
    went_well = asyncio.run(tell(folder))
    terminal.show(f"Look yourself: strata thread log --store {folder / 'orders.db'} order-1")
    return int(not went_well)
