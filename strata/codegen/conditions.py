"""Which branch of an `if` a module takes as it is imported, where that is known beforehand."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

import libcst as cst

from strata.codegen.trees import dotted

Condition: TypeAlias = Literal["true", "false", "for checkers", "for no checkers", "unknown"]
"""`for checkers`: `TYPE_CHECKING`, which is false when the module runs."""

_NEGATED: Final[dict[Condition, Condition]] = {
    "true": "false",
    "false": "true",
    "for checkers": "for no checkers",
    "for no checkers": "for checkers",
    "unknown": "unknown",
}


def condition_of(test: cst.BaseExpression) -> Condition:
    """What is known of a condition."""
    match test:
        case cst.Name(value="TYPE_CHECKING") | cst.Attribute(attr=cst.Name(value="TYPE_CHECKING")):
            return "for checkers"
        case cst.Name(value="True"):
            return "true"
        case cst.Name(value="False") | cst.Comparison(left=cst.Name(value="__name__")):  # `if __name__ == "__main__":`
            return "false"
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return _NEGATED[condition_of(inner)]
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=operator, comparator=cst.Tuple(elements=parts))]):
            return _of_version(operator, parts) if dotted(left) == "sys.version_info" else "unknown"
        case _:
            return "unknown"


def _of_version(operator: cst.BaseCompOp, parts: Sequence[cst.BaseElement]) -> Condition:
    numbers = tuple(int(part.value.value) for part in parts if isinstance(part.value, cst.Integer))
    if len(numbers) != len(parts):
        return "unknown"
    match operator:
        case cst.GreaterThanEqual():
            holds = sys.version_info >= numbers
        case cst.LessThan():
            holds = sys.version_info < numbers
        case _:
            return "unknown"
    return "true" if holds else "false"
