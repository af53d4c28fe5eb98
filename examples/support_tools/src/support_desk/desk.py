"""The graph: the model speaks, the desk makes its calls, until the model has a reply."""

from __future__ import annotations

from strata import Context, FatalError, State, StateGraph, edge, node, when
from strata.tools import ToolContext, ToolRegistry
from support_desk.made.dispatch import TOOLS
from support_desk.model import Asked, ScriptedModel

tools = ToolRegistry(TOOLS)


class Ticket(State):
    customer: str
    text: str
    calls: tuple[Asked, ...] = ()
    results: tuple[str, ...] = ()
    reply: str = ""


def wants_calls(ticket: Ticket) -> bool:
    return bool(ticket.calls)


@node(timeout=30)
@when(wants_calls, to="act")
@edge("close")
async def think(ticket: Ticket, ctx: Context) -> Ticket:
    model = ctx.service(ScriptedModel)
    if model is None:
        raise FatalError("the desk needs a ScriptedModel: Runner(..., services=[ScriptedModel()])")
    turn = await model.next(ticket.customer, ticket.text, ticket.results)
    return ticket.replace(calls=turn.calls, reply=turn.reply)


@node
@edge(think)
async def act(ticket: Ticket, ctx: Context) -> Ticket:
    """A call that needs a colleague's yes stops the node here; with the answer it runs again, and makes the call once."""
    results: list[str] = []
    for call in ticket.calls:
        answer = await tools.answer(call.name, call.arguments, ToolContext.of(ctx, call_id=call.id))
        results.append(answer.content)
    return ticket.replace(results=(*ticket.results, *results), calls=())


@node
def close(ticket: Ticket) -> Ticket:
    return ticket


tickets = StateGraph(Ticket).start(think).nodes(act, close).compile(id="desk", version="1", max_node_hops=20)
