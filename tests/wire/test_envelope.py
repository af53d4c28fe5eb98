"""Deltas and offloaded values, read back (strata-stores.md 8 and 9)."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec import Raw
from msgspec.structs import replace

from strata.checkpoint.record import Checkpoint
from strata.errors import CheckpointUnreadable
from strata.ports.checkpoints import Logged
from strata.wire.checkpoint import decode_columns
from strata.wire.envelope import blobs_named, is_encoded, restore, restore_page, rows_before
from tests.records import WIRE, json_of, record, recorded, value_of

COLUMNS = (
    "thread_id, sequence, schema_version, status, suspended_node, next_node, frozen_state, metadata, "
    "created_at, resumed_at, nested, decision, wait, graph_id, graph_version"
)
ENCODED_DUMPS = sorted((WIRE / "stores" / "sqlite").glob("*-*.sql"))
TIMES = ("created_at", "resumed_at", "decided_at", "wake_at")


# What the Rust engine's stores wrote


@pytest.mark.parametrize("dump", ENCODED_DUMPS, ids=lambda dump: dump.stem)
def test_every_recorded_database_reads_as_the_plain_scenario(dump: Path) -> None:
    rows, blobs = contents_of(dump)
    restored = [readable(entry.checkpoint) for thread in rows.values() for entry in restore_page(thread, blobs)]
    scenario = dump.stem.partition("-")[2]
    assert by_value(restored) == by_value(recorded(scenario))


@pytest.mark.parametrize("dump", ENCODED_DUMPS, ids=lambda dump: dump.stem)
def test_a_row_needs_only_the_rows_and_blobs_that_it_says(dump: Path) -> None:
    rows, blobs = contents_of(dump)
    for thread in rows.values():
        for index, whole in enumerate(restore_page(thread, blobs)):
            needed = thread[index - rows_before(thread[index]) : index + 1]
            named = {hash_: blobs[hash_] for hash_ in blobs_named(needed)}
            assert restore(needed, named) == whole.checkpoint


def test_the_dumps_have_encoded_rows() -> None:
    versions = Counter(
        readable(row.checkpoint).schema_version for dump in ENCODED_DUMPS for thread in contents_of(dump)[0].values() for row in thread
    )
    assert versions["1.8.0"] > 0
    assert versions["1.9.0"] > 0


def contents_of(dump: Path) -> tuple[dict[str, list[Logged]], Mapping[str, bytes]]:
    database = sqlite3.connect(":memory:")
    try:
        database.row_factory = sqlite3.Row
        database.executescript(dump.read_text(encoding="utf-8"))
        threads: dict[str, list[Logged]] = {}
        for row in database.execute(f"SELECT {COLUMNS} FROM checkpoints ORDER BY thread_id, sequence"):
            threads.setdefault(row["thread_id"], []).append(Logged(row["sequence"], decode_columns(**dict(row))))
        return threads, dict(database.execute("SELECT hash, content FROM checkpoint_blobs").fetchall())
    finally:
        database.close()


def by_value(checkpoints: list[Checkpoint]) -> list[str]:
    """The records as values, in no order and without the times, which differ from run to run."""
    return sorted(repr(sorted_pairs(value_of(checkpoint))) for checkpoint in checkpoints)


def sorted_pairs(value: Any) -> Any:
    match value:
        case dict():
            return [(key, "" if key in TIMES and inner is not None else sorted_pairs(inner)) for key, inner in sorted(cast("Any", value).items())]
        case list():
            return [sorted_pairs(inner) for inner in cast("Any", value)]
        case other:
            return other


def readable(checkpoint: Checkpoint | CheckpointUnreadable) -> Checkpoint:
    assert isinstance(checkpoint, Checkpoint)
    return checkpoint


# The format

BASE = Logged(0, record(status="running", state={"step": 1, "payload": "x", "draft": True}))


def encoded(sequence: int, envelope: object, *, version: str = "1.8.0", **fields: Any) -> Logged:
    return Logged(sequence, record(status="running", state=envelope, schema_version=version, **fields))


def delta(sequence: int, *, of: int, depth: int = 1, **envelope: Any) -> Logged:
    header: dict[str, Any] = {"checkpoint_version": "1.7.0", "delta_of": of, "depth": depth, "set": {}, "unset": []}
    return encoded(sequence, header | envelope)


def whole(sequence: int, **envelope: Any) -> Logged:
    return encoded(sequence, {"checkpoint_version": "1.7.0", "delta_of": None, "depth": 0} | envelope, version="1.9.0")


def test_dl1_a_delta_sets_and_unsets_top_level_keys() -> None:
    row = encoded(1, {"checkpoint_version": "1.7.0", "delta_of": 0, "depth": 1, "set": {"added": [1], "step": 2}, "unset": ["draft"]})
    restored = restore([BASE, row], {})
    assert restored.schema_version == "1.7.0"
    assert restored.frozen_state == Raw(b'{"added":[1],"payload":"x","step":2}')


def test_dl2_a_plain_row_is_read_by_itself() -> None:
    assert restore([delta(3, of=2, set={"step": 9}), Logged(4, BASE.checkpoint)], {}) == BASE.checkpoint
    assert rows_before(BASE) == 0


def test_dl2_deltas_follow_one_another() -> None:
    rows = [BASE, delta(1, of=0, set={"step": 2}), delta(2, of=1, depth=2, set={"note": "n"}, unset=["payload"])]
    assert rows_before(rows[2]) == 2
    assert restore(rows, {}).frozen_state == Raw(b'{"draft":true,"note":"n","step":2}')


def test_a_level_that_appears_is_whole_and_one_that_goes_leaves_nothing() -> None:
    child = record("write", status="running", state={"state": {"revision": 1}})
    appeared = Logged(1, replace(readable(delta(1, of=0).checkpoint), nested=child))
    gone = delta(2, of=1, depth=2)
    restored = restore([BASE, appeared], {})
    assert restored.nested is not None
    assert restored.nested.frozen_state == Raw(b'{"revision":1}')
    assert restore([BASE, appeared, gone], {}).nested is None


def test_a_whole_state_in_an_envelope_starts_afresh() -> None:
    row = encoded(1, {"checkpoint_version": "1.7.0", "delta_of": 0, "depth": 1, "state": None})
    assert restore([BASE, row], {}).frozen_state == Raw(b"null")


def test_ser20_a_state_that_looks_like_an_envelope_is_a_state_in_a_plain_row() -> None:
    checkpoint = record(state={"checkpoint_version": "1.7.0", "delta_of": 0, "set": {}, "unset": []})
    assert not is_encoded(checkpoint)
    assert restore([Logged(0, checkpoint)], {}) == checkpoint


CONTENT = b'"abcdefgh"'
HASH = "sha256:a25c00aa0e627fd76143597c5a42ac1ea91e52bc41a91c2edb6ecc96216fb7c2"
NAMED = {"text": {"bytes": 10, "hash": HASH}}


def test_of2_the_name_of_a_blob_is_the_hash_of_its_bytes() -> None:
    assert f"sha256:{hashlib.sha256(CONTENT).hexdigest()}" == HASH


def test_of3_blobs_are_put_into_their_places() -> None:
    row = whole(0, state={"z": 1, "a": 2}, blobs=NAMED)
    assert blobs_named([row, BASE]) == {HASH}
    assert restore([row], {HASH: CONTENT}).frozen_state == Raw(b'{"a":2,"text":"abcdefgh","z":1}')


def test_of3_a_delta_inherits_the_large_value_of_its_base() -> None:
    rows = [whole(0, state={"step": 0}, blobs=NAMED), delta(1, of=0, set={"step": 1})]
    assert restore(rows, {HASH: CONTENT}).frozen_state == Raw(b'{"step":1,"text":"abcdefgh"}')


def test_of3_a_large_value_replaces_a_small_one() -> None:
    row = encoded(
        1, {"checkpoint_version": "1.7.0", "delta_of": 0, "depth": 1, "set": {}, "unset": [], "blobs": {"payload": NAMED["text"]}}, version="1.9.0"
    )
    assert restore([BASE, row], {HASH: CONTENT}).frozen_state == Raw(b'{"draft":true,"payload":"abcdefgh","step":1}')


# Refusals


def refusal(rows: list[Logged], blobs: Mapping[str, bytes] | None = None) -> str:
    with pytest.raises(CheckpointUnreadable) as error:
        restore(rows, blobs or {})
    assert error.value.thread_id == "t"
    assert error.value.sequence is not None
    return str(error.value)


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("is stored as 1.8.0 without an envelope", encoded(1, [1])),
        ("is stored as 1.9.0 without an envelope", encoded(1, "x", version="1.9.0")),
        ("has no checkpoint_version", encoded(1, {"score": 7})),
        ("has a level without an envelope", encoded(1, {"checkpoint_version": "1.7.0", "delta_of": None, "depth": 0})),
        ("is a delta of #0, which wasn't read with it", delta(1, of=0)),
        ("has a delta at level 0, and the row before has no object there", encoded(1, {"checkpoint_version": "1.7.0", "set": {}, "unset": []})),
        ("has blobs at level 0, whose state isn't an object", whole(1, state=[], blobs=NAMED)),
        ("has a blob at 'text' without a hash", whole(1, state={}, blobs={"text": {"bytes": 3}})),
        (f"refers to blob {HASH} at 'text', which the blob store doesn't have", whole(1, state={}, blobs=NAMED)),
    ],
)
def test_a_broken_row_is_refused(text: str, row: Logged) -> None:
    assert refusal([row]) == f"checkpoint 't' #1 {text}"


def test_a_child_without_an_envelope_is_refused() -> None:
    row = Logged(1, replace(readable(whole(1, state={}).checkpoint), nested=record("write", state=[])))
    assert refusal([row]) == "checkpoint 't' #1 has a level without an envelope"


def test_a_delta_on_a_level_that_was_no_object_is_refused() -> None:
    rows = [Logged(0, replace(readable(BASE.checkpoint), frozen_state=Raw(b"7"))), delta(1, of=0)]
    assert refusal(rows) == "checkpoint 't' #1 has a delta at level 0, and the row before has no object there"


def test_a_delta_on_a_level_that_was_not_there_is_refused() -> None:
    child = record("write", state={"set": {}, "unset": []})
    row = Logged(1, replace(readable(delta(1, of=0).checkpoint), nested=child))
    assert refusal([BASE, row]) == "checkpoint 't' #1 has a delta at level 1, and the row before has no object there"


def test_of4_a_lost_blob_is_named_with_the_row_that_names_it() -> None:
    rows = [whole(0, state={}, blobs=NAMED), delta(1, of=0)]
    assert refusal(rows) == f"checkpoint 't' #0 refers to blob {HASH} at 'text', which the blob store doesn't have"


def test_of4_a_blob_of_other_content_is_refused() -> None:
    rows = [whole(0, state={}, blobs=NAMED)]
    assert refusal(rows, {HASH: b'"other"'}) == f"checkpoint 't' #0 refers to blob {HASH} at 'text', whose content doesn't match"


@pytest.mark.parametrize("envelope", [{"unset": 3}, {"set": [0]}, {"depth": "1"}, {"blobs": {"text": 7}}])
def test_an_envelope_of_wrong_types_is_refused(envelope: dict[str, Any]) -> None:
    assert refusal([BASE, delta(1, of=0, **envelope)]).startswith("checkpoint 't' #1 has an envelope at level 0 that cannot be read: ")


def test_one_broken_row_does_not_hide_the_others_of_a_page() -> None:
    unreadable = CheckpointUnreadable("checkpoint 't' #3 cannot be read", thread_id="t", sequence=3)
    rows = [BASE, delta(1, of=0, set={"step": 2}), encoded(2, []), Logged(3, unreadable), delta(4, of=3), Logged(5, BASE.checkpoint)]
    page = restore_page(rows, {}, skip=1)
    assert [entry.sequence for entry in page] == [1, 2, 3, 4, 5]
    assert [isinstance(entry.checkpoint, Checkpoint) for entry in page] == [True, False, False, False, True]
    assert [ask(rows[3]) for ask in ASKED] == [0, frozenset()]


ASKED: tuple[Callable[[Logged], object], ...] = (rows_before, lambda row: blobs_named([row]))


def test_states_are_bytes_of_their_own() -> None:
    assert restore([BASE, delta(1, of=0, set={"é": "日本語 🚀"})], {}).frozen_state == json_of(
        {"draft": True, "payload": "x", "step": 1, "é": "日本語 🚀"}
    )
