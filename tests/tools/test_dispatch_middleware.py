"""What stands around a call, and what it can and cannot do (strata-tools.md 10, 14)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest

from strata import (
    ToolCallDenied,
    ToolCallFailed,
    ToolCancelled,
    ToolError,
    ToolExecutionFailure,
    ToolNotFound,
    ToolNotPermitted,
    ToolRegistry,
    strata_tool,
)
from strata.tools import Cancellation, Proceed, ToolCall, ToolContext, ToolMiddleware
from tests.tools.calls import Diary, echo, seeing


class Does(ToolMiddleware):
    """A middleware of one function."""

    def __init__(self, does: Callable[[ToolCall, Proceed], Any]) -> None:
        self.does = does

    async def invoke(self, call: ToolCall, proceed: Proceed) -> str:
        answer: str = await self.does(call, proceed)
        return answer


class Cache(ToolMiddleware):
    """Answers a call from the last one that said the same."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    async def invoke(self, call: ToolCall, proceed: Proceed) -> str:
        key = (call.tool, call.arguments)
        if key not in self.kept:
            self.kept[key] = await proceed(call)
        return self.kept[key]


def counting(runs: list[str]) -> Any:
    @strata_tool("count", inline=True)
    def count(text: str = "") -> str:
        """Counts its runs."""
        runs.append(text)
        return f"run {len(runs)}"

    return count


async def test_tm1_the_first_one_registered_is_the_outermost() -> None:
    lines: list[str] = []
    tools = ToolRegistry([counting(lines)], [Diary("a", lines), Diary("b", lines)])
    tools.use(Diary("c", lines))
    await tools.dispatch("count", '{"text":"tool"}')
    assert lines == ["a in", "b in", "c in", "tool", "c out", "b out", "a out"]


async def test_tm2_tm9_a_cache_answers_in_every_registry_that_it_serves() -> None:
    runs: list[str] = []
    cache = Cache()
    first, second = ToolRegistry([counting(runs)], [cache]), ToolRegistry([counting(runs)], [cache])
    assert [await tools.dispatch("count", "{}") for tools in (first, first, second)] == ["run 1"] * 3
    assert len(runs) == 1


async def test_tm3_one_that_denies_keeps_the_tool_from_running() -> None:
    async def deny(call: ToolCall, proceed: Proceed) -> str:
        raise ToolCallDenied(call.tool, "tenant acme may not echo")

    runs: list[str] = []
    with pytest.raises(ToolCallDenied, match="tool 'count' was denied: tenant acme may not echo"):
        await ToolRegistry([counting(runs)], [Does(deny)]).dispatch("count", "{}")
    assert runs == []


async def test_tm4_one_that_fails_fails_the_call() -> None:
    async def fail(call: ToolCall, proceed: Proceed) -> str:
        raise ToolCallFailed(call.tool, "the policy backend is down")

    with pytest.raises(ToolCallFailed, match="tool 'echo' failed: the policy backend is down"):
        await ToolRegistry([echo()], [Does(fail)]).dispatch("echo", "{}")


async def test_any_other_error_of_one_goes_up_as_it_is() -> None:
    async def fall(call: ToolCall, proceed: Proceed) -> str:
        raise KeyError("tenant")

    with pytest.raises(KeyError, match="tenant"):
        await ToolRegistry([echo()], [Does(fall)]).dispatch("echo", "{}")


async def test_tm5_a_timeout_that_stops_waiting_has_failed_the_call() -> None:
    started: list[str] = []
    over = asyncio.Event()

    @strata_tool
    async def ignores(ctx: ToolContext) -> str:
        """Takes no notice of its token."""
        started.append("once")
        await over.wait()
        return "late"

    async def limit(call: ToolCall, proceed: Proceed) -> str:
        try:
            return await asyncio.wait_for(proceed(call), 0)
        except TimeoutError as error:
            raise ToolCallFailed(call.tool, "took too long") from error

    async def soon(call: ToolCall, proceed: Proceed) -> str:
        async with asyncio.timeout(None) as timeout:
            asyncio.get_running_loop().call_soon(timeout.reschedule, 0)
            return await proceed(call)

    with pytest.raises(TimeoutError):
        await ToolRegistry([ignores], [Does(soon)]).dispatch("ignores", "{}")
    assert started == ["once"]
    with pytest.raises(ToolCallFailed, match="took too long"):
        await ToolRegistry([ignores], [Does(limit)]).dispatch("ignores", "{}")


async def test_tm6_what_one_changes_is_what_the_tool_sees() -> None:
    seen: list[ToolContext] = []

    @strata_tool(inline=True)
    def repeat(text: str, ctx: ToolContext) -> str:
        """Gives back its text."""
        seen.append(ctx)
        return text

    async def gateway(call: ToolCall, proceed: Proceed) -> str:
        told = call.context.replace(caller_id="gateway", metadata={**call.context.metadata, "tenant": "acme"})
        return await proceed(call.replace(arguments='{"text":"redacted"}', context=told))

    tools = ToolRegistry([repeat], [Does(gateway)])
    assert await tools.dispatch("repeat", '{"text":"secret"}', ToolContext(call_id="c1")) == "redacted"
    assert [(ctx.caller_id, ctx.metadata, ctx.call_id) for ctx in seen] == [("gateway", {"tenant": "acme"}, "c1")]


async def test_no_middleware_can_route_a_call_to_another_tool() -> None:
    async def reroute(call: ToolCall, proceed: Proceed) -> str:
        return await proceed(msgspec.structs.replace(call, tool="other"))

    inner = Diary()
    tools = ToolRegistry([echo(), echo("other")], [Does(reroute), inner])
    assert await tools.dispatch("echo", '{"text":"here"}') == "here"
    assert [call.tool for call in inner.calls] == ["echo"]


async def test_tm7_one_sees_the_tools_manifest_entry() -> None:
    async def check(call: ToolCall, proceed: Proceed) -> str:
        assert call.manifest is not None
        given: Mapping[str, Any] = msgspec.json.decode(call.arguments)
        missing = [name for name in call.manifest["parameters"]["required"] if name not in given]
        if missing:
            raise ToolCallDenied(call.tool, f"{missing[0]} is missing")
        return await proceed(call)

    @strata_tool(inline=True)
    def needs(text: str) -> str:
        """Needs its text."""
        return text

    tools = ToolRegistry([needs], [Does(check)])
    with pytest.raises(ToolCallDenied, match="text is missing"):
        await tools.dispatch("needs", "{}")
    assert await tools.dispatch("needs", '{"text":"t"}') == "t"


async def test_tm8_one_may_run_the_rest_twice() -> None:
    async def twice(call: ToolCall, proceed: Proceed) -> str:
        await proceed(call)
        return await proceed(call)

    inner, runs = Diary(), list[str]()
    assert await ToolRegistry([counting(runs)], [Does(twice), inner]).dispatch("count", "{}") == "run 2"
    assert inner.lines == ["diary in", "diary out"] * 2


async def test_one_that_tries_again_sees_what_the_tool_failed_of() -> None:
    failures = [ConnectionError("down"), asyncio.CancelledError()]

    @strata_tool
    async def flaky() -> str:
        """Fails at first."""
        if failures:
            raise failures.pop()
        return "up"

    async def persist(call: ToolCall, proceed: Proceed) -> str:
        seen: list[type[BaseException | None]] = []
        while True:
            try:
                return f"{await proceed(call)} after {[kind.__name__ for kind in seen]}"
            except ToolExecutionFailure as error:
                seen.append(type(error.__cause__))

    assert await ToolRegistry([flaky], [Does(persist)]).dispatch("flaky", "{}") == "up after ['CancelledError', 'ConnectionError']"


async def test_tm10_each_is_told_of_a_refusal_and_none_invokes_anything() -> None:
    lines: list[str] = []
    tools = ToolRegistry([echo(), echo("hidden")], [Diary("a", lines), Diary("b", lines)]).subset(["echo"])
    for name, refusal in (("hidden", ToolNotPermitted), ("ghost", ToolNotFound)):
        with pytest.raises(refusal):
            await tools.dispatch(name, "{}")
    told = ["tool 'hidden' is not permitted here", "tool 'ghost' not found"]
    assert lines == [f"{name} told: {text}" for text in told for name in ("a", "b")]


async def test_tm11_a_refusal_is_told_even_if_the_token_has_fired() -> None:
    diary, cancellation = Diary(), Cancellation()
    cancellation.fire()
    with pytest.raises(ToolNotFound):
        await ToolRegistry([echo()], [diary]).dispatch("ghost", "{}", ToolContext(cancellation=cancellation))
    assert [call.manifest for call in diary.calls] == [None]


class FailsOnRefusal(ToolMiddleware):
    async def on_refused(self, call: ToolCall, refusal: ToolNotFound | ToolNotPermitted) -> None:
        raise RuntimeError("the alarm is broken")


async def test_a_hook_that_fails_hides_neither_the_refusal_nor_the_other_hooks(caplog: pytest.LogCaptureFixture) -> None:
    diary = Diary()
    with pytest.raises(RuntimeError, match="the alarm is broken") as raised:
        await ToolRegistry([], [FailsOnRefusal(), diary, FailsOnRefusal()]).dispatch("ghost", "{}")
    assert isinstance(raised.value.__cause__, ToolNotFound)
    assert diary.lines == ["diary told: tool 'ghost' not found"]
    assert [record.getMessage() for record in caplog.records] == [
        "a middleware failed on the refusal of tool 'ghost', behind another: the alarm is broken"
    ]


async def test_a_hook_is_not_told_of_a_denial() -> None:
    async def deny(call: ToolCall, proceed: Proceed) -> str:
        raise ToolCallDenied(call.tool, "no")

    diary = Diary()
    with pytest.raises(ToolCallDenied):
        await ToolRegistry([echo()], [diary, Does(deny)]).dispatch("echo", "{}")
    assert diary.lines == ["diary in", "diary out"]


@pytest.mark.parametrize("raised", [ToolCallFailed("echo", "broken"), KeyError("x"), asyncio.CancelledError()])
async def test_tm13_an_error_of_one_that_has_fired_the_token_is_the_cancellation(raised: BaseException) -> None:
    async def fire(call: ToolCall, proceed: Proceed) -> str:
        cancellation.fire()
        raise raised

    cancellation = Cancellation()
    with pytest.raises(ToolCancelled):
        await ToolRegistry([echo()], [Does(fire)]).dispatch("echo", "{}", ToolContext(cancellation=cancellation))


async def test_a_denial_stays_one_though_the_token_has_fired() -> None:
    async def fire(call: ToolCall, proceed: Proceed) -> str:
        cancellation.fire()
        raise ToolCallDenied(call.tool, "no")

    cancellation = Cancellation()
    with pytest.raises(ToolCallDenied):
        await ToolRegistry([echo()], [Does(fire)]).dispatch("echo", "{}", ToolContext(cancellation=cancellation))


async def test_the_token_that_one_puts_into_the_context_is_the_tools_and_not_the_calls() -> None:
    own = Cancellation()
    own.fire()
    seen: list[ToolContext] = []

    async def replace(call: ToolCall, proceed: Proceed) -> str:
        await proceed(call.replace(context=call.context.replace(cancellation=own)))
        raise ToolCallFailed(call.tool, "broken")

    with pytest.raises(ToolCallFailed, match="broken"):
        await ToolRegistry([seeing(seen)], [Does(replace)]).dispatch("look", "{}")
    assert seen[0].cancelled


async def test_one_that_says_the_call_was_cancelled_which_nobody_cancelled_has_failed_it() -> None:
    async def claim(call: ToolCall, proceed: Proceed) -> str:
        raise ToolCancelled(call.tool)

    with pytest.raises(ToolCallFailed, match="it says that it was cancelled, and nobody cancelled it") as raised:
        await ToolRegistry([echo()], [Does(claim)]).dispatch("echo", "{}")
    assert isinstance(raised.value.__cause__, ToolCancelled)


async def test_one_that_gives_no_text_is_named() -> None:
    async def forgets(call: ToolCall, proceed: Proceed) -> Any:
        await proceed(call)

    with pytest.raises(ToolCallFailed, match=r"tool 'echo' failed: Does.invoke gave None, not the text of a result"):
        await ToolRegistry([echo()], [Diary(), Does(forgets)]).dispatch("echo", "{}")


async def test_tm14_a_subset_has_its_parents_middleware_of_that_moment_and_its_own_inside() -> None:
    lines: list[str] = []
    parent = ToolRegistry([echo()], [Diary("gateway", lines)])
    before, subset = parent.subset(["echo"]), parent.subset(["echo"])
    subset.use(Diary("agent", lines))
    parent.use(Diary("late", lines))

    async def of(tools: ToolRegistry) -> list[str]:
        lines.clear()
        await tools.dispatch("echo", "{}")
        return [line.removesuffix(" in") for line in lines if line.endswith(" in")]

    assert await of(subset) == ["gateway", "agent"]
    assert await of(parent) == ["gateway", "late"]
    assert await of(before) == ["gateway"]


async def test_a_middleware_that_is_used_while_a_call_runs_is_not_in_its_way() -> None:
    late = Diary("late")

    async def grow(call: ToolCall, proceed: Proceed) -> str:
        tools.use(late)
        return await proceed(call)

    tools = ToolRegistry([echo()], [Does(grow)])
    await tools.dispatch("echo", "{}")
    assert late.lines == []


def test_every_error_of_a_call_is_a_tool_error() -> None:
    kinds = (
        ToolNotFound("a"),
        ToolNotPermitted("a"),
        ToolCallDenied("a", "b"),
        ToolCallFailed("a", "b"),
        ToolExecutionFailure("a"),
        ToolCancelled("a"),
    )
    assert all(isinstance(error, ToolError) for error in kinds)
