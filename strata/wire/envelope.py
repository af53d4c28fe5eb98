"""Store encodings undone: rows that hold changes of their state, or name large values kept elsewhere.

A store with deltas (`1.8.0`) or offload (`1.9.0`) puts an envelope in place of each level's state; every store reads
them, whatever it writes itself (strata-stores.md 8 and 9). A store asks `rows_before` and `blobs_named`, fetches what
they say, and gives it all to `restore`, or to `restore_page` for a page of a log.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NoReturn, TypeAlias

import msgspec
from msgspec import Raw

from strata.checkpoint.record import Checkpoint
from strata.errors import CheckpointUnreadable
from strata.ports.checkpoints import Logged

ENCODINGS: Final = frozenset({"1.8.0", "1.9.0"})


def is_encoded(checkpoint: Checkpoint) -> bool:
    """Whether the record still has envelopes in place of its states."""
    return checkpoint.schema_version in ENCODINGS


def rows_before(row: Logged) -> int:
    """How many rows directly before `row` must be read with it (a row that cannot be read needs none)."""
    try:
        opened = _opened(row)
    except CheckpointUnreadable:
        return 0
    return 0 if opened.base is None else max(opened.envelopes[0].depth, 0)


def blobs_named(rows: Iterable[Logged]) -> frozenset[str]:
    """The hashes of the large values that `rows` name."""
    hashes: set[str] = set()
    for row in rows:
        try:
            opened = _opened(row)
        except CheckpointUnreadable:
            continue  # `restore` says what is wrong with it
        hashes.update(blob.hash for envelope in opened.envelopes for blob in envelope.blobs.values() if blob.hash is not None)
    return frozenset(hashes)


def restore(rows: Sequence[Logged], blobs: Mapping[str, bytes]) -> Checkpoint:
    """The last of `rows` as it was saved; the others are the rows directly before it, oldest first.

    `blobs` are the contents by hash.

    Raises:
        CheckpointUnreadable: an envelope is broken, a row that it builds on is not among `rows`, or a blob is missing or
            not what was stored under its hash.
    """
    *earlier, wanted = _chain(rows)
    if not wanted.envelopes:
        return wanted.checkpoint
    states: list[_State] = []
    for row in (*earlier, wanted):
        states = _states(row, states, blobs)
    return _with_states(wanted, states)


def restore_page(rows: Sequence[Logged], blobs: Mapping[str, bytes], *, skip: int = 0) -> tuple[Logged, ...]:
    """All of `rows` but the first `skip`, each as it was saved, or with the error that keeps that one row from being read."""
    return tuple(Logged(rows[end - 1].sequence, _restored(rows[:end], blobs)) for end in range(skip + 1, len(rows) + 1))


def _restored(rows: Sequence[Logged], blobs: Mapping[str, bytes]) -> Checkpoint | CheckpointUnreadable:
    try:
        return restore(rows, blobs)
    except CheckpointUnreadable as unreadable:
        return unreadable


# States

_State: TypeAlias = dict[str, Raw] | Raw
"""A level's state: its top-level values, or the bytes of one that is no object."""


def _chain(rows: Sequence[Logged]) -> list[_Row]:
    """The last row, and before it those that it builds on, from one that stands for itself."""
    chain = [_opened(rows[-1])]
    for row in reversed(rows[:-1]):
        if row.sequence == chain[-1].base:
            chain.append(_opened(row))
    if chain[-1].base is not None:
        chain[-1].refuse(f"is a delta of #{chain[-1].base}, which wasn't read with it")
    return chain[::-1]


def _states(row: _Row, before: Sequence[_State], blobs: Mapping[str, bytes]) -> list[_State]:
    """The states of the row's levels, outermost first, given those of the row before it."""
    if not row.envelopes:
        return [_values(level.frozen_state) for level in row.checkpoint.levels()]
    states: list[_State] = []
    for index, envelope in enumerate(row.envelopes):
        if envelope.state != _NO_STATE:
            state = _values(envelope.state)
        else:
            state = _changed(row, index, envelope, before[index] if index < len(before) else None)
        states.append(_filled(row, index, envelope, state, blobs) if envelope.blobs else state)
    return states


def _changed(row: _Row, index: int, envelope: _Envelope, before: _State | None) -> _State:
    if not isinstance(before, dict):
        row.refuse(f"has a delta at level {index}, and the row before has no object there")
    return {key: value for key, value in before.items() if key not in envelope.removed} | (envelope.changed or {})


def _filled(row: _Row, index: int, envelope: _Envelope, state: _State, blobs: Mapping[str, bytes]) -> _State:
    """The state with its large values in their places."""
    if not isinstance(state, dict):
        row.refuse(f"has blobs at level {index}, whose state isn't an object")
    return state | {key: _content(row, key, blob.hash or "", blobs) for key, blob in envelope.blobs.items()}


def _content(row: _Row, key: str, hash_: str, blobs: Mapping[str, bytes]) -> Raw:
    content = blobs.get(hash_)
    if content is None:
        row.refuse(f"refers to blob {hash_} at '{key}', which the blob store doesn't have")
    if f"sha256:{hashlib.sha256(content).hexdigest()}" != hash_:
        row.refuse(f"refers to blob {hash_} at '{key}', whose content doesn't match")
    return Raw(content)


def _values(state: Raw) -> _State:
    try:
        return _read_object.decode(state)
    except msgspec.ValidationError:
        return state


def _with_states(row: _Row, states: Sequence[_State]) -> Checkpoint:
    nested: Checkpoint | None = None
    for level, state in zip(reversed(row.checkpoint.levels()[1:]), reversed(states[1:]), strict=True):
        nested = msgspec.structs.replace(level, frozen_state=_bytes_of(state), nested=nested)
    version = row.envelopes[0].checkpoint_version
    return msgspec.structs.replace(row.checkpoint, schema_version=version, frozen_state=_bytes_of(states[0]), nested=nested)


def _bytes_of(state: _State) -> Raw:
    return Raw(_write_sorted(state)) if isinstance(state, dict) else state


# Envelopes


_NO_STATE: Final = Raw(b"")
"""Stands for a missing `state` (a state may well be null)."""


class _Blob(msgspec.Struct, frozen=True):
    hash: str | None = None


class _Envelope(msgspec.Struct, frozen=True):
    """What stands in place of a level's state; the first three keys are the outermost level's only."""

    checkpoint_version: str | None = None
    delta_of: int | None = None
    depth: int = 0
    state: Raw = _NO_STATE
    changed: dict[str, Raw] | None = msgspec.field(name="set", default=None)
    removed: frozenset[str] = msgspec.field(name="unset", default=frozenset())
    blobs: dict[str, _Blob] = {}


class _Row(msgspec.Struct, frozen=True):
    """A row with its envelopes opened, outermost first; a row that is stored plainly has none."""

    checkpoint: Checkpoint
    sequence: int
    envelopes: tuple[_Envelope, ...] = ()

    @property
    def base(self) -> int | None:
        """The sequence of the row that this one builds on."""
        return self.envelopes[0].delta_of if self.envelopes else None

    def refuse(self, why: str) -> NoReturn:
        thread_id = self.checkpoint.thread_id
        raise CheckpointUnreadable(
            f"checkpoint '{thread_id}' #{self.sequence} {why}", thread_id=thread_id, sequence=self.sequence, path="$.frozen_state"
        )


_read_envelope: Final = msgspec.json.Decoder(_Envelope)
_read_object: Final = msgspec.json.Decoder(dict[str, Raw])
_write_sorted: Final = msgspec.json.Encoder(order="deterministic").encode


def _opened(stored: Logged) -> _Row:
    if isinstance(stored.checkpoint, CheckpointUnreadable):
        raise stored.checkpoint
    row = _Row(stored.checkpoint, stored.sequence)
    if not is_encoded(stored.checkpoint):
        return row
    envelopes = tuple(_envelope(row, index, level.frozen_state) for index, level in enumerate(stored.checkpoint.levels()))
    return _Row(stored.checkpoint, stored.sequence, envelopes)


def _envelope(row: _Row, index: int, state: Raw) -> _Envelope:
    try:
        envelope = _read_envelope.decode(state)
    except (msgspec.DecodeError, RecursionError) as why:
        if isinstance(_values(state), dict):
            row.refuse(f"has an envelope at level {index} that cannot be read: {why}")
        row.refuse(f"is stored as {row.checkpoint.schema_version} without an envelope" if index == 0 else "has a level without an envelope")
    if index == 0 and envelope.checkpoint_version is None:
        row.refuse("has no checkpoint_version")
    if envelope.state == _NO_STATE and envelope.changed is None:
        row.refuse("has a level without an envelope")
    for key, blob in envelope.blobs.items():
        if blob.hash is None:
            row.refuse(f"has a blob at '{key}' without a hash")
    return envelope
