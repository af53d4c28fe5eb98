"""Which tools a registry has, which a subset, and which it refuses (strata-tools.md 5, 14)."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Mapping
from typing import Any

import pytest

import strata.tools
from strata import DuplicateTool, ToolCallFailed, ToolInvalid, ToolNotFound, ToolNotPermitted, ToolRegistry, ToolWarning, strata_tool
from strata.tools import ToolContext
from tests.tools.calls import Diary, echo


def greek(*names: str) -> ToolRegistry:
    return ToolRegistry([echo(name) for name in names])


def listed(tools: ToolRegistry) -> tuple[str, ...]:
    assert [entry["name"] for entry in tools.manifest()] == list(tools.names)
    return tools.names


def test_tr1_names_and_manifest_are_in_the_order_of_registration() -> None:
    @strata_tool("alpha", description="The first letter.")
    def first(text: str) -> str:
        return text

    tools = ToolRegistry([echo("gamma"), first])
    tools.register(echo("beta"))
    assert listed(tools) == ("gamma", "alpha", "beta")
    assert tools.manifest()[1]["description"] == "The first letter."
    assert (len(tools), "alpha" in tools, "delta" in tools, list(tools)) == (3, True, False, ["gamma", "alpha", "beta"])


async def test_tr2_a_second_tool_of_a_name_is_refused_and_the_first_one_stays() -> None:
    @strata_tool("alpha", inline=True)
    def other() -> str:
        """Another."""
        return "other"

    tools = greek("alpha")
    with pytest.raises(DuplicateTool, match="tool 'alpha' is already registered") as raised:
        tools.register(other)
    assert raised.value.name == "alpha"
    assert listed(tools) == ("alpha",)
    assert await tools.dispatch("alpha", '{"text":"first"}') == "first"
    with pytest.raises(DuplicateTool, match="tool 'beta' is already registered"):
        greek("beta", "beta")


async def test_tr3_an_unknown_name_is_refused() -> None:
    with pytest.raises(ToolNotFound, match="tool 'delta' not found") as raised:
        await greek("alpha").dispatch("delta", "{}")
    assert raised.value.name == "delta"


@pytest.mark.parametrize("name", ["Alpha", "alpha ", "", "alpha\n", "__class__", "../alpha", "alpha; DROP TABLE tools", "\ud800", "a" * 1_000_000])
async def test_names_are_compared_exactly_whatever_a_model_makes_up(name: str) -> None:
    with pytest.raises(ToolNotFound):
        await greek("alpha").dispatch(name, "{}")


def test_tr4_a_subset_is_in_the_order_of_its_parent() -> None:
    assert listed(greek("alpha", "beta", "gamma").subset(["gamma", "alpha"])) == ("alpha", "gamma")


def test_tr5_a_subset_of_an_unknown_tool_is_refused_and_the_first_bad_name_is_told() -> None:
    tools = greek("alpha", "beta")
    with pytest.raises(ToolNotFound) as raised:
        tools.subset(["alpha", "delta", "epsilon"])
    assert raised.value.name == "delta"
    with pytest.raises(ToolNotPermitted) as left_out:
        tools.subset(["alpha"]).subset(["beta", "delta"])
    assert left_out.value.name == "beta"


async def test_tr6_what_a_subset_leaves_out_is_not_permitted_and_anything_else_not_found() -> None:
    tools = greek("alpha", "beta", "gamma").subset(["alpha", "beta"]).subset(["alpha"])
    assert await tools.dispatch("alpha", '{"text":"a"}') == "a"
    for name in ("beta", "gamma"):
        with pytest.raises(ToolNotPermitted, match=f"tool '{name}' is not permitted here"):
            await tools.dispatch(name, "{}")
    with pytest.raises(ToolNotFound):
        await tools.dispatch("delta", "{}")


async def test_tr7_what_the_parent_gets_later_does_not_reach_a_subset() -> None:
    parent = greek("alpha", "beta")
    subset = parent.subset(["alpha"])
    parent.register(echo("gamma"))
    assert listed(subset) == ("alpha",)
    with pytest.raises(ToolNotFound):
        await subset.dispatch("gamma", "{}")


async def test_tr8_repeated_names_count_once_and_a_subset_may_be_empty() -> None:
    tools = greek("alpha", "beta")
    assert listed(tools.subset(["beta", "beta"])) == ("beta",)
    nothing = tools.subset([])
    assert nothing.manifest() == []
    with pytest.raises(ToolNotPermitted):
        await nothing.dispatch("alpha", "{}")


async def test_a_tool_registered_in_a_subset_that_left_it_out_runs() -> None:
    subset = greek("alpha", "beta").subset(["alpha"])
    subset.register(echo("beta"))
    assert await subset.dispatch("beta", '{"text":"here"}') == "here"


async def test_a_copy_has_the_same_tools_and_goes_its_own_way() -> None:
    diary = Diary()
    tools = greek("alpha", "beta").subset(["alpha"])
    tools.use(diary)
    copy = tools.copy()
    copy.register(echo("gamma"))
    assert (listed(tools), listed(copy)) == (("alpha",), ("alpha", "gamma"))
    with pytest.raises(ToolNotPermitted):
        await copy.dispatch("beta", "{}")
    assert diary.lines == ["diary told: tool 'beta' is not permitted here"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "models know a tool without a name as '_': give it one"),
        ("a" * 65, f"models know tool '{'a' * 65}' as '{'a' * 64}', since providers take 64 characters: give it a shorter name"),
        ("k8s/pods", "models know tool 'k8s/pods' as 'k8s_pods_2', since 'k8s_pods' is tool 'k8s.pods': give one another name"),
    ],
)
def test_a_name_by_which_models_will_not_know_the_tool_is_warned_of(name: str, told: str) -> None:
    tools = greek("k8s.pods")
    with pytest.warns(ToolWarning) as warned:
        tools.register(echo(name))
    assert [str(warning.message) for warning in warned] == [told]
    assert tools.provider_names == strata.tools.provider_names(tools.names)
    assert warned[0].filename == __file__


def test_the_provider_forms_are_those_of_the_manifest() -> None:
    tools = greek("k8s.pods", "alpha")
    assert tools.provider_names == {"k8s_pods": "k8s.pods", "alpha": "alpha"}
    assert tools.openai_tools() == strata.tools.openai_tools(tools.manifest())
    assert tools.anthropic_tools(strict=False) == strata.tools.anthropic_tools(tools.manifest(), strict=False)
    assert tools.mcp_tools() == strata.tools.mcp_tools(tools.manifest())
    assert tools.subset(["alpha"]).provider_names == {"alpha": "alpha"}


class Handmade:
    """A tool that is no function."""

    name = "handmade"

    def __init__(self, answer: Any = "made") -> None:
        self.answer = answer
        self.seen: list[ToolContext] = []

    @property
    def manifest(self) -> Mapping[str, Any]:
        return {"name": self.name, "description": "By hand.", "parameters": {"type": "object", "properties": {}}}

    async def execute(self, arguments: str, context: ToolContext) -> str:
        self.seen.append(context)
        return f"{self.answer} of {arguments}" if isinstance(self.answer, str) else self.answer


class WithoutContext(Handmade):
    name = "plain"

    async def execute(self, arguments: str) -> str:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        return f"plain {arguments}"


async def test_tx7_tool_17_anything_with_a_name_a_manifest_entry_and_execute_is_a_tool() -> None:
    tool = Handmade()
    tools = ToolRegistry([tool, WithoutContext()])
    assert tools.manifest()[0]["description"] == "By hand."
    assert await tools.dispatch("handmade", "[1]", ToolContext(caller_id="agent")) == "made of [1]"
    assert [context.caller_id for context in tool.seen] == ["agent"]
    assert tool.seen[0].call_id
    assert await tools.dispatch("plain", "{}") == await tools.dispatch("plain", "{}", ToolContext()) == "plain {}"


async def test_a_handmade_tool_that_gives_no_text_has_failed() -> None:
    with pytest.raises(ToolCallFailed, match=r"tool 'handmade' failed: its execute gave 5, not the text of a result"):
        await ToolRegistry([Handmade(answer=5)]).dispatch("handmade", "{}")


@pytest.mark.parametrize("tool", [len, object(), "alpha", type("Nameless", (), {"name": 5})(), type("Idle", (), {"name": "idle"})()])
def test_what_is_no_tool_is_refused(tool: Any) -> None:
    with pytest.raises(ToolInvalid):
        ToolRegistry([tool])


@pytest.mark.parametrize("middleware", [object(), print, "cache", ToolRegistry])
def test_what_is_no_middleware_is_refused(middleware: Any) -> None:
    with pytest.raises(TypeError, match="is no middleware: make it a subclass of ToolMiddleware"):
        ToolRegistry([], [middleware])


@pytest.mark.parametrize("arguments", [{"text": "t"}, b"{}", None, 5])
async def test_arguments_that_are_no_text_are_the_callers_fault(arguments: Any) -> None:
    with pytest.raises(TypeError, match="the arguments of a call are JSON as text, not "):
        await greek("alpha").dispatch("alpha", arguments)


async def test_a_context_that_is_none_is_the_callers_fault() -> None:
    nobody: Any = {"thread_id": "t"}
    for call in (greek("alpha").dispatch("alpha", "{}", nobody), greek("alpha").answer("alpha", "{}", nobody)):
        with pytest.raises(TypeError, match="a call has a ToolContext, or the Context of the node that makes it, not "):
            await call


def test_every_name_of_the_room_can_be_imported() -> None:
    assert set(strata.tools.MODULES) == set(strata.tools.__all__)
    assert all(getattr(strata.tools, name) is not None for name in strata.tools.__all__)
    assert set(strata.tools.__all__) <= set(dir(strata.tools))
    with pytest.raises(AttributeError, match=r"module 'strata.tools' has no attribute 'nothing'"):
        getattr(strata.tools, "nothing")  # noqa: B009


def test_schemas_load_no_engine() -> None:
    program = "import sys; from strata.tools import input_schema, signature_of; print([m for m in sys.modules if m.startswith('strata.engine')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_names_that_everybody_takes_are_registered_without_a_word() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        greek("k8s.pods", "météo/now", "alpha", "a" * 64)
