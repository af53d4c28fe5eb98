"""What the store says to SQLite; values go by parameter, and by its place: Python 3.14 binds no sequence to `?`."""

from __future__ import annotations

from typing import Final

BEGIN: Final = "BEGIN IMMEDIATE"
COMMIT: Final = "COMMIT"
ROLLBACK: Final = "ROLLBACK"

# Opening

COLUMNS_OF: Final = "SELECT name FROM pragma_table_info(?)"
HAS_LOG: Final = "SELECT 1 FROM pragma_table_info('checkpoints') WHERE name = 'frozen_state'"  # others have a table of that name too
VERSION_OF: Final = "SELECT version FROM strata_schema_version WHERE component = ?"
RECORD_VERSION: Final = """
INSERT INTO strata_schema_version (component, version) VALUES (?, ?)
ON CONFLICT (component) DO UPDATE SET version = excluded.version"""
APPLICATION_ID: Final = "PRAGMA application_id"
WRITE_AHEAD: Final = "PRAGMA journal_mode = WAL"
WAIT_FOR_NOBODY: Final = "PRAGMA busy_timeout = 0"
WAIT_A_MOMENT: Final = "PRAGMA busy_timeout = 250"  # ms, for others to let go of a file whose journal mode is to change
SYNCHRONOUS: Final = {"full": "PRAGMA synchronous = FULL", "normal": "PRAGMA synchronous = NORMAL"}

# Appending: the head row says which sequence is the latest, so that the cost does not grow with the log. Documents are
# bound as the bytes they are and cast, which spares decoding a large state only to encode it again.

APPEND: Final = """
INSERT INTO checkpoints (thread_id, schema_version, status, suspended_node, next_node, frozen_state, metadata, created_at, resumed_at,
                         nested, decision, wait, wake_at, graph_id, graph_version, sequence)
VALUES (?, ?, ?, ?, ?, CAST(? AS TEXT), ?, ?, ?, ?, ?, ?, ?, ?, ?,
        COALESCE((SELECT sequence FROM checkpoint_threads WHERE thread_id = ?), -1) + 1)
RETURNING sequence"""

# A sequence of NULL is refused by the table. A condition in a WHERE would say the same, but INSERT ... SELECT copies all values once more.

APPEND_IF: Final = """
INSERT INTO checkpoints (thread_id, schema_version, status, suspended_node, next_node, frozen_state, metadata, created_at, resumed_at,
                         nested, decision, wait, wake_at, graph_id, graph_version, sequence)
VALUES (?, ?, ?, ?, ?, CAST(? AS TEXT), ?, ?, ?, ?, ?, ?, ?, ?, ?, CASE WHEN {condition} THEN ? END)"""

IS_LATEST: Final = "COALESCE((SELECT sequence FROM checkpoint_threads WHERE thread_id = ?), -1) = ?"
APPEND_IF_LATEST: Final = APPEND_IF.format(condition=IS_LATEST)

# Under a lease: its token is a condition of the append itself, so that nobody can take the thread in between.

APPEND_UNDER_LEASE: Final = """
INSERT INTO checkpoints (thread_id, schema_version, status, suspended_node, next_node, frozen_state, metadata, created_at, resumed_at,
                         nested, decision, wait, wake_at, graph_id, graph_version, sequence)
SELECT ?, ?, ?, ?, ?, CAST(? AS TEXT), ?, ?, ?, ?, ?, ?, ?, ?, ?,
       COALESCE((SELECT sequence FROM checkpoint_threads WHERE thread_id = ?), -1) + 1
WHERE (SELECT token FROM checkpoint_leases WHERE thread_id = ?) = ?
RETURNING sequence"""

HOLDS_THE_LEASE: Final = "(SELECT token FROM checkpoint_leases WHERE thread_id = ?) = ?"
APPEND_IF_LATEST_UNDER_LEASE: Final = APPEND_IF.format(condition=f"{IS_LATEST} AND {HOLDS_THE_LEASE}")

# Leases

TAKE_LEASE: Final = """
INSERT INTO checkpoint_leases (thread_id, owner, token, expires_at) VALUES (?, ?, 1, ?)
ON CONFLICT (thread_id) DO UPDATE SET owner = excluded.owner, token = token + 1, expires_at = excluded.expires_at
WHERE expires_at IS NULL OR expires_at <= ?
RETURNING token"""

LEASE_OF: Final = "SELECT COALESCE(owner, ''), token, expires_at FROM checkpoint_leases WHERE thread_id = ? AND expires_at > ?"
TOKEN_OF: Final = "SELECT token FROM checkpoint_leases WHERE thread_id = ?"
RENEW_LEASE: Final = "UPDATE checkpoint_leases SET owner = ?, expires_at = ? WHERE thread_id = ? AND token = ?"
RELEASE_LEASE: Final = "UPDATE checkpoint_leases SET owner = NULL, expires_at = NULL WHERE thread_id = ? AND token = ?"

# Reading

LATEST: Final = """
SELECT log.thread_id, log.sequence, log.schema_version, log.status, log.suspended_node, log.next_node, log.frozen_state, log.metadata,
       log.created_at, log.resumed_at, log.nested, log.decision, log.wait, log.graph_id, log.graph_version
FROM checkpoint_threads AS head JOIN checkpoints AS log ON log.thread_id = head.thread_id AND log.sequence = head.sequence
WHERE head.thread_id = ?"""

BETWEEN: Final = """
SELECT thread_id, sequence, schema_version, status, suspended_node, next_node, frozen_state, metadata,
       created_at, resumed_at, nested, decision, wait, graph_id, graph_version
FROM checkpoints WHERE thread_id = ? AND sequence BETWEEN ? AND ? ORDER BY sequence LIMIT ?"""

BLOBS: Final = "SELECT hash, content FROM checkpoint_blobs WHERE thread_id = ? AND hash IN (SELECT value FROM json_each(?))"

BEGIN_READING: Final = "BEGIN DEFERRED"

# Listing: the head row decides everything, the newest record only adds what the head does not have. Its state is not
# looked at, but for the version that a store's own encoding hides in it.

HEADS: Final = """
SELECT log.thread_id, log.sequence,
       CASE WHEN log.schema_version IN ('1.8.0', '1.9.0') AND json_valid(log.frozen_state)
            THEN json_extract(log.frozen_state, '$.checkpoint_version') ELSE log.schema_version END,
       log.status, log.suspended_node, log.next_node, 'null', log.metadata,
       log.created_at, log.resumed_at, log.nested, NULL, log.wait, log.graph_id, log.graph_version, head.updated_at
FROM checkpoint_threads AS head JOIN checkpoints AS log ON log.thread_id = head.thread_id AND log.sequence = head.sequence"""

IN_STATES: Final = "head.state IN (SELECT value FROM json_each(?))"
UPDATED_AFTER: Final = "head.updated_at > ?"
UPDATED_BEFORE: Final = "head.updated_at < ?"
DUE: Final = "head.state = 'interrupted' AND head.wake_at <= ?"
OF_GRAPH: Final = "head.graph_id = ?"
OF_GRAPH_VERSION: Final = "head.graph_version = ?"
BELOW: Final = "(head.updated_at, head.thread_id) < (?, ?)"
HAS_METADATA: Final = """
EXISTS (SELECT 1 FROM json_each(CASE WHEN json_valid(head.metadata) THEN head.metadata ELSE '{}' END) AS pair
        WHERE pair.key = ? AND pair.type = 'text' AND pair.value = ?)"""
NEWEST_FIRST: Final = "ORDER BY head.updated_at DESC, head.thread_id DESC LIMIT ?"

# Retention

FINISHED: Final = """
SELECT head.thread_id FROM checkpoint_threads AS head
WHERE head.state IN (SELECT value FROM json_each(?)) AND head.updated_at < ?
  AND NOT EXISTS (SELECT 1 FROM checkpoint_leases AS lease WHERE lease.thread_id = head.thread_id AND lease.expires_at > ?)
ORDER BY head.updated_at, head.thread_id LIMIT ?"""

FORGET: Final = (
    "DELETE FROM checkpoints WHERE thread_id = CAST(? AS TEXT)",  # an id comes as the bytes that it was read as
    "DELETE FROM checkpoint_threads WHERE thread_id = CAST(? AS TEXT)",
    "DELETE FROM checkpoint_leases WHERE thread_id = CAST(? AS TEXT)",
    "DELETE FROM checkpoint_blobs WHERE thread_id = CAST(? AS TEXT)",
)

# Progress: made when first needed, so that a file in which nobody keeps any is as the other engines make it

PROGRESS_LAYOUT: Final = (
    """CREATE TABLE IF NOT EXISTS strata_py_progress (
    thread_id     TEXT NOT NULL,
    base_sequence INTEGER NOT NULL,
    path          TEXT NOT NULL,
    item          TEXT NOT NULL,
    record        TEXT NOT NULL,
    PRIMARY KEY (thread_id, base_sequence, path, item)
)""",
    """CREATE TRIGGER IF NOT EXISTS strata_py_progress_passed AFTER INSERT ON checkpoints
BEGIN
    DELETE FROM strata_py_progress WHERE thread_id = NEW.thread_id AND base_sequence < NEW.sequence;
END""",
    """CREATE TRIGGER IF NOT EXISTS strata_py_progress_purged AFTER DELETE ON checkpoint_threads
BEGIN
    DELETE FROM strata_py_progress WHERE thread_id = OLD.thread_id;
END""",
)
KEEP_PROGRESS: Final = """
INSERT OR REPLACE INTO strata_py_progress (thread_id, base_sequence, path, item, record)
SELECT ?, ?, ?, ?, ? WHERE (SELECT sequence FROM checkpoint_threads WHERE thread_id = ?) = ?"""
HAS_PROGRESS: Final = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'strata_py_progress'"
PROGRESS_OF: Final = "SELECT path, item, record FROM strata_py_progress WHERE thread_id = ? AND base_sequence = ?"
