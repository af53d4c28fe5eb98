"""The tables of a database, as the engines make them, byte for byte (strata-stores.md 3); a dump of ours equals a dump of theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

COMPONENT: Final = "checkpoints"

ANYTHING: Final = "SELECT 1 FROM sqlite_master LIMIT 1"
"""Whether the file holds a table, of whatever program."""

OF_THE_ENGINES: Final = ("strata_schema_version", "checkpoints", "history_records")
"""Tables of which one is in every file that an engine has used, whatever it keeps there."""

VERSIONS: Final = """CREATE TABLE IF NOT EXISTS strata_schema_version (
    component TEXT NOT NULL PRIMARY KEY,
    version   INTEGER NOT NULL
)"""

CHECKPOINTS: Final = """CREATE TABLE IF NOT EXISTS checkpoints (
    thread_id      TEXT NOT NULL,
    sequence       INTEGER NOT NULL,
    schema_version TEXT NOT NULL,
    status         TEXT NOT NULL,
    suspended_node TEXT,
    next_node      TEXT,
    frozen_state   TEXT NOT NULL,
    metadata       TEXT,
    created_at     TEXT NOT NULL,
    resumed_at     TEXT,
    nested         TEXT,
    decision       TEXT,
    wait           TEXT,
    wake_at        TEXT,
    graph_id       TEXT,
    graph_version  TEXT,
    PRIMARY KEY (thread_id, sequence)
)"""

ADDED_TO_CHECKPOINTS: Final = {
    "nested": "ALTER TABLE checkpoints ADD COLUMN nested TEXT",
    "decision": "ALTER TABLE checkpoints ADD COLUMN decision TEXT",
    "wait": "ALTER TABLE checkpoints ADD COLUMN wait TEXT",
    "wake_at": "ALTER TABLE checkpoints ADD COLUMN wake_at TEXT",
    "graph_id": "ALTER TABLE checkpoints ADD COLUMN graph_id TEXT",
    "graph_version": "ALTER TABLE checkpoints ADD COLUMN graph_version TEXT",
}
"""What tables made before these columns lack, in the order in which they are appended."""

HEADS: Final = """CREATE TABLE checkpoint_threads (
    thread_id  TEXT NOT NULL PRIMARY KEY,
    sequence   INTEGER NOT NULL,
    state      TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    metadata      TEXT,
    wake_at       TEXT,
    graph_id      TEXT,
    graph_version TEXT
)"""

ADDED_TO_HEADS: Final = {
    "wake_at": "ALTER TABLE checkpoint_threads ADD COLUMN wake_at TEXT",
    "graph_id": "ALTER TABLE checkpoint_threads ADD COLUMN graph_id TEXT",
    "graph_version": "ALTER TABLE checkpoint_threads ADD COLUMN graph_version TEXT",
}

HEAD_INDEXES: Final = (
    """CREATE INDEX IF NOT EXISTS checkpoint_threads_by_state
    ON checkpoint_threads (state, updated_at, thread_id)""",
    """CREATE INDEX IF NOT EXISTS checkpoint_threads_by_updated
    ON checkpoint_threads (updated_at, thread_id)""",
    """CREATE INDEX IF NOT EXISTS checkpoint_threads_by_wake
    ON checkpoint_threads (wake_at)""",
    """CREATE INDEX IF NOT EXISTS checkpoint_threads_by_graph
    ON checkpoint_threads (graph_id, updated_at, thread_id)""",
)

DROP_HEAD_TRIGGER: Final = "DROP TRIGGER IF EXISTS checkpoints_head"

HEAD_TRIGGER: Final = """CREATE TRIGGER checkpoints_head AFTER INSERT ON checkpoints
BEGIN
    INSERT INTO checkpoint_threads (thread_id, sequence, state, updated_at, metadata, wake_at, graph_id, graph_version)
    VALUES (NEW.thread_id, NEW.sequence,
            CASE WHEN NEW.resumed_at IS NOT NULL THEN 'resumed' ELSE NEW.status END,
            COALESCE(NEW.resumed_at, NEW.created_at), NEW.metadata, NEW.wake_at, NEW.graph_id, NEW.graph_version)
    ON CONFLICT (thread_id) DO UPDATE SET
        sequence = excluded.sequence,
        state = excluded.state,
        updated_at = excluded.updated_at,
        metadata = excluded.metadata,
        wake_at = excluded.wake_at,
        graph_id = excluded.graph_id,
        graph_version = excluded.graph_version
    WHERE excluded.sequence > checkpoint_threads.sequence;
END"""

FILL_HEADS: Final = """INSERT INTO checkpoint_threads (thread_id, sequence, state, updated_at, metadata, wake_at, graph_id, graph_version)
SELECT thread_id, sequence,
       CASE WHEN resumed_at IS NOT NULL THEN 'resumed' ELSE status END,
       COALESCE(resumed_at, created_at), metadata, wake_at, graph_id, graph_version
FROM checkpoints AS newest
WHERE sequence = (SELECT MAX(sequence) FROM checkpoints WHERE thread_id = newest.thread_id)"""

LEASES: Final = """CREATE TABLE IF NOT EXISTS checkpoint_leases (
    thread_id  TEXT NOT NULL PRIMARY KEY,
    owner      TEXT,
    token      INTEGER NOT NULL,
    expires_at INTEGER
)"""

BLOBS: Final = """CREATE TABLE IF NOT EXISTS checkpoint_blobs (
    thread_id TEXT NOT NULL,
    hash      TEXT NOT NULL,
    content   BLOB NOT NULL,
    PRIMARY KEY (thread_id, hash)
)"""

Steps: TypeAlias = Mapping[int, Sequence[str]]

STEPS: Final[Steps] = {2: (BLOBS,)}
"""What each version adds to the baseline, which is version 1; the highest is what this build knows."""
