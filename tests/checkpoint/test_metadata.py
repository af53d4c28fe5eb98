"""Reserved keys, caller keys and the hop count (strata-checkpoint.md 4 and 11)."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.checkpoint.metadata import caller_metadata, check_caller_metadata, hops_of, merge
from strata.errors import CheckpointUnreadable, OptionRefused
from tests.records import record, recorded

RESERVED = ["error", "error_kind", "attempts", "cancel_reason", "strata.run_id", "strata."]


@pytest.mark.parametrize("key", RESERVED)
def test_ck63_a_reserved_key_is_refused(key: str) -> None:
    with pytest.raises(OptionRefused) as refusal:
        check_caller_metadata({"tenant": "acme", key: "x"})
    assert str(refusal.value) == f"run metadata key '{key}' is reserved"


def test_ck63_an_empty_key_has_its_own_text() -> None:
    with pytest.raises(OptionRefused) as refusal:
        check_caller_metadata({"error": "x", "": "y"})
    assert str(refusal.value) == "run metadata keys can't be empty"


def test_ck63_keys_are_checked_in_byte_order() -> None:
    with pytest.raises(OptionRefused, match="'attempts'"):
        check_caller_metadata({"strata.x": "1", "error": "2", "attempts": "3"})


@pytest.mark.parametrize("metadata", [{"tenant": 7}, {7: "tenant"}, {"tenant": None}, {"a\ud800": "x"}, {"a": "\udfff"}])
def test_what_cannot_be_stored_as_text_is_refused(metadata: dict[Any, Any]) -> None:
    with pytest.raises(OptionRefused):
        check_caller_metadata(cast("dict[str, str]", metadata))


def test_keys_that_only_look_reserved_are_the_callers() -> None:
    check_caller_metadata({"strata": "1", "errors": "2", "Error": "3", "stratum.x": "4"})


def test_ck65_engine_keys_are_never_carried_on() -> None:
    failed = recorded("metadata_failed_then_ok")[0]
    assert caller_metadata(failed.metadata) == {"tenant": "acme"}


def test_ck64_a_resume_lays_its_keys_over_the_stored_ones() -> None:
    stored = {"tenant": "acme", "incident": "INC-1", "strata.hops": "3", "error": "busy"}
    assert merge(stored, {"incident": "INC-2"}) == {"tenant": "acme", "incident": "INC-2"}


def test_no_metadata_is_no_keys() -> None:
    assert caller_metadata(None) == {}
    assert merge(None, {"tenant": "acme"}) == {"tenant": "acme"}


@pytest.mark.parametrize("text", ["-1", "", "+1", "1.0", "4294967296", "99999999999", "x", " 1", "1_0", "٣", "9" * 5000])
def test_ck74_a_hop_count_that_is_no_number_of_32_bits_is_refused(text: str) -> None:
    with pytest.raises(CheckpointUnreadable) as refusal:
        hops_of(record(metadata={"strata.hops": text}), "order-2")
    assert str(refusal.value) == f"checkpoint for thread 'order-2' has an invalid 'strata.hops' value '{text}'"


@pytest.mark.parametrize(("text", "hops"), [("0", 0), ("007", 7), ("4294967295", 4294967295)])
def test_ck74_all_digits_are_read(text: str, hops: int) -> None:
    assert hops_of(record(metadata={"strata.hops": text}), "order-2") == hops


def test_ck74_an_inner_level_is_named() -> None:
    with pytest.raises(CheckpointUnreadable, match=r"thread 'order-2' at level \[Work/Inner\] has an invalid 'strata.hops' value 'x'"):
        hops_of(record("Inner", metadata={"strata.hops": "x"}), "order-2", ("Work", "Inner"))


def test_a_level_that_does_not_count_has_made_none() -> None:
    assert hops_of(record(), "order-2") == 0
    assert hops_of(record(metadata={"tenant": "acme"}), "order-2") == 0


@given(st.text())
def test_any_text_is_a_count_or_unreadable(text: str) -> None:
    try:
        hops = hops_of(record(metadata={"strata.hops": text}), "t")
    except CheckpointUnreadable:
        return
    assert 0 <= hops < 2**32
