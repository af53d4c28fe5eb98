"""What we answer differently, as changes of the recorded answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.wire.scenario import Records, Result

REFERENCE = "reference.md section 4"


def refused(text: str) -> Callable[[Result], Result]:
    return lambda _: {"outcome": "failed", "error": "execution_aborted", "text": text}


def without(*names: str) -> Callable[[Result], Result]:
    """The same answer without what differs from run to run."""
    return lambda result: {name: value for name, value in result.items() if name not in names}


def failed_with(**changes: object) -> Callable[[Records], Records]:
    """The last record has other metadata."""
    return lambda records: [*records[:-1], {**records[-1], "metadata": {**records[-1]["metadata"], **changes}}]


def nothing(_: Records) -> Records:
    return []


def without_unknown_field(records: Records) -> Records:
    """Neither the claim's state nor its decision holds an override that the state does not have."""
    return [_without(record, "unknown_field") for record in records]


def _without(record: dict[str, Any], name: str) -> dict[str, Any]:
    shown = {**record, "frozen_state": {key: value for key, value in record["frozen_state"].items() if key != name}}
    if "decision" in record:
        overrides = {key: value for key, value in record["decision"]["overrides"].items() if key != name}
        shown["decision"] = {**record["decision"], "overrides": overrides}
    return shown


def signal(*, approved: bool = True, **overrides: object) -> Mapping[str, Any]:
    return {"is_approved": approved, "reviewer": "ana@example.com", "overrides": overrides, "field_overrides": {}}
