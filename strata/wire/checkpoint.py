"""A checkpoint as JSON: the record of strata-checkpoint.md 1, whole or as the columns of a SQL row.

States and overrides go through as the bytes they are. Keys that this build does not know are kept and written back
behind the known ones. Versions are not judged here: the engine does that, for the levels it is about to use.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NoReturn, TypeVar, get_args

import msgspec
from msgspec import Raw

from strata.checkpoint.record import Checkpoint, DecisionRecord, Status, UnknownKeys, WaitKind, WaitRecord
from strata.errors import CheckpointUnreadable
from strata.graph.identity import Identity
from strata.graph.times import parse_wire_time

T = TypeVar("T")

STATUSES: Final[tuple[Status, ...]] = get_args(Status)
WAIT_KINDS: Final[tuple[WaitKind, ...]] = get_args(WaitKind)


def encode_checkpoint(checkpoint: Checkpoint) -> bytes:
    """The record as compact JSON, keys in the engine's order at every level (strata-checkpoint.md 1.1)."""
    return _json(_record(checkpoint))


def decode_checkpoint(data: bytes | str, *, thread_id: str | None = None, sequence: int | None = None) -> Checkpoint:
    """The record that `data` holds; `thread_id` and `sequence` say in errors where it was stored.

    Raises:
        CheckpointUnreadable: it is no JSON, nests too deep, lacks a key, or a value is not of its type.
    """
    return _Reader(thread_id, sequence).checkpoint(data)


# The columns of a SQL row (strata-stores.md 3.1): absent is NULL, never the text `null`


def encode_metadata(metadata: Mapping[str, str] | None) -> str | None:
    return _json(dict(metadata)).decode() if metadata else None


def encode_nested(nested: Checkpoint | None) -> str | None:
    return None if nested is None else encode_checkpoint(nested).decode()


def encode_decision(decision: DecisionRecord | None) -> str | None:
    return None if decision is None else _json(_decision(decision)).decode()


def encode_wait(wait: WaitRecord | None) -> str | None:
    return None if wait is None else _json(_wait(wait)).decode()


def decode_metadata(text: str | bytes | None, *, thread_id: str | None = None, sequence: int | None = None) -> Mapping[str, str] | None:
    """A `metadata` column.

    Raises:
        CheckpointUnreadable: it is not an object of strings.
    """
    return None if text is None else _Reader(thread_id, sequence).metadata(_raw(text), "$.metadata")


def decode_columns(
    *,
    thread_id: str,
    sequence: int,
    schema_version: str,
    status: str,
    suspended_node: str | None,
    next_node: str | None,
    frozen_state: str | bytes,
    metadata: str | bytes | None,
    created_at: str,
    resumed_at: str | None,
    nested: str | bytes | None = None,
    decision: str | bytes | None = None,
    wait: str | bytes | None = None,
    graph_id: str | None = None,
    graph_version: str | None = None,
) -> Checkpoint:
    """The record of a SQL row, its JSON columns as they stand in the row; the state is not looked at.

    Raises:
        CheckpointUnreadable: a column does not hold what it should.
    """
    reader = _Reader(thread_id, sequence)
    return Checkpoint(
        schema_version=schema_version,
        thread_id=thread_id,
        status=reader.status(status, "$.status"),
        suspended_node=suspended_node,
        next_node=next_node,
        frozen_state=_raw(frozen_state),
        metadata=None if metadata is None else reader.metadata(_raw(metadata), "$.metadata"),
        created_at=reader.time(created_at, "$.created_at"),
        resumed_at=None if resumed_at is None else reader.time(resumed_at, "$.resumed_at"),
        nested=None if nested is None else reader.checkpoint(nested, "$.nested"),
        decision=None if decision is None else reader.decision(_raw(decision), "$.decision"),
        wait=None if wait is None else reader.wait(_raw(wait), "$.wait"),
        graph=None if graph_id is None else Identity(graph_id, graph_version),
    )


# Writing


_json: Final = msgspec.json.Encoder().encode


def _record(checkpoint: Checkpoint) -> dict[str, Any]:
    levels = checkpoint.levels()
    record = _level(levels[-1], None)
    for level in reversed(levels[:-1]):
        record = _level(level, record)
    return record


def _level(level: Checkpoint, nested: dict[str, Any] | None) -> dict[str, Any]:
    record: dict[str, Any] = {
        "schema_version": level.schema_version,
        "thread_id": level.thread_id,
        "status": level.status,
        "suspended_node": level.suspended_node,
        "next_node": level.next_node,
        "frozen_state": level.frozen_state,
        "metadata": dict(level.metadata) if level.metadata else None,
        "created_at": level.created_at,
        "resumed_at": level.resumed_at,
    }
    if nested is not None:
        record["nested"] = nested
    if level.decision is not None:
        record["decision"] = _decision(level.decision)
    if level.wait is not None:
        record["wait"] = _wait(level.wait)
    if level.graph is not None:
        record["graph"] = _with_unknown({"id": level.graph.id, "version": level.graph.version}, level.graph_unknown)
    return _with_unknown(record, level.unknown)


def _decision(decision: DecisionRecord) -> dict[str, Any]:
    record = {
        "boundary": decision.boundary,
        "is_approved": decision.is_approved,
        "reviewer": decision.reviewer,
        "overrides": decision.overrides,
        "decided_at": decision.decided_at,
    }
    return _with_unknown(record, decision.unknown)


def _wait(wait: WaitRecord) -> dict[str, Any]:
    record = {"kind": wait.kind, "event_type": wait.event_type, "wake_at": wait.wake_at}
    return _with_unknown(record, wait.unknown)


def _with_unknown(record: dict[str, Any], unknown: UnknownKeys | None) -> dict[str, Any]:
    if unknown:
        record.update(unknown)
    return record


# Reading


_MOST_LEVELS: Final = 127
"""What the Rust engine's reader takes of nesting in one JSON text (strata-checkpoint.md 1.2)."""

_NULL: Final = Raw(b"null")

_read_object: Final = msgspec.json.Decoder(dict[str, Raw])
_read_texts: Final = msgspec.json.Decoder(dict[str, str])
_read_text: Final = msgspec.json.Decoder(str)
_read_flag: Final = msgspec.json.Decoder(bool)


class _Reader:
    """Reads the parts of one stored record, and says of a fault where it stands."""

    __slots__ = ("_sequence", "_thread_id")

    def __init__(self, thread_id: str | None, sequence: int | None) -> None:
        self._thread_id, self._sequence = thread_id, sequence

    def checkpoint(self, data: bytes | str, path: str = "$") -> Checkpoint:
        levels: list[tuple[dict[str, Raw], str]] = []
        below: Raw | None = self.utf8(data, path)
        while below is not None:
            if len(levels) == _MOST_LEVELS:
                self.refuse(path, f"it nests more than {_MOST_LEVELS} levels")
            fields = self.fields(below, path)
            levels.append((fields, path))
            below = _present(fields, "nested")
            path += ".nested"
        fields, path = levels.pop()
        checkpoint = self.level(fields, None, path)
        for fields, path in reversed(levels):
            checkpoint = self.level(fields, checkpoint, path)
        return checkpoint

    def utf8(self, data: bytes | str, path: str) -> Raw:
        """The text as bytes that are surely UTF-8: a state is passed over unread, and would carry others along."""
        try:
            return Raw(data.encode() if isinstance(data, str) else data.decode().encode())
        except UnicodeError as why:
            self.refuse(path, str(why))

    def level(self, fields: dict[str, Raw], nested: Checkpoint | None, path: str) -> Checkpoint:
        metadata, resumed_at, decision = _present(fields, "metadata"), _present(fields, "resumed_at"), _present(fields, "decision")
        wait, graph = _present(fields, "wait"), _present(fields, "graph")
        identity, graph_unknown = (None, None) if graph is None else self.graph(graph, f"{path}.graph")
        return Checkpoint(
            schema_version=self.text(fields, "schema_version", path),
            thread_id=self.text(fields, "thread_id", path),
            status=self.status(self.text(fields, "status", path), f"{path}.status"),
            suspended_node=self.optional_text(fields, "suspended_node", path),
            next_node=self.optional_text(fields, "next_node", path),
            frozen_state=self.required(fields, "frozen_state", path),
            metadata=None if metadata is None else self.metadata(metadata, f"{path}.metadata"),
            created_at=self.time(self.text(fields, "created_at", path), f"{path}.created_at"),
            resumed_at=None if resumed_at is None else self.time(self.read(_read_text, resumed_at, f"{path}.resumed_at"), f"{path}.resumed_at"),
            nested=nested,
            decision=None if decision is None else self.decision(decision, f"{path}.decision"),
            wait=None if wait is None else self.wait(wait, f"{path}.wait"),
            graph=identity,
            graph_unknown=graph_unknown,
            unknown=fields or None,
        )

    def decision(self, raw: Raw, path: str) -> DecisionRecord:
        fields = self.fields(raw, path)
        overrides = self.required(fields, "overrides", path)
        self.fields(overrides, f"{path}.overrides")
        return DecisionRecord(
            boundary=self.text(fields, "boundary", path),
            is_approved=self.read(_read_flag, self.required(fields, "is_approved", path), f"{path}.is_approved"),
            reviewer=self.text(fields, "reviewer", path),
            overrides=overrides,
            decided_at=self.time(self.text(fields, "decided_at", path), f"{path}.decided_at"),
            unknown=fields or None,
        )

    def wait(self, raw: Raw, path: str) -> WaitRecord:
        fields = self.fields(raw, path)
        kind = self.text(fields, "kind", path)
        if kind not in WAIT_KINDS:
            self.refuse(f"{path}.kind", f"unknown kind of wait '{kind}'")
        wake_at = self.optional_text(fields, "wake_at", path)
        return WaitRecord(
            kind=kind,
            event_type=self.optional_text(fields, "event_type", path),
            wake_at=None if wake_at is None else self.time(wake_at, f"{path}.wake_at"),
            unknown=fields or None,
        )

    def graph(self, raw: Raw, path: str) -> tuple[Identity, UnknownKeys | None]:
        fields = self.fields(raw, path)
        identity = Identity(self.text(fields, "id", path), self.optional_text(fields, "version", path))
        return identity, fields or None

    def metadata(self, raw: Raw, path: str) -> dict[str, str]:
        try:
            return _read_texts.decode(raw)
        except (msgspec.DecodeError, RecursionError):  # read it key by key, to name the one that is wrong
            return {key: self.read(_read_text, value, f"{path}.{key}") for key, value in self.fields(raw, path).items()}

    def status(self, text: str, path: str) -> Status:
        if text not in STATUSES:
            self.refuse(path, f"unknown checkpoint status '{text}' in the checkpoint log")
        return text

    def time(self, text: str, path: str) -> str:
        """The text as it stands, once it has been seen to be a time."""
        try:
            parse_wire_time(text)
        except (ValueError, OverflowError) as why:
            self.refuse(path, f"bad timestamp '{text}' in the log: {why}")
        return text

    def text(self, fields: dict[str, Raw], key: str, path: str) -> str:
        return self.read(_read_text, self.required(fields, key, path), f"{path}.{key}")

    def optional_text(self, fields: dict[str, Raw], key: str, path: str) -> str | None:
        raw = _present(fields, key)
        return None if raw is None else self.read(_read_text, raw, f"{path}.{key}")

    def required(self, fields: dict[str, Raw], key: str, path: str) -> Raw:
        """The value, taken out of `fields`: what is left there in the end are the unknown keys."""
        raw = fields.pop(key, None)
        if raw is None:
            self.refuse(f"{path}.{key}", "the key is missing")
        return raw

    def fields(self, raw: Raw, path: str) -> dict[str, Raw]:
        return self.read(_read_object, raw, path)

    def read(self, decoder: msgspec.json.Decoder[T], raw: Raw, path: str) -> T:
        try:
            return decoder.decode(raw)
        except (msgspec.DecodeError, UnicodeError) as why:
            self.refuse(path, str(why))
        except RecursionError:
            self.refuse(path, "it is nested too deep")

    def refuse(self, path: str, why: str) -> NoReturn:
        raise CheckpointUnreadable(
            f"checkpoint{_place(self._thread_id, self._sequence)} cannot be read: {why} - at `{path}`",
            thread_id=self._thread_id,
            sequence=self._sequence,
            path=path,
            hint="the record was left as it is: look at it where it is stored, or purge the thread",
        )


def _present(fields: dict[str, Raw], key: str) -> Raw | None:
    """The value, taken out of `fields`; null is the same as missing."""
    raw = fields.pop(key, None)
    return None if raw is None or raw == _NULL else raw


def _raw(data: str | bytes) -> Raw:
    return Raw(data.encode() if isinstance(data, str) else data)


def _place(thread_id: str | None, sequence: int | None) -> str:
    return ("" if thread_id is None else f" '{thread_id}'") + ("" if sequence is None else f" #{sequence}")
