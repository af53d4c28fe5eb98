"""Tools served to the official client of the Model Context Protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated

import mcp_types as protocol
import pytest
from mcp.client import Client

from strata.cli import run
from strata.errors import Pause, ThreadsExhausted
from strata.hosting.mcp.server import server_of
from strata.hosting.mcp.tools import ServedTools
from strata.tools import ToolContext, ToolRegistry, strata_tool
from tests.hosting.processes import over_http, over_pipes, over_wire

MODULE = """
from strata.tools import ToolRegistry, strata_tool


@strata_tool
def double(number: int) -> int:
    \"\"\"Twice a number.\"\"\"
    print("what a tool prints is no message of the protocol")
    return 2 * number


@strata_tool(inline=True)
def half(number: float | None = None) -> str:
    \"\"\"Half a number.\"\"\"
    return "nothing" if number is None else str(number / 2)


@strata_tool
async def greet(name: str) -> str:
    \"\"\"Say hello.\"\"\"
    return f"Hello, {name}!"


tools = ToolRegistry([greet])
"""


@strata_tool("stock.pieces")
async def pieces(article: Annotated[str, "Its name"], depot: str | None = None) -> dict[str, int]:
    """How many pieces of an article there are."""
    return {article: 3 if depot is None else 1}


@strata_tool(inline=True)
def who(ctx: ToolContext) -> str:
    """Who calls."""
    return f"{ctx.caller_id} {ctx.call_id is not None} {ctx.node}"


@strata_tool(approve=True, inline=True)
def refund(cents: int) -> str:
    """Pay back."""
    raise AssertionError("nobody approved it")


@strata_tool(inline=True)
def broken() -> str:
    """Never works."""
    raise ValueError("the password is swordfish")


@strata_tool(inline=True)
def leave(how: str) -> str:
    """Raises what is no error of a tool."""
    raise {"exit": SystemExit(2), "pause": Pause(), "node": ThreadsExhausted("n", limit=1, waited=5.0), "other": BaseException()}[how]


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    """Of a server in this process."""
    async with Client(server_of(ServedTools(ToolRegistry([pieces, who, refund, broken, leave])), name="tools")) as client:
        yield client


async def called(client: Client, name: str, /, **arguments: object) -> tuple[bool, str]:
    result = await client.call_tool(name, arguments)
    [content] = result.content
    assert isinstance(content, protocol.TextContent)
    return result.is_error, content.text


async def test_tools_are_listed_under_names_that_clients_take(client: Client) -> None:
    tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["stock_pieces", "who", "refund", "broken", "leave"]
    assert tools[0].description == "How many pieces of an article there are."
    assert tools[0].input_schema["properties"]["article"] == {"type": "string", "description": "Its name"}
    assert tools[0].input_schema["required"] == ["article"]


async def test_a_call_gives_what_the_tool_returns(client: Client) -> None:
    assert await called(client, "stock_pieces", article="tea") == (False, '{"tea":3}')
    assert await called(client, "stock_pieces", article="tea", depot="north") == (False, '{"tea":1}')


async def test_a_tool_knows_that_no_node_calls_it(client: Client) -> None:
    assert await called(client, "who") == (False, "mcp True None")


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("stock_pieces", {"article": 5}, "{\"error\":\"invalid arguments for tool 'stock_pieces': argument 'article' must be a string\"}"),
        ("nothing", {}, '{"error":"tool \'nothing\' was not found"}'),
        ("broken", {}, '{"error":"tool \'broken\' failed: the tool returned an error"}'),
    ],
)
async def test_what_goes_wrong_is_told_in_the_words_of_all_engines(client: Client, name: str, arguments: dict[str, object], told: str) -> None:
    assert await called(client, name, **arguments) == (True, told)


@pytest.mark.parametrize("how", ["exit", "pause", "node", "other"])
async def test_what_a_tool_raises_ends_its_own_call_alone(client: Client, how: str) -> None:
    assert await called(client, "leave", how=how) == (True, "tool 'leave' failed")
    assert await called(client, "stock_pieces", article="tea") == (False, '{"tea":3}')


async def test_a_tool_that_needs_approval_is_denied(client: Client) -> None:
    is_error, text = await called(client, "refund", cents=5)
    assert is_error
    assert text.startswith('{"error":"denied: ')


async def test_the_tools_of_a_module_are_served_over_pipes(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(MODULE)
    async with over_pipes(tmp_path, "tools", "serve", "shop") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert await called(client, "double", number=21) == (False, "42")
    assert names == ["double", "half", "greet"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e400"])
async def test_what_json_lacks_is_refused_and_is_not_null(number: str, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(MODULE)
    async with over_wire(tmp_path, "tools", "serve", "shop") as wire:
        wire.call(1, f'{{"name": "half", "arguments": {{"number": {number}}}}}')
        result = (await wire.answer(1))["result"]
    assert result["isError"]
    assert result["content"][0]["text"] == "invalid arguments for tool 'half': the arguments aren't valid JSON"


async def test_a_registry_is_served_over_http(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(MODULE)
    async with over_http(tmp_path, "tools", "serve", "shop:tools") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert await called(client, "greet", name="Ann") == (False, "Hello, Ann!")
    assert names == ["greet"]


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ("nowhere", "there is no module 'nowhere'"),
        ("tests.hosting.processes", "holds no tool"),
        ("tests.hosting.test_mcp_tools:pices", "has no 'pices'"),
        ("tests.hosting.test_mcp_tools:MODULE", "is of type str, and neither a registry nor a tool"),
    ],
)
def test_what_is_no_tool_is_told(reference: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tools", "serve", reference]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.1:eight", ":99999"])
def test_an_address_that_is_none_is_told(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tools", "serve", "tests.hosting.test_mcp_tools:pieces", "--http", address]) == 2
    assert f"'{address}' is no address" in capsys.readouterr().err
