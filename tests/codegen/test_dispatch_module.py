"""The generated module of typed calls: what it reads, what it calls, and how it type-checks."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import GenericAlias, ModuleType
from typing import Any

import msgspec
import pytest

from strata.codegen.generating import generate
from strata.errors import ToolArgumentParseFailure, ToolCallDenied, ToolCallFailed, ToolNotFound
from strata.project.settings import Settings
from strata.tools import Proceed, ToolCall, ToolContext, ToolMiddleware, ToolRegistry
from tests.codegen.projects import imported, written
from tests.codegen.shop import SHOP
from tests.console import ROOT

pytestmark = pytest.mark.filterwarnings("ignore::strata.errors.ToolWarning")

USE = """
from typing import assert_type

from shop.dispatch import TOOLS, AnyCall, AnyCall2, Event, OrdersFind, Place, ToolName, call, decode, encode, read
from shop.models import Item, Order
from strata import Context, State
from strata.tools import ToolRegistry


class Turn(State):
    pending: list[AnyCall] = []


async def use(raw: str, ctx: Context) -> None:
    tools = ToolRegistry(TOOLS)
    found = decode(raw)
    assert_type(found, AnyCall)
    assert_type(read("orders.find", raw), AnyCall)
    assert_type(encode(found), tuple[str, str])
    assert_type(await call(OrdersFind(query="x"), tools, ctx), list[Order])
    assert_type(await call(Place(items=[], line=Order.Line("a"), options={}), tools, ctx), Item | None)
    assert_type(await call(AnyCall2(), tools), None)
    assert_type(await call(Event(n=1), tools), str)
    Turn(pending=[found])


def named(name: ToolName) -> bool:
    return name == "orders.refund"
"""


def in_folder(folder: Path, files: Mapping[str, str] = SHOP, package: str = "shop") -> Path:
    """A project with what is made of it."""
    made = generate([written(folder, files)], Settings(folder=folder), shown_from=folder)
    assert made.read.problems == ()
    (folder / package / "dispatch.py").write_bytes(made.files["dispatch.py"])
    return folder


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[ModuleType]:
    with imported(in_folder(tmp_path), "shop.dispatch") as module:
        yield module


@pytest.fixture
def tools(shop: ModuleType) -> ToolRegistry:
    return ToolRegistry(shop.TOOLS)


def test_a_call_is_decoded_into_the_class_of_its_tool_with_the_types_of_its_parameters(shop: ModuleType) -> None:
    found = shop.decode('{"name": "orders.find", "arguments": {"query": "x", "datetime": "2020-01-02", "list": ["a"]}}')
    assert found == shop.OrdersFind(query="x", datetime=dt.date(2020, 1, 2), list=["a"], str="text", limit=10)
    assert shop.decode('{"name": "any_call"}') == shop.AnyCall2()


def test_a_call_is_read_under_the_name_that_a_provider_knows_and_null_means_the_default(shop: ModuleType) -> None:
    assert shop.read("orders_find", '{"query": "x", "limit": null, "str": null}') == shop.OrdersFind(query="x")
    assert shop.read("_", "{}") == shop.Tool2()


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ('{"name": "orders.find", "arguments": {}}', "argument 'query' is missing"),
        ('{"name": "orders.find", "arguments": []}', "the arguments aren't a JSON object"),
        ('{"name": "orders.find", "arguments": {"query": "x", "limit": "many"}}', "argument 'limit' must be an integer"),
    ],
)
def test_wrong_arguments_are_told_in_the_words_that_all_engines_share(raw: str, text: str, shop: ModuleType) -> None:
    with pytest.raises(ToolArgumentParseFailure) as raised:
        shop.decode(raw)
    assert raised.value.text == text


@pytest.mark.parametrize("raw", ["", "[]", '{"arguments": {}}', '{"name": 1}', "{" * 5000, b'{"name": "place", "arguments": "\xff"}'])
def test_what_is_no_call_is_refused(raw: str | bytes, shop: ModuleType) -> None:
    with pytest.raises(ToolArgumentParseFailure, match="a call is a JSON object with a name and arguments"):
        shop.decode(raw)


def test_an_unknown_tool_is_not_found(shop: ModuleType) -> None:
    with pytest.raises(ToolNotFound):
        shop.decode('{"name": "orders.lost", "arguments": {}}')


def test_what_is_decoded_is_encoded_again(shop: ModuleType) -> None:
    arguments = {"items": [{"sku": "a"}], "line": {"sku": "b"}, "options": {"loud": True}, "class": True, "import": 2}
    found = shop.read("place", json.dumps(arguments))
    name, text = shop.encode(found)
    assert name == "place"
    assert json.loads(text).items() >= {"class": True, "import": 2, "color": "blue"}.items()
    assert shop.read(name, text) == found


def test_a_default_that_can_be_changed_is_made_for_each_call(shop: ModuleType) -> None:
    one, other = (shop.Place(items=[], line=None, options={}) for _ in range(2))
    assert one.also is not other.also
    assert one.first is not other.first
    assert one == other


def test_calls_are_told_apart_when_they_are_stored(shop: ModuleType) -> None:
    calls = [shop.Pieces(n=2), shop.AnyCall2(), shop.Anything(value=[1])]
    stored = msgspec.json.encode(calls)
    assert stored == b'[{"$tool":"pieces","n":2},{"$tool":"any_call"},{"$tool":"anything","value":[1]}]'
    assert msgspec.json.decode(stored, type=GenericAlias(list, (shop.AnyCall,))) == calls


async def test_a_call_gives_what_the_function_is_annotated_to_return(shop: ModuleType, tools: ToolRegistry) -> None:
    (order,) = await shop.call(shop.OrdersFind(query="x", limit=3), tools, ToolContext())
    assert (order.lines[0].sku, order.lines[0].count) == ("x", 3)
    placed = await shop.call(shop.read("place", '{"items": [{"sku": "a"}], "line": {"sku": "b"}, "options": {}}'), tools)
    assert (type(placed).__qualname__, placed.sku) == ("Item", "a")
    assert await shop.call(shop.AnyCall2(), tools) is None
    assert await shop.call(shop.Tool2(), tools) == 1


async def test_a_result_that_may_be_text_comes_as_the_text_that_a_model_is_told(shop: ModuleType, tools: ToolRegistry) -> None:
    assert await shop.call(shop.MétéoNow(), tools) == "1.0 2020 _Hidden"
    assert await shop.call(shop.Pieces(n=2), tools) == "ab"
    assert await shop.call(shop.Anything(value={"a": 1}), tools) == '{"a":1}'


async def test_a_tool_that_needs_approval_is_not_called_without(shop: ModuleType, tools: ToolRegistry) -> None:
    refund = shop.decode('{"name": "orders.refund", "arguments": {"order_id": "00000000-0000-0000-0000-000000000001", "amount": 5}}')
    with pytest.raises(ToolCallDenied, match="it needs a person's approval"):
        await shop.call(refund, tools)


async def test_middleware_stands_around_typed_calls_and_a_result_of_its_own_must_fit(shop: ModuleType) -> None:
    class Answers(ToolMiddleware):
        async def invoke(self, call: ToolCall, proceed: Proceed, /) -> str:
            return "7" if call.tool == "" else "no JSON"

    tools = ToolRegistry(shop.TOOLS, middleware=[Answers()])
    assert await shop.call(shop.Tool2(), tools) == 7
    with pytest.raises(ToolCallFailed, match="its result is not what its function is annotated to return"):
        await shop.call(shop.AnyCall2(), tools)


def test_a_single_tool_makes_a_module_too(tmp_path: Path) -> None:
    files = {"one/tools.py": "from strata import strata_tool\n@strata_tool\ndef f(n: int = 1) -> int:\n    'Do.'\n    return n\n"}
    with imported(in_folder(tmp_path, files, "one"), "one.dispatch") as module:
        assert module.decode('{"name": "f"}') == module.F(n=1)


# Checkers


@pytest.mark.checkers
@pytest.mark.slow
def test_the_module_is_clean_under_mypy_strict(tmp_path: Path) -> None:
    done = checked(in_folder(tmp_path), [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "shop/dispatch.py", "use.py"])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.checkers
@pytest.mark.slow
def test_the_module_is_clean_under_strict_pyright(tmp_path: Path) -> None:
    options: dict[str, Any] = {"typeCheckingMode": "strict", "extraPaths": [str(ROOT), "."], "include": ["shop/dispatch.py", "use.py"]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(options), encoding="utf-8")
    done = checked(in_folder(tmp_path), [sys.executable, "-m", "pyright", "--pythonpath", sys.executable])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.checkers
@pytest.mark.slow
def test_a_tool_that_nobody_matches_is_found_by_mypy(tmp_path: Path) -> None:
    text = "from typing import assert_never\nfrom shop.dispatch import AnyCall, OrdersFind\n\n\ndef told(tool: AnyCall) -> str:\n"
    text += "    match tool:\n        case OrdersFind():\n            return 'find'\n        case _:\n            assert_never(tool)\n"
    done = checked(in_folder(tmp_path), [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "use.py"], text)
    assert done.returncode == 1
    assert 'Argument 1 to "assert_never" has incompatible type' in done.stdout


def checked(folder: Path, command: list[str], text: str = USE) -> subprocess.CompletedProcess[str]:
    (folder / "use.py").write_text(text, encoding="utf-8")
    environment = {"MYPYPATH": f"{folder}:{ROOT}", "PATH": str(Path(sys.executable).parent)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)
