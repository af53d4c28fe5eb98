"""A declared tool: still the function that it was, read when its annotations can be read, refused where it stands."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from strata import ToolInvalid, ToolRegistry, strata_tool
from strata.errors import ToolUnresolved
from strata.tools import Tool, ToolContext

if TYPE_CHECKING:
    from fractions import Fraction


@strata_tool
async def refund(order_id: str, amount: int = 1, *, ctx: ToolContext | None = None) -> str:
    """Refund part of an order.

    Args:
        order_id: as it stands on the invoice.
    """
    return f"{amount} of {order_id} for {(ctx and ctx.caller_id) or 'nobody'}"


async def test_calling_a_tool_calls_its_function() -> None:
    assert await refund("o-1", 2) == "2 of o-1 for nobody"
    assert await refund("o-1", ctx=ToolContext(caller_id="agent")) == "1 of o-1 for agent"
    assert refund.__wrapped__ is inspect.unwrap(refund)


def test_a_tool_shows_what_its_function_does() -> None:
    assert (refund.__name__, refund.__qualname__, refund.__module__) == ("refund", "refund", __name__)
    assert (refund.__doc__ or "").startswith("Refund part of an order.")
    assert str(inspect.signature(refund)).startswith("(order_id: 'str', amount: 'int' = 1, *, ctx: ")
    assert repr(refund) == f"<tool 'refund' of {__name__}>"
    assert (refund.name, refund.signature.description) == ("refund", "Refund part of an order.")
    assert refund.manifest["parameters"]["properties"]["order_id"] == {"type": "string", "description": "as it stands on the invoice."}
    assert refund.manifest is refund.manifest


def test_name_and_description_may_be_given() -> None:
    @strata_tool("k8s.pods", description="Lists pods.")
    def pods() -> str:
        """Not this."""
        return ""

    @strata_tool()
    def plain() -> str:
        """This."""
        return ""

    assert [(tool.name, tool.signature.description) for tool in (pods, plain)] == [("k8s.pods", "Lists pods."), ("plain", "This.")]


class Shop:
    def __init__(self, name: str) -> None:
        self.name = name

    async def greet(self, who: str) -> str:
        """Greets."""
        return f"{self.name} greets {who}"

    def __call__(self, who: str) -> str:
        """Calls."""
        return f"{self.name} calls {who}"


async def whisper(who: str, *, loud: bool) -> str:
    """Whispers."""
    return f"{who}{'!' if loud else ''}"


async def test_a_method_of_an_object_a_partial_and_a_callable_object_are_tools_too() -> None:
    tools = ToolRegistry(
        [
            strata_tool(Shop("a").greet),
            strata_tool("call", description="Calls.", inline=True)(Shop("b")),
            strata_tool("whisper")(partial(whisper, loud=True)),
        ]
    )
    answers = [await tools.dispatch(name, '{"who":"ana"}') for name in ("greet", "call", "whisper")]
    assert answers == ["a greets ana", "b calls ana", "ana!"]


async def test_annotations_may_name_what_stands_further_down() -> None:
    tools = ToolRegistry([postponed])
    assert await tools.dispatch("postponed", '{"later":{"n":3}}') == "3"


@strata_tool(inline=True)
def postponed(later: Later) -> int:
    """Is declared before its argument's type."""
    return later["n"]


from typing import TypedDict  # noqa: E402


class Later(TypedDict):
    n: int


def test_tool_01_a_name_for_checkers_only_is_told_with_its_place_when_the_tool_is_registered() -> None:
    @strata_tool
    def share(part: Fraction) -> str:  # strata: ignore[STRATA_PY_TOOL_INVALID]
        """Shares."""
        return str(part)

    with pytest.raises(ToolUnresolved, match="the annotation of its parameter 'part' names 'Fraction'") as raised:
        ToolRegistry([share])
    assert raised.value.place.startswith(f"{__file__}:")
    with pytest.raises(ToolUnresolved):
        share.manifest  # noqa: B018


async def test_annotations_may_name_what_is_local_to_the_function_that_declares() -> None:
    class Amount(msgspec.Struct):
        cents: int

    @strata_tool(inline=True)
    def double(amount: Amount) -> int:
        """Doubles."""
        return 2 * amount.cents

    assert await ToolRegistry([double]).dispatch("double", '{"amount":{"cents":2}}') == "4"


def no_description(text: str) -> str:
    return text


def unnamed(*words: str) -> str:
    """Takes any number."""
    return " ".join(words)


def two_contexts(a: ToolContext, b: ToolContext) -> str:
    """Takes two."""
    return ""


def no_annotation(text: Any) -> str:
    """Says nothing of its text."""
    return str(text)


del no_annotation.__annotations__["text"]


def no_json(call: Callable[[], None]) -> str:
    """Takes what no JSON holds."""
    return ""


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (no_description, "it has no description for the model: write a docstring, or give description="),
        (unnamed, "its parameter '*words' has no place among named arguments"),
        (two_contexts, "its parameters 'a' and 'b' are both annotated as the context"),
        (no_annotation, "its parameter 'text' has no annotation"),
        (no_json, "its argument 'call'"),
        (Shop, "a class is no tool"),
        (Shop.greet, "it is a method: make a tool of the bound one"),
    ],
)
def test_ts13_ts14_what_can_be_no_tool_is_refused_when_it_is_declared(function: Any, told: str) -> None:
    with pytest.raises(ToolInvalid) as raised:
        strata_tool(function)
    assert told in str(raised.value)


def test_an_option_that_there_is_not_is_refused() -> None:
    declare: Any = strata_tool
    with pytest.raises(TypeError, match="strict"):
        declare("name", strict=True)


async def test_a_tool_is_executed_without_a_registry() -> None:
    assert await refund.execute('{"order_id":"o-1"}') == "1 of o-1 for nobody"
    assert await refund.execute('{"order_id":"o-1"}', ToolContext(caller_id="agent")) == "1 of o-1 for agent"


async def test_one_tool_may_be_in_several_registries_and_called_from_many_tasks() -> None:
    first, second = ToolRegistry([refund]), ToolRegistry([refund])
    calls = (tools.dispatch("refund", f'{{"order_id":"{number}"}}') for number in range(50) for tools in (first, second))
    assert sorted(await asyncio.gather(*calls)) == sorted(f"1 of {number} for nobody" for number in range(50) for _ in range(2))


def test_the_decorator_without_a_function_says_so() -> None:
    assert repr(strata_tool("x")) == "<@strata_tool(...) with no function under it>"


def test_a_tool_is_no_function_to_make_a_tool_of() -> None:
    with pytest.raises(ToolInvalid, match=r"<tool 'refund' of .*> is a tool already"):
        strata_tool("other")(refund)


def test_a_generic_tool_is_what_its_function_was() -> None:
    assert isinstance(refund, Tool)
