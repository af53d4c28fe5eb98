"""The keys of a record's metadata: which are the engine's, and what they say (strata-checkpoint.md 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from strata.checkpoint.record import Checkpoint
from strata.errors import CheckpointUnreadable, OptionRefused, at_level
from strata.graph.texts import is_utf8

ERROR: Final = "error"
ERROR_KIND: Final = "error_kind"
ATTEMPTS: Final = "attempts"
CANCEL_REASON: Final = "cancel_reason"
HOPS: Final = "strata.hops"
RETRY_AFTER: Final = "strata.retry_after_ms"
RECOVERIES: Final = "strata.recoveries"
END_REASON: Final = "strata.end_reason"
ENDED_BY: Final = "strata.ended_by"
QUESTION: Final = "strata.question"
ANSWERS: Final = "strata.answers"
ONCE: Final = "strata.once"
TOLD: Final = "strata.told"
KEPT_FROM: Final = "strata.kept_from"

ENGINE_PREFIX: Final = "strata."
_RESERVED: Final = frozenset({ERROR, ERROR_KIND, ATTEMPTS, CANCEL_REASON})
_MOST_HOPS: Final = 2**32 - 1


def is_reserved(key: str) -> bool:
    """Whether the key is the engine's own: never taken from a caller, never carried from one record to the next."""
    return key in _RESERVED or key.startswith(ENGINE_PREFIX)


def caller_metadata(stored: Mapping[str, str] | None) -> dict[str, str]:
    """What the callers of a run said, out of what a record holds."""
    if not stored:
        return {}
    return {key: value for key, value in stored.items() if not is_reserved(key)}


def merge(stored: Mapping[str, str] | None, given: Mapping[str, str]) -> dict[str, str]:
    """The caller keys of a loaded record, with those of the present call laid over them key by key."""
    return caller_metadata(stored) | dict(given)


def check_caller_metadata(metadata: Mapping[str, str]) -> None:
    """Refuse metadata that a run, resume, recover or end cannot be given.

    Raises:
        OptionRefused: a key is empty or reserved (the first in byte order decides), or a key or value is no storable text.
    """
    for key, value in metadata.items():
        _check_text(key, f"a run metadata key must be a string, not {key!r}")
        _check_text(value, f"the value of run metadata key '{key}' must be a string, not {value!r}")
    for key in sorted(metadata):  # by code point, which is the order of the UTF-8 bytes too
        if not key:
            raise OptionRefused("run metadata keys can't be empty")
        if is_reserved(key):
            raise OptionRefused(f"run metadata key '{key}' is reserved")


def hops_of(level: Checkpoint, thread_id: str, path: Sequence[str] = ()) -> int:
    """The hops made before the level's next node; 0 where the level did not count (strata-checkpoint.md 11).

    Raises:
        CheckpointUnreadable: the stored text is not a decimal number of 32 bits.
    """
    text = None if level.metadata is None else level.metadata.get(HOPS)
    if text is None:
        return 0
    if (hops := as_count(text)) is not None:
        return hops
    raise CheckpointUnreadable(
        f"checkpoint for thread '{thread_id}'{at_level(path)} has an invalid '{HOPS}' value '{text}'",
        thread_id=thread_id,
        level=path,
        path=f"metadata.{HOPS}",
    )


def as_count(text: str) -> int | None:
    """The number that the text says, if it is a decimal one of 32 bits."""
    if text.isascii() and text.isdigit() and len(text.lstrip("0")) <= 10 and (count := int(text)) <= _MOST_HOPS:
        return count
    return None


def _check_text(text: object, refusal: str) -> None:
    if not isinstance(text, str):
        raise OptionRefused(refusal)
    if not is_utf8(text):
        raise OptionRefused(f"run metadata {text!r} has half a surrogate pair, which cannot be stored")


def recoveries_of(level: Checkpoint) -> int:
    """How often the thread was recovered since a node last committed; what cannot be read counts as 0 (strata-checkpoint.md 10)."""
    text = (level.metadata or {}).get(RECOVERIES, "")
    return as_count(text) or 0
