"""A tool whose calls a person approves: the node that calls it asks in its middle, and the call is made once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import pytest

from strata import (
    Completed,
    Context,
    Decision,
    Failed,
    Interrupted,
    Outcome,
    Pause,
    Resume,
    Runner,
    SignalRefused,
    StateGraph,
    ToolCallDenied,
    ToolError,
    ToolExecutionFailure,
    ToolRegistry,
    TransientError,
    branch,
    strata_tool,
)
from strata.ports.events import ToolCallCompleted
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore
from strata.testing import EventRecorder, context
from strata.testing.clock import START
from strata.tools import Approve, Proceed, ToolCall, ToolContext, ToolMiddleware, approval_key
from tests.clocks import HandClock
from tests.graphs.trails import Trail
from tests.tools.calls import Diary, asking


class Bank:
    """Pays, and keeps what it has paid."""

    def __init__(self, *, approve: Approve = True, fails: int = 0) -> None:
        self.paid: list[tuple[str, int]] = []
        self.fails = fails

        @strata_tool(approve=approve)
        async def pay(to: str, amount: int, note: str = "thanks") -> str:
            """Pays."""
            if self.fails:
                self.fails -= 1
                raise TransientError("the bank is closed")
            self.paid.append((to, amount))
            return f"paid {amount} to {to}"

        self.tool = pay
        self.tools = ToolRegistry([pay])

    async def call(self, ctx: Context, to: str = "ana", amount: int = 5) -> str:
        return await self.tools.dispatch("pay", f'{{"to":"{to}","amount":{amount}}}', ctx)


def question(outcome: Outcome[Trail]) -> Any:
    assert isinstance(outcome, Interrupted)
    [one] = outcome.questions
    return one


class Thread:
    """A thread of one node that does `work`."""

    def __init__(self, work: Callable[[Context], Awaitable[object]], **options: Any) -> None:
        self.graph = asking(work)
        self.runner = Runner(self.graph, MemoryStore(), **options)

    async def run(self) -> Outcome[Trail]:
        return await self.runner.run("t", Trail())

    async def approve(self) -> Outcome[Trail]:
        return await self.runner.resume("t", self.graph.approve("ed"))

    async def reject(self) -> Outcome[Trail]:
        return await self.runner.resume("t", self.graph.reject("ed"))


async def test_a_call_waits_for_a_person_who_is_shown_the_tool_its_arguments_and_the_call() -> None:
    bank = Bank()
    thread = Thread(lambda ctx: bank.tools.dispatch("pay", '{"amount":5,"to":"ana"}', ToolContext.of(ctx, call_id="c1")))
    asked = question(await thread.run())
    assert asked.asked == {"tool": "pay", "arguments": {"to": "ana", "amount": 5, "note": "thanks"}, "call_id": "c1"}
    assert bank.paid == []
    outcome = await thread.approve()
    assert isinstance(outcome, Completed)
    assert (outcome.state.trail, bank.paid) == ("paid 5 to ana", [("ana", 5)])


async def test_a_set_is_asked_for_in_one_order_whatever_the_process_has() -> None:
    @strata_tool(approve=True)
    async def close(accounts: set[int]) -> str:
        """Closes accounts."""
        return "closed"

    tools = ToolRegistry([close])
    decided = Decision(boundary="ask", is_approved=True, reviewer="ed", overrides={}, decided_at=START)
    assert (
        await tools.dispatch("close", '{"accounts":[8,1]}', context("ask", answers={approval_key("close", {"accounts": [1, 8]}): decided}))
        == "closed"
    )


class Ticket(msgspec.Struct):
    """Numbered by whoever reads it."""

    title: str
    number: str = msgspec.field(default_factory=lambda: str(uuid4()))


@pytest.mark.parametrize("durable", [True, False])
@pytest.mark.parametrize("arguments", ['{"ticket":{"title":"tea"}}', '{"ticket":{"title":"tea","number":"7"},"at":"now"}'])
async def test_what_is_made_up_for_an_argument_is_what_the_person_saw(arguments: str, durable: bool) -> None:
    opened: list[object] = []

    @strata_tool(approve=lambda arguments: arguments["ticket"].title == "tea")
    async def open_ticket(ticket: Ticket, at: str = msgspec.field(default_factory=lambda: str(uuid4()))) -> str:
        """Opens a ticket."""
        opened.append({"ticket": {"title": ticket.title, "number": ticket.number}, "at": at})
        return "opened"

    async def open_twice(ctx: Context) -> str:
        return f"{await tools.dispatch('open_ticket', arguments, ctx)} {await tools.dispatch('open_ticket', arguments, ctx)}"

    tools = ToolRegistry([open_ticket])
    graph = asking(open_twice, durable=durable)
    runner = Runner(graph, MemoryStore())
    first = question(await runner.run("t", Trail())).asked["arguments"]
    second = question(await runner.resume("t", graph.approve("ed"))).asked["arguments"]
    assert isinstance(await runner.resume("t", graph.approve("ed")), Completed)
    assert opened == [first, second]


async def test_arguments_that_are_others_whenever_they_are_read_are_never_run() -> None:
    class Stamped(msgspec.Struct):
        at: str = ""

        def __post_init__(self) -> None:
            self.at = str(uuid4())

    @strata_tool(approve=True)
    async def stamp(what: Stamped) -> str:
        """Stamps."""
        raise AssertionError("nobody saw this stamp")

    tools = ToolRegistry([stamp])
    thread = Thread(lambda ctx: tools.dispatch("stamp", '{"what":{}}', ctx))
    await thread.run()
    outcome = await thread.approve()
    assert isinstance(outcome, Failed)
    assert "its arguments are others whenever they are read" in outcome.message


async def test_a_default_that_json_has_no_word_for_is_not_asked_about() -> None:
    nothing: Any = object()

    @strata_tool(approve=True)
    async def pay(to: str, note: str = nothing, tip: int | msgspec.UnsetType = msgspec.UNSET) -> str:
        """Pays."""
        return f"{to} {note is nothing} {tip}"

    tools = ToolRegistry([pay])
    thread = Thread(lambda ctx: tools.dispatch("pay", '{"to":"ana"}', ctx))
    assert question(await thread.run()).asked["arguments"] == {"to": "ana"}
    assert (await thread.approve()).state.trail == "ana True UNSET"


async def test_a_rejected_call_is_denied_and_not_made() -> None:
    bank = Bank()

    async def told(ctx: Context) -> str:
        try:
            return await bank.call(ctx)
        except ToolCallDenied as denied:
            return str(denied)

    thread = Thread(told)
    await thread.run()
    assert (await thread.reject()).state.trail == "tool 'pay' was denied: ed rejected it"
    assert bank.paid == []


async def test_a_model_is_told_that_a_person_rejected_its_call() -> None:
    bank = Bank()
    thread = Thread(lambda ctx: content(bank.tools, ctx))
    await thread.run()
    assert (await thread.reject()).state.trail == '{"error":"denied: ed rejected it"}'


async def content(tools: ToolRegistry, ctx: Context) -> str:
    return (await tools.answer("pay", '{"to":"ana","amount":5}', ctx)).content


async def test_approval_may_depend_on_the_arguments() -> None:
    bank = Bank(approve=lambda arguments: arguments["amount"] > 100)
    assert isinstance(await Thread(lambda ctx: bank.call(ctx, amount=100)).run(), Completed)
    assert question(await Thread(lambda ctx: bank.call(ctx, amount=101)).run())
    assert bank.paid == [("ana", 100)]


@pytest.mark.parametrize("answer", [None, 1, "yes"])
async def test_a_predicate_that_raises_or_gives_no_bool_keeps_the_tool_from_running(answer: object) -> None:
    def predicate(arguments: Mapping[str, Any]) -> Any:
        if answer is None:
            raise KeyError("limit")
        return answer

    bank = Bank(approve=predicate)
    with pytest.raises(ToolExecutionFailure) as raised:
        await bank.tools.dispatch("pay", '{"to":"ana","amount":5}')
    assert raised.value.message.startswith("its approve= failed: ")
    assert bank.paid == []


async def test_a_call_that_was_made_is_not_made_again_when_its_node_runs_again() -> None:
    bank = Bank()

    async def pay_both(ctx: Context) -> str:
        return f"{await bank.call(ctx, to='ana')}, {await bank.call(ctx, to='bo')}"

    thread = Thread(pay_both)
    await thread.run()
    assert question(await thread.approve()).asked["arguments"]["to"] == "bo"
    assert bank.paid == [("ana", 5)]
    assert (await thread.approve()).state.trail == "paid 5 to ana, paid 5 to bo"
    assert bank.paid == [("ana", 5), ("bo", 5)]


async def test_a_call_that_failed_is_made_again_under_the_same_approval() -> None:
    bank = Bank(fails=1)

    async def pay(state: Trail, ctx: Context) -> Trail:
        return state.replace(trail=await bank.call(ctx))

    graph = StateGraph(Trail).add_node("Ask", pay).set_recovery_policy("Ask", retries=1).compile(id="asks", version="1")
    runner = Runner(graph, MemoryStore(), clock=HandClock())
    await runner.run("t", Trail())
    assert isinstance(await runner.resume("t", graph.approve("ed")), Completed)
    assert bank.paid == [("ana", 5)]


async def test_a_middleware_that_tries_again_asks_once() -> None:
    class Persists(ToolMiddleware):
        async def invoke(self, call: ToolCall, proceed: Proceed) -> str:
            try:
                return await proceed(call)
            except ToolError:
                return await proceed(call)

    bank = Bank(fails=1)
    bank.tools.use(Persists())
    thread = Thread(bank.call)
    await thread.run()
    assert isinstance(await thread.approve(), Completed)
    assert bank.paid == [("ana", 5)]


async def test_what_is_kept_outlives_the_process(tmp_path: Path) -> None:
    bank, failing = Bank(), [ConnectionError("the model is down")]

    async def pay(ctx: Context) -> str:
        said = await bank.call(ctx)
        if failing:
            raise failing.pop()
        return said

    graph = asking(pay)
    async with SqliteStore(tmp_path / "a.db") as store:
        await Runner(graph, store).run("t", Trail())
    async with SqliteStore(tmp_path / "a.db") as store:
        assert isinstance(await Runner(graph, store).resume("t", graph.approve("ed")), Failed)
    async with SqliteStore(tmp_path / "a.db") as store:
        outcome = await Runner(graph, store).resume("t")
    assert isinstance(outcome, Completed)
    assert (outcome.state.trail, bank.paid) == ("paid 5 to ana", [("ana", 5)])


async def test_int_16_an_approval_is_for_the_arguments_that_were_asked_for_and_no_others() -> None:
    bank, amounts = Bank(), iter([5, 5000, 5000])
    thread = Thread(lambda ctx: bank.call(ctx, amount=next(amounts)))
    assert question(await thread.run()).asked["arguments"]["amount"] == 5
    asked = question(await thread.approve())  # the model wants more when it is asked again
    assert asked.asked["arguments"]["amount"] == 5000
    assert bank.paid == []
    await thread.approve()
    assert bank.paid == [("ana", 5000)]


async def test_int_16_what_an_answer_says_of_tool_and_arguments_is_not_looked_at() -> None:
    bank = Bank()
    thread = Thread(bank.call)
    await thread.run()
    with pytest.raises(SignalRefused):
        await thread.runner.resume("t", Resume({"tool": "pay", "arguments": {"to": "eve", "amount": 5000}, "is_approved": True}))
    await thread.runner.resume("t", thread.graph.approve("ed").override(trail='{"to":"eve","amount":5000}'))
    assert bank.paid == [("ana", 5)]


@pytest.mark.parametrize("in_a_task_group", [True, False])
async def test_int_01_two_tools_that_ask_at_once_get_each_its_own_answer(in_a_task_group: bool) -> None:
    bank = Bank()

    async def said(ctx: Context, to: str) -> str:
        try:
            return await bank.call(ctx, to)
        except ToolCallDenied:
            return f"nothing to {to}"

    async def pay_both(ctx: Context) -> str:
        if not in_a_task_group:
            return ", ".join(await asyncio.gather(said(ctx, "ana"), said(ctx, "bo")))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(said(ctx, to)) for to in ("ana", "bo")]
        return ", ".join(task.result() for task in tasks)

    thread = Thread(pay_both)
    first = question(await thread.run()).asked["arguments"]["to"]
    second = question(await (thread.reject() if first == "ana" else thread.approve())).asked["arguments"]["to"]
    assert {first, second} == {"ana", "bo"}
    outcome = await (thread.reject() if second == "ana" else thread.approve())
    assert (outcome.state.trail, bank.paid) == ("nothing to ana, paid 5 to bo", [("bo", 5)])


async def test_two_calls_that_say_the_same_are_two_calls() -> None:
    bank = Bank()

    async def pay_twice(ctx: Context) -> str:
        return f"{await bank.call(ctx)}, {await bank.call(ctx)}"

    thread = Thread(pay_twice)
    first = question(await thread.run())
    second = question(await thread.approve())
    assert first.id != second.id
    await thread.approve()
    assert bank.paid == [("ana", 5), ("ana", 5)]


class Catches(ToolMiddleware):
    """Makes a text of every error, as wrappers of tools do."""

    async def invoke(self, call: ToolCall, proceed: Proceed) -> str:
        try:
            return await proceed(call)
        except Exception as error:
            return f"error: {error}"


async def test_int_10_no_wrapper_makes_a_tool_error_of_the_question() -> None:
    bank, recorder = Bank(), EventRecorder()
    bank.tools.use(Catches())
    thread = Thread(lambda ctx: content(bank.tools, ctx), observers=[recorder])
    assert question(await thread.run())
    assert (await thread.approve()).state.trail == "paid 5 to ana"
    assert recorder.lines(ToolCallCompleted) == ["ToolCallCompleted Ask#1 pay cancelled", "ToolCallCompleted Ask#1 pay succeeded"]


async def test_int_10_a_question_that_a_tool_asks_itself_stops_the_node_too() -> None:
    @strata_tool
    async def confirm(ctx: Context, what: str) -> str:
        """Asks by itself."""
        answer: str = ctx.interrupt({"sure": what}, returns=str)
        return f"{what}: {answer}"

    tools = ToolRegistry([confirm], [Catches()])
    thread = Thread(lambda ctx: tools.dispatch("confirm", '{"what":"rm"}', ctx))
    assert question(await thread.run()).asked == {"sure": "rm"}
    assert (await thread.runner.resume("t", Resume("yes"))).state.trail == "rm: yes"


async def test_a_call_that_no_node_makes_cannot_be_approved() -> None:
    bank = Bank()
    told = "tool 'pay' was denied: it needs a person's approval, and no node makes this call that could ask for it"
    for outside in (None, ToolContext(thread_id="t")):
        with pytest.raises(ToolCallDenied, match=told):
            await bank.tools.dispatch("pay", '{"to":"ana","amount":5}', outside)
    with pytest.raises(ToolCallDenied):
        await bank.tool.execute('{"to":"ana","amount":5}')
    assert bank.paid == []


async def test_a_branch_cannot_ask_and_its_call_is_not_made() -> None:
    bank = Bank()

    async def acme(state: Trail, ctx: Context) -> Trail:
        return state.replace(trail=await bank.call(ctx))

    graph = StateGraph(Trail).add_parallel_group("Gather", [branch("Acme", acme)], lambda state, results: state).compile()
    outcome = await Runner(graph, MemoryStore()).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert "'Gather/Acme' runs beside others and cannot ask" in outcome.message
    assert bank.paid == []


async def test_arguments_that_are_none_are_refused_before_anybody_is_asked() -> None:
    bank = Bank()
    outcome = await Thread(lambda ctx: bank.tools.dispatch("pay", '{"to":"ana"}', ctx)).run()
    assert isinstance(outcome, Failed)
    assert outcome.message == "invalid tool arguments: argument 'amount' is missing"


async def test_what_a_middleware_changes_is_what_is_asked_for() -> None:
    class Caps(ToolMiddleware):
        async def invoke(self, call: ToolCall, proceed: Proceed) -> str:
            return await proceed(call.replace(arguments='{"to":"ana","amount":10}'))

    bank = Bank()
    bank.tools.use(Caps())
    thread = Thread(lambda ctx: bank.call(ctx, amount=5000))
    assert question(await thread.run()).asked["arguments"]["amount"] == 10
    await thread.approve()
    assert bank.paid == [("ana", 10)]


async def test_a_unit_test_approves_with_a_context_made_by_hand() -> None:
    bank = Bank()
    asking_context = context("Ask")
    with pytest.raises(Pause):
        await bank.call(asking_context)
    [asked] = asking_context.asked
    assert isinstance(asked, dict)
    assert (asked["tool"], asked["arguments"]) == ("pay", {"to": "ana", "amount": 5, "note": "thanks"})
    decided = Decision(boundary="Ask", is_approved=True, reviewer="ed", overrides={}, decided_at=START)
    key = approval_key("pay", {"amount": 5, "note": "thanks", "to": "ana"})
    assert await bank.call(context("Ask", answers={key: decided})) == "paid 5 to ana"


async def test_middleware_stands_around_the_question() -> None:
    bank, diary = Bank(), Diary()
    bank.tools.use(diary)
    thread = Thread(bank.call)
    await thread.run()
    await thread.approve()
    assert diary.lines == ["diary in", "diary out"] * 2
