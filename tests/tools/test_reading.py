"""A live function as a tool: names, descriptions, contexts, and what is refused with its place."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import InitVar
from enum import Enum, IntEnum
from inspect import isasyncgenfunction
from typing import Annotated, Any, ClassVar, Final, NotRequired, Optional, ParamSpec, Required, TypeVar

import pytest

from strata import Context, ToolInvalid, ToolUnresolved, ToolWarning
from strata.tools import ToolContext, input_schema, signature_of
from tests.tools import hidden_names

P = ParamSpec("P")
R = TypeVar("R")


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Size(IntEnum):
    LARGE = 9
    SMALL = 3


def properties(tool: Callable[..., Any], **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = input_schema(signature_of(tool, **options))["properties"]
    return found


def refused(tool: Callable[..., Any], **options: Any) -> str:
    with pytest.raises(ToolInvalid) as raised:
        signature_of(tool, **options)
    assert str(raised.value).startswith(f"{raised.value.place}: ")
    return str(raised.value).removeprefix(f"{raised.value.place}: ")


def signature_place(tool: Callable[..., Any]) -> str:
    return f"{__file__}:{tool.__code__.co_firstlineno}"


def test_tool_01_postponed_annotations_are_read() -> None:
    assert properties(hidden_names.looks) == {"order_id": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}}


def test_tool_01_a_name_that_is_not_found_is_told_with_its_place() -> None:
    with pytest.raises(ToolUnresolved) as raised:
        signature_of(hidden_names.asks)
    line = hidden_names.asks.__code__.co_firstlineno
    assert str(raised.value) == (
        f"{hidden_names.__file__}:{line}: tool 'asks': the annotation of its parameter 'options' names 'Mapping', which is not found in module "
        "tests.tools.hidden_names: import it there for real and not under TYPE_CHECKING, or define it outside of functions"
    )


def test_tool_01_names_of_the_function_around_are_found() -> None:
    class Local(Enum):
        A = "a"

    def tool(it: list[Local]) -> None:
        """Takes it."""

    assert properties(tool, names=locals()) == {"it": {"type": "array", "items": {"type": "string", "enum": ["a"]}}}


def test_tool_01_an_annotation_that_is_no_type_is_told() -> None:
    def tool(it: int) -> None:
        """Takes it."""

    tool.__annotations__["it"] = "1 / 0"
    assert refused(tool) == "tool 'tool': the annotation of its parameter 'it' cannot be read: ZeroDivisionError: division by zero"


def plain(a: int, ctx: ToolContext) -> None:
    """Plain."""


def of_the_node(ctx: Context, a: int) -> None:
    """Of the node."""


def optional(a: int, whatever: Optional[ToolContext] = None) -> None:  # noqa: UP045
    """Optional."""


def noted(a: int, *, about: Annotated[ToolContext | None, "never told"] = None) -> None:
    """Noted."""


@pytest.mark.parametrize("tool", [plain, of_the_node, optional, noted])
def test_tool_02_the_context_is_found_by_its_type_and_told_to_no_model(tool: Callable[..., None]) -> None:
    schema = input_schema(signature_of(tool, forbid_unknown_fields=True))
    assert schema == {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}
    assert signature_of(tool).context in {"ctx", "whatever", "about"}


def test_tool_02_a_context_that_only_checkers_import_is_found_by_its_name() -> None:
    assert signature_of(hidden_names.looks).context == "ctx"


def test_tool_02_two_contexts_are_refused() -> None:
    def tool(call: ToolContext, node: Context) -> None:
        """Takes both."""

    assert refused(tool) == "tool 'tool': its parameters 'call' and 'node' are both annotated as the context: one is enough"


def test_tool_04_enums_tell_their_values_in_the_order_of_declaration_and_their_defaults() -> None:
    def tool(colour: Colour, size: Size = Size.SMALL, other: Colour = Colour.BLUE) -> None:
        """Paints."""

    assert properties(tool) == {
        "colour": {"type": "string", "enum": ["red", "blue"]},
        "size": {"type": "integer", "enum": [9, 3], "default": 3},
        "other": {"type": "string", "enum": ["red", "blue"], "default": "blue"},
    }


def test_tool_05_what_a_tool_gives_never_decides_whether_it_is_one() -> None:
    def some(a: int) -> Iterator[str]:
        """Gives some."""
        yield str(a)

    async def more(a: int) -> AsyncIterator[str]:
        """Gives more."""
        yield str(a)

    def odd(a: int) -> Any:
        """Gives what cannot be read."""

    odd.__annotations__["return"] = "Nowhere"
    signatures = [signature_of(tool) for tool in (some, more, odd)]
    assert [(one.yields, one.is_async, one.returns) for one in signatures] == [
        (True, False, Iterator[str]),
        (True, True, AsyncIterator[str]),
        (False, False, None),
    ]
    assert isasyncgenfunction(more)


def test_tool_08_text_about_a_parameter_that_is_none_is_not_lost_in_silence() -> None:
    def refund(order_id: str, ctx: ToolContext) -> None:
        """Refund it.

        Args:
            ordr_id: its number.
            ctx: of the call.
        """

    with pytest.warns(ToolWarning) as warned:
        signature_of(refund)
    assert [str(one.message) for one in warned] == [
        f"{signature_place(refund)}: tool 'refund': its docstring speaks of a parameter 'ordr_id' that it does not have: did you mean 'order_id'?"
    ]


def test_what_a_partial_fills_may_be_spoken_of() -> None:
    def tool(base: str, a: int) -> None:
        """Takes it.

        Args:
            base: where.
            a: what.
        """

    assert signature_of(functools.partial(tool, "there")).parameters[0].description == "what."


def test_tool_09_what_is_given_goes_before_what_is_written() -> None:
    def refund(order_id: str) -> None:
        """Refund it.

        Args:
            order_id: its number.
        """

    own, given = signature_of(refund), signature_of(refund, name="shop.refund", description="Give back.")
    assert (own.name, own.description) == ("refund", "Refund it.")
    assert (given.name, given.description) == ("shop.refund", "Give back.")
    assert given.parameters == own.parameters


def test_tool_09_a_description_is_enough_without_a_docstring() -> None:
    def silent(a: int) -> None: ...

    assert signature_of(silent, description="Says nothing.").description == "Says nothing."
    assert signature_of(silent, description="").description == ""


def test_tool_12_star_arguments_are_refused_with_what_to_take_instead() -> None:
    def many(*names: str) -> None:
        """Takes many."""

    def any_of(**options: str) -> None:
        """Takes any."""

    assert refused(many) == "tool 'many': its parameter '*names' has no place among named arguments: take a list, as in `names: list[str]`"
    assert refused(any_of) == (
        "tool 'any_of': its parameter '**options' names no arguments that a model could be told of: "
        "name each, or take a dict, as in `options: dict[str, str]`"
    )


def test_a_decorator_that_hides_the_function_is_named_as_the_reason() -> None:
    def hiding(fn: Callable[P, R]) -> Callable[P, R]:
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            return fn(*args, **kwargs)

        return wrapper

    @hiding
    def tool(a: int) -> None:
        """Takes it."""

    assert refused(tool).endswith("; if a decorator put it there, let it use functools.wraps")


def test_a_wrapped_function_is_read_through_its_wrapper() -> None:
    def wrapping(fn: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(fn)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            return fn(*args, **kwargs)

        return wrapper

    @wrapping
    async def tool(a: int, ctx: ToolContext) -> None:
        """Takes it."""

    signature = signature_of(tool)
    assert (signature.name, signature.description, signature.context, signature.is_async) == ("tool", "Takes it.", "ctx", True)


def test_a_partial_has_no_parameter_that_it_fills_and_keeps_the_words_of_its_function() -> None:
    def tool(base: str, a: int) -> None:
        """Takes it."""

    signature = signature_of(functools.partial(tool, "there"))
    assert (signature.name, signature.description, [one.name for one in signature.parameters]) == ("tool", "Takes it.", ["a"])


def test_a_callable_object_is_read_from_its_call() -> None:
    class Desk:
        """A desk."""

        async def __call__(self, a: int) -> str:
            """Serves."""
            return str(a)

    signature = signature_of(Desk(), name="desk")
    assert (signature.description, signature.is_async, [one.name for one in signature.parameters]) == ("Serves.", True, ["a"])


def test_a_parameter_without_an_annotation_is_refused() -> None:
    def tool(a: int, b: int) -> None:
        """Takes them."""

    del tool.__annotations__["a"]
    assert refused(tool) == (
        "tool 'tool': its parameter 'a' has no annotation, so a model cannot be told what to give: annotate it, with Any if it may be anything"
    )


@pytest.mark.parametrize("postponed", [True, False])
@pytest.mark.parametrize("mark", [ClassVar, Final, InitVar, Required, NotRequired])
def test_a_mark_of_the_fields_of_classes_is_no_type_of_a_parameter(mark: Any, postponed: bool) -> None:
    def tool(a: int) -> None:
        """Takes it."""

    name = getattr(mark, "__name__", None) or str(mark).removeprefix("typing.")
    tool.__annotations__["a"] = f"{name}[int]" if postponed else mark[int]
    assert refused(tool) == (
        f"tool 'tool': its parameter 'a' is annotated with {name}, which says something of the field of a class: annotate it with the type alone"
    )


def test_a_parameter_that_is_positional_only_is_refused() -> None:
    def tool(a: int, /) -> None:
        """Takes it."""

    assert refused(tool) == "tool 'tool': its parameter 'a' is positional only, and a model names its arguments: remove the '/'"


def test_a_class_is_no_tool() -> None:
    assert (
        refused(Colour, description="A colour.", place="here.py:3")
        == "tool 'Colour': a class is no tool: decorate a function, or a method of one of its objects"
    )


@pytest.mark.parametrize("option", ["name", "description"])
def test_a_word_that_utf8_cannot_encode_is_refused(option: str) -> None:
    def tool() -> None:
        """Does it."""

    assert "is text that UTF-8 can encode" in refused(tool, **{option: "\ud800"})


def test_where_a_tool_is_declared_is_its_first_decorator() -> None:
    def tool() -> None:
        """Does it."""

    signature = signature_of(tool)
    assert signature.place == f"{__file__}:{tool.__code__.co_firstlineno}"
    assert (signature.module, signature.function) == (__name__, tool.__qualname__)
    assert signature_of(tool, place="here.py:3").place == "here.py:3"
