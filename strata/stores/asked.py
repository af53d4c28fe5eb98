"""What a store is called with, held to its types before the store looks at the thread.

Every save comes through here: the usual type is looked at in place, since two more calls take 0.2 us.
"""

from __future__ import annotations

from strata.checkpoint import given
from strata.checkpoint.record import Checkpoint
from strata.ports.progress import Items


def check_thread_id(thread_id: str) -> None:
    """Raises OptionRefused for what no store could keep as an id."""
    given.text(thread_id, "a thread id")


def check_checkpoint(checkpoint: Checkpoint) -> None:
    """Raises OptionRefused for what is none."""
    if type(checkpoint) is not Checkpoint:
        given.instance(checkpoint, Checkpoint, "the checkpoint to save is a Checkpoint")


def check_expected(expected: int | None) -> None:
    """Raises OptionRefused for what is no sequence, nor the -1 of a thread that is not there."""
    if expected is not None and type(expected) is not int:
        given.whole_number(expected, "the expected sequence")


def check_progress(thread_id: str, base: int) -> None:
    """Raises OptionRefused where the thread that progress is of, or the sequence that it has come from, is none."""
    check_thread_id(thread_id)
    given.whole_number(base, "the base of progress")


def check_items(items: Items) -> None:
    """Raises OptionRefused for what cannot be kept of a node."""
    for place, item in given.pairs(items, "the items of progress", "a path and an item to bytes").items():
        given.instance(item, bytes, f"what is kept under {place!r} in the items of progress is bytes")
