"""What is wrong with a function as a tool, of facts alone, in the order in which a declaration looks."""

from __future__ import annotations

from strata.rules.tools import ToolFacts, ToolParameterFacts, tool_faults

ORDER = ToolParameterFacts("order", "named", is_annotated=True, is_context=False)


def places(*parameters: ToolParameterFacts, has_description: bool = True) -> list[int | None]:
    return [fault.parameter for fault in tool_faults(ToolFacts(parameters, has_description))]


def test_a_right_function_has_no_faults() -> None:
    assert places(ORDER, ORDER._replace(name="ctx", is_context=True)) == []


def test_what_no_argument_names_comes_first_and_types_last() -> None:
    unreadable = ORDER._replace(unreadable=(("order", "it is alive"), ("order[]", "it is alive too")))
    context = ORDER._replace(is_context=True)
    rest = ORDER._replace(kind="any positional", is_annotated=False)
    assert places(unreadable, ORDER._replace(is_annotated=False), context, context, rest, has_description=False) == [4, 3, None, 1, 0, 0]


def test_of_a_method_only_that_is_told() -> None:
    assert places(ORDER._replace(name="self", is_annotated=False), ORDER) == [0]


def test_a_type_of_what_no_argument_names_is_not_looked_at() -> None:
    assert places(ORDER._replace(kind="any named", unreadable=(("order", "it is alive"),))) == [0]
