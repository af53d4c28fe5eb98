"""A payload whose type is there for checkers only is told, as `compile()` does; of all other types nothing is."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from strata.analysis.checking import check
from strata.rules import codes
from tests.analysis.parity import assert_told_alike

MODULE = """\
{first}from typing import TYPE_CHECKING, Any

import strata
from strata import State, StateGraph, edge, node, wait_for_event

{names}

class Order(State):
    cents: int = 0


@wait_for_event("paid")
@edge("end")
def paid(order: Order, payment: {payment}) -> Order:
    return order


@node
def end(order: Order) -> Order:
    return order


builder = StateGraph(Order).start(paid).nodes(end)
graph = builder.compile()
"""
ALL_AS_TEXT = "from __future__ import annotations\n"
ONLY_FOR_CHECKERS = "if TYPE_CHECKING:\n    from shop.payments import Payment, Refund\n"


def module_of(names: str, payload: str, folder: Path, *, first: str = ALL_AS_TEXT) -> Path:
    module = folder / "payments.py"
    module.write_text(MODULE.format(first=first, names=dedent(names), payment=payload), encoding="utf-8")
    return module


@pytest.mark.parametrize("payload", ["Payment", "Payment | None", "list[Refund]", "dict[str, tuple[Refund, Payment]]"])
@pytest.mark.parametrize("is_quoted", [False, True])
def test_a_type_for_checkers_only(payload: str, is_quoted: bool, tmp_path: Path) -> None:
    module = module_of(ONLY_FOR_CHECKERS, f'"{payload}"' if is_quoted else payload, tmp_path, first="" if is_quoted else ALL_AS_TEXT)
    assert [problem.code for problem in assert_told_alike(module)] == [codes.PAYLOAD_TYPE]


@pytest.mark.parametrize(
    ("names", "payload"),
    [
        ("", "int"),
        (ONLY_FOR_CHECKERS, "Any"),
        (f"{ONLY_FOR_CHECKERS}else:\n    Payment = int\n", "Payment"),
        (f"Payment = int\n{ONLY_FOR_CHECKERS}", "Payment"),
        (f"{ONLY_FOR_CHECKERS}\nPayment = int\n", "Payment"),
        (f"from elsewhere import *\n{ONLY_FOR_CHECKERS}", "Payment"),
        (f"{ONLY_FOR_CHECKERS}\ndef make() -> None:\n    global Payment\n    Payment = int\n\nmake()\n", "Payment"),
        ("", "Payment"),  # of whom nothing is known at all
    ],
)
def test_what_may_be_there_when_it_runs_is_not_told(names: str, payload: str, tmp_path: Path) -> None:
    assert list(check([module_of(names, payload, tmp_path)], tmp_path).problems) == []
