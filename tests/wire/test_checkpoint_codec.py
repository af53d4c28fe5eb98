"""The record of strata-checkpoint.md 1, read and written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from strata.checkpoint.record import Checkpoint, DecisionRecord, WaitRecord
from strata.errors import CheckpointUnreadable
from strata.graph.identity import Identity
from strata.wire.checkpoint import (
    decode_checkpoint,
    decode_columns,
    decode_metadata,
    encode_checkpoint,
    encode_decision,
    encode_metadata,
    encode_nested,
    encode_wait,
)
from tests.records import RECORDED, json_of, record, recorded, value_of

NINE_KEYS = ["schema_version", "thread_id", "status", "suspended_node", "next_node", "frozen_state", "metadata", "created_at", "resumed_at"]

MINIMAL: dict[str, Any] = {
    "schema_version": "1.0.0",
    "thread_id": "essay-1",
    "status": "interrupted",
    "frozen_state": {"score": 7},
    "created_at": "2026-11-02T09:15:04Z",
}

DECISION: dict[str, Any] = {
    "boundary": "Approve",
    "is_approved": True,
    "reviewer": "",
    "overrides": {"plan": {"a": [1]}, "replicas": 3, "dry_run": True, "note": None, "reason": "no"},
    "decided_at": "2026-11-02T10:00:01Z",
}


def text_of(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def unreadable(data: bytes | str) -> CheckpointUnreadable:
    with pytest.raises(CheckpointUnreadable) as refusal:
        decode_checkpoint(data, thread_id="essay-1", sequence=4)
    return refusal.value


# What the Rust engine wrote


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_recorded_checkpoint_is_written_as_it_was_read(path: Path) -> None:
    data = path.read_bytes()
    assert encode_checkpoint(decode_checkpoint(data)) == data


def test_ck1_a_pause_has_exactly_the_first_nine_keys() -> None:
    [pause, _] = recorded("order_approve")
    assert list(json.loads(encode_checkpoint(pause))) == NINE_KEYS
    assert pause.schema_version == "1.0.0"


def test_ck2_a_pause_in_a_child_nests_its_record() -> None:
    pause = recorded("sub_interrupt")[0]
    assert pause.nested is not None
    assert (pause.schema_version, pause.suspended_node, pause.next_node) == ("1.1.0", "write", "write")
    assert (pause.nested.schema_version, pause.nested.thread_id, pause.nested.nested) == ("1.0.0", "write", None)
    assert pause.waiting_at == ("write", "review")


def test_ck8_an_unversioned_identity_is_written_with_null() -> None:
    named = record(graph=Identity("incident"), nested=record("Remediate"))
    assert encode_checkpoint(named).endswith(b'"graph":{"id":"incident","version":null}}')
    assert "graph" not in value_of(named)["nested"]


def test_ck9_without_an_identity_there_is_no_graph_key() -> None:
    assert b'"graph"' not in encode_checkpoint(record())


# Reading


def test_ck13_missing_keys_are_null() -> None:
    checkpoint = decode_checkpoint(text_of(MINIMAL))
    assert (checkpoint.suspended_node, checkpoint.next_node, checkpoint.metadata, checkpoint.resumed_at) == (None, None, None, None)
    assert (checkpoint.nested, checkpoint.decision, checkpoint.wait, checkpoint.graph) == (None, None, None, None)


@pytest.mark.parametrize("key", ["suspended_node", "next_node", "metadata", "resumed_at", "nested", "decision", "wait", "graph"])
def test_null_is_the_same_as_missing(key: str) -> None:
    assert decode_checkpoint(text_of(MINIMAL | {key: None})) == decode_checkpoint(text_of(MINIMAL))


@pytest.mark.parametrize("key", ["schema_version", "thread_id", "status", "frozen_state", "created_at"])
def test_ck13_the_other_keys_must_be_there(key: str) -> None:
    error = unreadable(text_of({name: value for name, value in MINIMAL.items() if name != key}))
    assert (error.thread_id, error.sequence, error.path) == ("essay-1", 4, f"$.{key}")
    assert str(error) == f"checkpoint 'essay-1' #4 cannot be read: the key is missing - at `$.{key}`"


def test_ck13_an_unknown_status_is_refused() -> None:
    error = unreadable(text_of(MINIMAL | {"status": "paused"}))
    assert "unknown checkpoint status 'paused' in the checkpoint log" in str(error)
    assert error.path == "$.status"


def test_ck13_an_unknown_key_is_kept() -> None:
    data = text_of({**value_of(decode_checkpoint(text_of(MINIMAL))), "x": {"b": [1, 2.50], "a": None}})
    checkpoint = decode_checkpoint(data)
    assert checkpoint.unknown == {"x": Raw(b'{"b":[1,2.5],"a":null}')}
    assert encode_checkpoint(checkpoint) == data


def test_unknown_keys_are_kept_at_every_level_and_in_its_parts() -> None:
    level = value_of(decode_checkpoint(text_of(MINIMAL)))
    parts: dict[str, Any] = {
        "decision": DECISION | {"d": 1},
        "wait": {"kind": "timer", "event_type": None, "wake_at": "2026-11-02T12:05:01Z", "w": "é"},
        "graph": {"id": "g", "version": None, "g": []},
    }
    data = text_of({**level, "nested": {**level, **parts, "inner": {}}, **parts, "outer": False})
    assert encode_checkpoint(decode_checkpoint(data)) == data


def test_an_unknown_key_of_the_identity_is_no_part_of_it() -> None:
    checkpoint = decode_checkpoint(text_of(MINIMAL | {"graph": {"id": "g", "g": 1}}))
    assert checkpoint.graph == Identity("g")


def test_the_order_of_keys_says_nothing() -> None:
    assert decode_checkpoint(text_of(dict(reversed(MINIMAL.items())))) == decode_checkpoint(text_of(MINIMAL))


def test_missing_parts_of_a_wait_are_null() -> None:
    assert decode_checkpoint(text_of(MINIMAL | {"wait": {"kind": "event"}})).wait == WaitRecord(kind="event")


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("$.metadata.hops", {"metadata": {"tenant": "acme", "hops": 3}}),
    ("$.metadata.tenant", {"metadata": {"tenant": None}}),
    ("$.metadata", {"metadata": []}),
    ("$.schema_version", {"schema_version": 1}),
    ("$.thread_id", {"thread_id": None}),
    ("$.status", {"status": 1}),
    ("$.suspended_node", {"suspended_node": ["a"]}),
    ("$.created_at", {"created_at": "yesterday"}),
    ("$.created_at", {"created_at": "2026-11-02T09:15:04"}),
    ("$.resumed_at", {"resumed_at": 0}),
    ("$.nested", {"nested": []}),
    ("$.nested.status", {"nested": MINIMAL | {"status": "paused"}}),
    ("$.nested.nested.frozen_state", {"nested": MINIMAL | {"nested": {k: v for k, v in MINIMAL.items() if k != "frozen_state"}}}),
    ("$.decision.is_approved", {"decision": DECISION | {"is_approved": 1}}),
    ("$.decision.overrides", {"decision": DECISION | {"overrides": []}}),
    ("$.decision.decided_at", {"decision": DECISION | {"decided_at": "x"}}),
    ("$.wait.kind", {"wait": {"kind": "person"}}),
    ("$.wait.wake_at", {"wait": {"kind": "timer", "wake_at": "soon"}}),
    ("$.graph.id", {"graph": {"version": "1"}}),
    ("$.graph.version", {"graph": {"id": "g", "version": 2}}),
]


@pytest.mark.parametrize(("path", "change"), WRONG)
def test_a_value_of_the_wrong_type_is_refused_with_its_path(path: str, change: dict[str, Any]) -> None:
    error = unreadable(text_of(MINIMAL | change))
    assert (error.thread_id, error.sequence, error.path) == ("essay-1", 4, path)
    assert str(error).startswith("checkpoint 'essay-1' #4 cannot be read: ")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"\xff\xfe",
        b'{"frozen_state":"\xff"}',
        b'{"frozen_state":NaN}',
        b"{}}",
        '{"thread_id":"\ud800"}',
        b'{"thread_id":"\\ud800"}',
    ],
)
def test_broken_json_is_refused(data: bytes | str) -> None:
    assert unreadable(data).thread_id == "essay-1"


def test_a_record_that_nests_too_deep_is_refused() -> None:
    deep = b'{"frozen_state":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert "too deep" in str(unreadable(deep))


def test_a_record_of_too_many_levels_is_refused() -> None:
    value = MINIMAL
    for _ in range(127):
        value = MINIMAL | {"nested": value}
    assert unreadable(text_of(value)).path is not None
    assert len(decode_checkpoint(text_of(value["nested"])).levels()) == 127


def test_without_a_place_the_text_still_reads() -> None:
    with pytest.raises(CheckpointUnreadable, match=r"^checkpoint cannot be read: "):
        decode_checkpoint(b"[]")


def test_versions_are_not_judged() -> None:
    assert decode_checkpoint(text_of(MINIMAL | {"schema_version": "2.0.0"})).schema_version == "2.0.0"


# States and overrides


def test_ck11_a_state_goes_through_untouched() -> None:
    state = '{"b":4200.5,"a":9007199254740993,"n":[true,[null]],"s":"say \\"hi\\" \\\\ \\u00e9 日本語 🚀\\n","e":"","f":1e16,"z":-0.0}'
    data = encode_checkpoint(record()).replace(b'{"score":7.5}', state.encode())
    assert decode_checkpoint(data).frozen_state == Raw(state.encode())
    assert encode_checkpoint(decode_checkpoint(data)) == data


@pytest.mark.parametrize("state", [b"7", b"null", b"[]", b'"text"', b"1e400"])
def test_ck12_any_json_value_is_a_state(state: bytes) -> None:
    data = encode_checkpoint(record()).replace(b'{"score":7.5}', state)
    assert encode_checkpoint(decode_checkpoint(data)) == data


def test_ck16_overrides_keep_their_types() -> None:
    checkpoint = decode_checkpoint(text_of(MINIMAL | {"decision": DECISION, "nested": MINIMAL | {"decision": DECISION}}))
    value = value_of(checkpoint)
    assert value["decision"] == value["nested"]["decision"] == DECISION


def test_ser20_user_data_with_our_own_key_names_is_not_misread() -> None:
    state: dict[str, Any] = {
        "nested": {"status": "x"},
        "frozen_state": 1,
        "set": {},
        "unset": [],
        "blobs": {},
        "checkpoint_version": "1.0.0",
        "delta_of": 3,
    }
    checkpoint = decode_checkpoint(encode_checkpoint(record(state=state)))
    assert json.loads(bytes(checkpoint.frozen_state)) == state
    assert checkpoint.nested is None


# Metadata


def test_ck15_empty_metadata_is_written_as_null() -> None:
    assert b'"metadata":null' in encode_checkpoint(record(metadata={}))
    assert encode_metadata({}) is None


def test_ck62_the_recorded_failure_has_its_keys() -> None:
    [failed] = recorded("charge_fatal")
    assert failed.metadata == {"error": "card declined", "error_kind": "fatal", "attempts": "1"}


# Columns


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_recorded_checkpoint_survives_its_columns(path: Path) -> None:
    checkpoint = decode_checkpoint(path.read_bytes())
    assert through_columns(checkpoint) == checkpoint


def through_columns(checkpoint: Checkpoint) -> Checkpoint:
    return decode_columns(
        thread_id=checkpoint.thread_id,
        sequence=0,
        schema_version=checkpoint.schema_version,
        status=checkpoint.status,
        suspended_node=checkpoint.suspended_node,
        next_node=checkpoint.next_node,
        frozen_state=bytes(checkpoint.frozen_state).decode(),
        metadata=encode_metadata(checkpoint.metadata),
        created_at=checkpoint.created_at,
        resumed_at=checkpoint.resumed_at,
        nested=encode_nested(checkpoint.nested),
        decision=encode_decision(checkpoint.decision),
        wait=encode_wait(checkpoint.wait),
        graph_id=None if checkpoint.graph is None else checkpoint.graph.id,
        graph_version=None if checkpoint.graph is None else checkpoint.graph.version,
    )


def test_absent_parts_are_null_columns() -> None:
    assert (encode_metadata(None), encode_nested(None), encode_decision(None), encode_wait(None)) == (None, None, None, None)


@pytest.mark.parametrize(
    ("path", "columns"),
    [
        ("$.status", {"status": "paused"}),
        ("$.metadata", {"metadata": "{"}),
        ("$.metadata.a", {"metadata": '{"a":1}'}),
        ("$.created_at", {"created_at": "x"}),
        ("$.nested", {"nested": "null"}),
        ("$.nested.status", {"nested": json.dumps(MINIMAL | {"status": "paused"})}),
        ("$.decision.boundary", {"decision": '{"is_approved":true,"reviewer":"","overrides":{},"decided_at":"2026-11-02T10:00:01Z"}'}),
        ("$.wait.kind", {"wait": "{}"}),
    ],
)
def test_a_broken_column_is_refused_with_its_path(path: str, columns: dict[str, str]) -> None:
    row: dict[str, Any] = {
        "schema_version": "1.0.0",
        "status": "failed",
        "suspended_node": None,
        "next_node": None,
        "frozen_state": "{}",
        "metadata": None,
        "created_at": "2026-11-02T09:15:04Z",
        "resumed_at": None,
    }
    with pytest.raises(CheckpointUnreadable) as refusal:
        decode_columns(thread_id="t", sequence=2, **(row | columns))
    assert (refusal.value.thread_id, refusal.value.sequence, refusal.value.path) == ("t", 2, path)


def test_a_metadata_column_alone_is_read_for_listings() -> None:
    assert decode_metadata('{"tenant":"acme"}') == {"tenant": "acme"}
    assert decode_metadata(None) is None


# Any record

texts = st.text(st.characters(codec="utf-8"), max_size=6)
keys = st.one_of(st.sampled_from([*NINE_KEYS, "nested", "decision", "wait", "graph", "kind", "id", "overrides"]), texts)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
unknown_keys = st.dictionaries(texts.map("x-{}".format), json_values, max_size=2)
times = st.sampled_from(["2026-11-02T09:15:04Z", "2026-11-02T09:15:04.25+02:00"])
optional_texts = st.none() | texts


def objects(required: dict[str, st.SearchStrategy[Any]], optional: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(st.fixed_dictionaries(required, optional=optional), unknown_keys).map(lambda parts: parts[0] | parts[1])


decisions = objects(
    {
        "boundary": texts,
        "is_approved": st.booleans(),
        "reviewer": texts,
        "overrides": st.dictionaries(texts, json_values, max_size=3),
        "decided_at": times,
    },
    {},
)
waits = objects({"kind": st.sampled_from(["human", "event", "timer"])}, {"event_type": optional_texts, "wake_at": st.none() | times})
identities = objects({"id": texts}, {"version": optional_texts})


def levels(nested: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return objects(
        {
            "schema_version": texts,
            "thread_id": texts,
            "status": st.sampled_from(["interrupted", "completed", "failed", "cancelled", "ended", "running"]),
            "frozen_state": json_values,
            "created_at": times,
        },
        {
            "suspended_node": optional_texts,
            "next_node": optional_texts,
            "metadata": st.none() | st.dictionaries(texts, texts, max_size=3),
            "resumed_at": st.none() | times,
            "nested": nested,
            "decision": st.none() | decisions,
            "wait": st.none() | waits,
            "graph": st.none() | identities,
        },
    )


records = st.recursive(levels(st.none()), lambda below: levels(st.none() | below), max_leaves=3)


@given(records)
def test_no_key_of_a_readable_record_is_lost(value: dict[str, Any]) -> None:
    written = value_of(decode_checkpoint(text_of(value)))
    assert without_nothing(written) == without_nothing(value)
    assert decode_checkpoint(text_of(written)) == decode_checkpoint(encode_checkpoint(decode_checkpoint(text_of(written))))


def without_nothing(level: dict[str, Any]) -> dict[str, Any]:
    """The level without known keys that say nothing: null is the same as missing, and no metadata the same as empty."""
    optional = ("suspended_node", "next_node", "metadata", "resumed_at", "nested", "decision", "wait", "graph", "event_type", "wake_at", "version")
    kept = {key: value for key, value in level.items() if key not in optional or value not in (None, {})}
    return kept | {key: without_nothing(kept[key]) for key in ("nested", "decision", "wait", "graph") if key in kept}


@given(records, st.data())
def test_a_damaged_record_is_read_or_refused_and_nothing_else(value: dict[str, Any], data: st.DataObject) -> None:
    text = bytearray(text_of(value))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=3))
    read_or_refused(bytes(text))


@given(st.dictionaries(keys, json_values, max_size=14))
def test_any_object_is_read_or_refused_and_nothing_else(value: dict[str, Any]) -> None:
    read_or_refused(text_of(value))


@given(st.binary() | st.text())
def test_any_bytes_are_refused_and_nothing_else(data: bytes | str) -> None:
    read_or_refused(data)


def read_or_refused(data: bytes | str) -> None:
    try:
        checkpoint = decode_checkpoint(data, thread_id="t", sequence=0)
    except CheckpointUnreadable:
        return
    written = encode_checkpoint(checkpoint)
    assert encode_checkpoint(decode_checkpoint(written)) == written


def test_a_decision_made_by_hand_is_written_in_order() -> None:
    decision = DecisionRecord(boundary="b", is_approved=False, reviewer="r", overrides=json_of({"a": 1}), decided_at="2026-11-02T10:00:01Z")
    assert encode_decision(decision) == '{"boundary":"b","is_approved":false,"reviewer":"r","overrides":{"a":1},"decided_at":"2026-11-02T10:00:01Z"}'
