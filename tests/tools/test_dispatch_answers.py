"""What a model is told of its call, and what becomes of the node that made it (strata-tools.md 13, 14)."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from strata import (
    Cancelled,
    Context,
    Failed,
    Runner,
    StateGraph,
    ToolCallDenied,
    ToolCallFailed,
    ToolCancelled,
    ToolRegistry,
    branch,
    strata_tool,
)
from strata.ports.events import ToolCallCompleted, ToolCallStarted
from strata.testing import EventRecorder
from strata.tools import Cancellation, Proceed, ToolAnswer, ToolCall, ToolContext
from tests.clocks import HandClock
from tests.graphs.trails import Trail
from tests.tools.calls import Diary, Order, asking, echo, refund, until
from tests.tools.test_dispatch_middleware import Does


@strata_tool("k8s.pods")
async def pods(namespace: str = "default") -> str:
    """Lists pods."""
    return f"pods of {namespace}"


def told(answer: ToolAnswer) -> tuple[str, str]:
    return answer.result, answer.content


async def test_tp5_the_call_is_made_under_the_tools_own_name_for_the_agent_that_has_it() -> None:
    diary = Diary()
    tools = ToolRegistry([pods], [diary])
    answer = await tools.answer("k8s_pods", '{"namespace":"web"}', ToolContext(caller_id="k8s-agent", call_id="toolu_01"))
    [call] = diary.calls
    assert (call.tool, call.context.caller_id, call.context.call_id) == ("k8s.pods", "k8s-agent", "toolu_01")
    assert answer == ToolAnswer(tool="k8s.pods", call_id="toolu_01", content="pods of web", result="succeeded")


async def test_tp6_bad_arguments_are_told_refused_and_recorded_as_a_failed_call() -> None:
    recorder, tools, answers = EventRecorder(), ToolRegistry([pods]), list[ToolAnswer]()

    async def turn(ctx: Context) -> str:
        for arguments in ('{"namespace":5}', "{}"):
            answers.append(await tools.answer("k8s_pods", arguments, ctx))
        return answers[-1].content

    outcome = await Runner(asking(turn), observers=[recorder]).run("t", Trail())
    assert outcome.state.trail == "pods of default"
    refusal = "{\"error\":\"invalid arguments for tool 'k8s_pods': argument 'namespace' must be a string\"}"
    assert told(answers[0]) == ("refused", refusal)
    assert recorder.lines(ToolCallCompleted) == [
        "ToolCallCompleted Ask#1 k8s.pods failed \"invalid tool arguments: argument 'namespace' must be a string\"",
        "ToolCallCompleted Ask#1 k8s.pods succeeded",
    ]


@pytest.mark.parametrize("arguments", ["[]", "5", "null", '"{}"', "{", '{"namespace":', "NaN", "[" * 5000, '{"a":"\ud800"}'])
async def test_arguments_that_are_no_object_are_never_dispatched(arguments: str) -> None:
    diary = Diary()
    answer = await ToolRegistry([pods], [diary]).answer("k8s_pods", arguments)
    assert told(answer) == ("refused", '{"error":"the arguments for tool \'k8s_pods\' aren\'t a JSON object"}')
    assert diary.calls == []
    assert answer.call_id


@pytest.mark.parametrize("number", [float("nan"), float("inf"), [{"a": float("-inf")}]])
async def test_an_object_with_what_json_lacks_is_never_dispatched(number: object) -> None:
    diary = Diary()
    answer = await ToolRegistry([echo()], [diary]).answer("echo", {"text": None, "number": number})
    assert told(answer) == ("refused", '{"error":"the arguments for tool \'echo\' aren\'t a JSON object"}')
    assert diary.calls == []


async def test_arguments_are_handed_on_compact_and_with_sorted_keys() -> None:
    diary = Diary()
    tools = ToolRegistry([echo()], [diary])
    for arguments in ('{ "text" : "t", "a": {"c":1, "b" : 2} }', {"text": "t", "a": {"c": 1, "b": 2}}, "", "  ", "{}"):
        await tools.answer("echo", arguments)
    assert [call.arguments for call in diary.calls] == ['{"a":{"b":2,"c":1},"text":"t"}'] * 2 + ["{}"] * 3


async def test_a_name_given_twice_is_not_lost_on_the_way() -> None:
    answer = await ToolRegistry([pods]).answer("k8s_pods", '{"namespace":"web", "namespace":"kube-system"}')
    assert told(answer) == ("refused", "{\"error\":\"invalid arguments for tool 'k8s_pods': argument 'namespace' is given twice\"}")


async def test_tool_18_arguments_that_were_cut_off_are_not_looked_at() -> None:
    diary = Diary()
    answer = await ToolRegistry([pods], [diary]).answer("k8s_pods", "", cut_off=True)
    assert told(answer) == ("refused", '{"error":"the arguments for tool \'k8s_pods\' were cut off before their end: send the call again"}')
    assert diary.calls == []


@pytest.mark.parametrize(
    ("name", "told_of"),
    [
        ("ghost", "tool 'ghost' was not found"),
        ("hidden_tool", "tool 'hidden_tool' was not found"),
        ("hidden.tool", "tool 'hidden.tool' is not permitted here"),
    ],
)
async def test_a_tool_that_is_not_there_is_told_as_refused(name: str, told_of: str) -> None:
    tools = ToolRegistry([echo(), echo("hidden.tool")]).subset(["echo"])
    answer = await tools.answer(name, "{}")
    assert told(answer) == ("refused", f'{{"error":"{told_of}"}}')
    assert answer.tool == name


async def test_a_denied_call_is_told_with_its_reason() -> None:
    async def deny(call: ToolCall, proceed: Proceed) -> str:
        raise ToolCallDenied(call.tool, 'not "you"')

    assert told(await ToolRegistry([echo()], [Does(deny)]).answer("echo", "{}")) == ("refused", r'{"error":"denied: not \"you\""}')


def failing(error: Exception) -> tuple[ToolRegistry, ToolContext]:
    return ToolRegistry([refund]), ToolContext().with_service(Order(refused=error))


REFUND = '{"order_id":"o-1","amount":5}'
PINNED = '{"error":"tool \'refund\' failed: the tool returned an error"}'


async def test_a_model_may_be_told_of_a_failure_without_what_its_function_raised(caplog: pytest.LogCaptureFixture) -> None:
    tools, context = failing(ValueError("password=hunter2"))
    assert told(await tools.answer("refund", REFUND, context, on_failure="tell_model")) == ("failed", PINNED)
    [record] = caplog.records
    assert record.getMessage() == "tool 'refund' failed, and the model is told so: ValueError: password=hunter2"
    assert record.exc_info is not None


async def test_a_model_may_be_told_what_the_function_raised_beside_the_words_of_every_engine() -> None:
    tools, context = failing(ValueError("no order o-1"))
    answer = await tools.answer("refund", REFUND, context, on_failure="tell_model", with_details=True)
    assert msgspec.json.decode(answer.content) == {**msgspec.json.decode(PINNED), "detail": "ValueError: no order o-1"}


async def test_what_a_middleware_says_of_a_failure_is_told() -> None:
    async def fail(call: ToolCall, proceed: Proceed) -> str:
        raise ToolCallFailed(call.tool, "the policy backend is down")

    answer = await ToolRegistry([pods], [Does(fail)]).answer("k8s_pods", "{}", on_failure="tell_model", with_details=True)
    assert told(answer) == ("failed", '{"error":"tool \'k8s_pods\' failed: the policy backend is down"}')


async def test_a_failure_fails_the_node_where_nothing_else_is_said() -> None:
    error = ValueError("no order o-1")

    async def turn(ctx: Context) -> str:
        tools, context = failing(error)
        services = context.services
        return (await tools.answer("refund", REFUND, ToolContext.of(ctx).replace(services=services))).content

    outcome = await Runner(asking(turn)).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert (outcome.kind, outcome.message) == ("fatal", "tool 'refund' failed: ValueError: no order o-1")


async def test_a_failure_fails_the_node_as_its_policy_judges_what_the_tool_failed_of() -> None:
    tools, context = failing(ConnectionError("down"))

    async def turn(state: Trail, ctx: Context) -> Trail:
        given = ToolContext.of(ctx).replace(services=context.services)
        return state.replace(trail=(await tools.answer("refund", REFUND, given)).content)

    graph = StateGraph(Trail).add_node("Ask", turn).set_recovery_policy("Ask", retries=1).compile()
    outcome = await Runner(graph, clock=HandClock()).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert (outcome.kind, outcome.attempts) == ("transient", 2)


async def test_an_error_of_a_middlewares_own_is_the_cause_of_the_nodes_failure() -> None:
    async def fall(call: ToolCall, proceed: Proceed) -> str:
        raise KeyError("tenant")

    with pytest.raises(ToolCallFailed, match=r"tool 'k8s.pods' failed: KeyError: 'tenant'") as raised:
        await ToolRegistry([pods], [Does(fall)]).answer("k8s_pods", "{}")
    assert isinstance(raised.value.__cause__, KeyError)


async def test_of_a_cancelled_call_a_model_is_told_nothing() -> None:
    cancellation = Cancellation()
    cancellation.fire()
    with pytest.raises(ToolCancelled):
        await ToolRegistry([pods]).answer("k8s_pods", "{}", ToolContext(cancellation=cancellation), on_failure="tell_model")


async def test_a_fault_of_the_node_itself_is_told_to_no_model() -> None:
    @strata_tool(approve=True)
    async def pay() -> str:
        """Pays."""
        return "paid"

    @strata_tool
    async def confirm(ctx: Context) -> str:
        """Asks by itself."""
        return str(ctx.interrupt("sure?"))

    tools = ToolRegistry([pay, confirm])
    for name in tools.names:

        async def acme(state: Trail, ctx: Context, name: str = name) -> Trail:
            return state.replace(trail=(await tools.answer(name, "{}", ctx, on_failure="tell_model")).content)

        graph = StateGraph(Trail).add_parallel_group("Gather", [branch("Acme", acme)], lambda state, results: state).compile()
        outcome = await Runner(graph).run("t", Trail())
        assert isinstance(outcome, Failed)
        assert "'Gather/Acme' runs beside others and cannot ask" in outcome.message


@strata_tool
async def hangs(ctx: ToolContext) -> str:
    """Never ends by itself."""
    await ctx.wait_cancelled()
    return "never"


async def test_tp9_a_run_that_is_cancelled_while_a_tool_hangs_ends_so_and_the_call_says_it_too() -> None:
    recorder, tools = EventRecorder(), ToolRegistry([hangs])

    async def turn(ctx: Context) -> str:
        return (await tools.answer("hangs", "{}", ctx, on_failure="tell_model")).content

    runner = Runner(asking(turn), observers=[recorder])
    running = asyncio.create_task(runner.run("t", Trail()))
    await until(recorder, ToolCallStarted)
    runner.cancel("t")
    outcome = await running
    assert isinstance(outcome, Cancelled)
    assert recorder.lines(ToolCallCompleted) == ["ToolCallCompleted Ask#1 hangs cancelled"]


async def test_tp8_calls_of_one_turn_may_run_at_once() -> None:
    other = asyncio.Event()

    @strata_tool
    async def first() -> str:
        """Answers once the other has started."""
        await other.wait()
        return "first"

    @strata_tool
    async def second() -> str:
        """Starts."""
        other.set()
        return "second"

    tools = ToolRegistry([first, second])

    async def turn(ctx: Context) -> Any:
        answers = await asyncio.gather(*(tools.answer(name, "{}", ctx) for name in ("first", "second")))
        return [answer.content for answer in answers]

    outcome = await Runner(asking(turn)).run("t", Trail())
    assert outcome.state.trail == "['first', 'second']"
