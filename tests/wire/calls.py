"""What the Rust engine was asked in a recorded scenario, and what it answered and wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, cast

import msgspec

from tests.records import WIRE

CHECKPOINTS = WIRE / "checkpoints"
WRITTEN_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z")
STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
EXACT = 2.0**53
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One call. `given` is how it was made, `result` what it returned, `records` the records that it wrote, as stored."""

    number: int
    do: str
    thread_id: str
    given: Mapping[str, Any]
    result: Mapping[str, Any]
    records: tuple[bytes, ...]
    moment: datetime
    """When it was made: as its first record says, else as the last one before it does."""


@cache
def calls_of(scenario: str) -> tuple[Call, ...]:
    folder = CHECKPOINTS / scenario
    lines = (folder / "calls.jsonl").read_bytes().splitlines()  # of bytes: text would be split at U+2028 too
    calls: list[Call] = []
    for number, line in enumerate(lines):
        calls.append(_call(folder, number, json.loads(line), calls[-1].moment if calls else LONG_AGO))
    return tuple(calls)


def _call(folder: Path, number: int, line: Mapping[str, Any], before: datetime) -> Call:
    given = line["call"]
    records = tuple((folder / f"{record:02}.json").read_bytes() for record in line["wrote"])
    first: Mapping[str, Any] = json.loads(records[0]) if records else {}
    told = first.get("resumed_at") or first.get("created_at")
    moment = datetime.fromisoformat(told) if isinstance(told, str) else before
    thread_id = given.get("thread_id") or (json.loads(records[0])["thread_id"] if records else "")
    return Call(
        number=number,
        do=given["do"],
        thread_id=thread_id,
        given=given,
        result=line["result"],
        records=records,
        moment=moment,
    )


def text_of(record: Mapping[str, Any]) -> str:
    """A record as text, without what differs from run to run: times are `T`, metadata is sorted, floats are numbers.

    The keys of states and overrides are sorted at every depth, as the Rust engine writes them and ours does not.
    """
    return json.dumps(_comparable(record), ensure_ascii=False, separators=(",", ":"))


def wake_times_of(record: bytes) -> list[str]:
    """When the levels of a record are to be woken, outermost first."""
    level: Mapping[str, Any] | None = json.loads(record)
    times: list[str] = []
    while level is not None:
        times.append(level.get("wait", {}).get("wake_at"))
        level = level.get("nested")
    return times


def plain_text(value: object) -> str:
    """Any JSON value as text: keys sorted, floats as numbers."""
    return json.dumps(_sorted(value), ensure_ascii=False)


def strings_of(record: bytes) -> list[bytes]:
    """Every string and key of a record as its bytes are, escapes and all; times aside."""
    return sorted(text for text in STRING.findall(record) if not WRITTEN_TIME.fullmatch(text[1:-1].decode()))


def _comparable(record: Mapping[str, Any]) -> dict[str, Any]:
    shown = dict(record)
    shown["frozen_state"] = _sorted(record["frozen_state"])
    shown["created_at"] = _time(record["created_at"])
    shown["resumed_at"] = _time(record["resumed_at"])
    if record["metadata"] is not None:
        shown["metadata"] = dict(sorted(record["metadata"].items()))
    if "wait" in record:
        shown["wait"] = {**record["wait"], "wake_at": _time(record["wait"]["wake_at"])}
    if "nested" in record:
        shown["nested"] = _comparable(record["nested"])
    if "decision" in record:
        decision = record["decision"]
        shown["decision"] = {**decision, "overrides": _sorted(decision["overrides"]), "decided_at": _time(decision["decided_at"])}
    return shown


def _time(text: str | None) -> str | None:
    assert text is None or WRITTEN_TIME.fullmatch(text), f"a time that other engines cannot compare: {text}"
    return None if text is None else "T"


def _sorted(value: object) -> Any:
    if isinstance(value, Mapping):
        keys = cast("Mapping[str, object]", value)
        return {key: _sorted(keys[key]) for key in sorted(keys, key=str.encode)}
    if isinstance(value, list):
        return [_sorted(item) for item in cast("list[object]", value)]
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT and str(value) != "-0.0":
        return int(value)
    return value
