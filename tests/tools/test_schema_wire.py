"""What the Rust engine says of a tool, ours says of its twin, word for word: manifests and argument problems."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import pytest

from strata.tools import argument_problems, manifest, manifest_entry, signature_of
from tests.tools.rust_twins import TWINS, WIRE, recorded

PARAMETERS: Final[dict[str, Any]] = {entry["name"]: entry["parameters"] for entry in recorded("manifest")}


def calls() -> list[dict[str, Any]]:
    """The recorded calls of which the problems with their arguments are told."""
    lines = (json.loads(line) for line in (WIRE / "calls.jsonl").read_text(encoding="utf-8").splitlines())
    return [call for call in lines if "argument_problems" in call and ("parameters" in call or call["tool"] in PARAMETERS)]


@pytest.mark.parametrize("tool", TWINS, ids=lambda tool: tool.__name__)
def test_the_entry_of_a_tool_is_that_of_the_rust_engine(tool: Callable[..., str]) -> None:
    assert manifest_entry(signature_of(tool), flavor="strata") == recorded(tool.__name__)


def test_the_manifest_is_that_of_the_rust_engine() -> None:
    assert manifest(map(signature_of, TWINS), flavor="strata") == recorded("manifest")


@pytest.mark.parametrize("call", calls(), ids=lambda call: f"{call.get('tool', call.get('case'))} {call['arguments'][:40]}")
def test_the_problems_with_arguments_are_those_of_the_rust_engine(call: dict[str, Any]) -> None:
    parameters = call["parameters"] if "parameters" in call else PARAMETERS[call["tool"]]
    assert argument_problems(call["arguments"], parameters) == call["argument_problems"]
