"""An agent answers a customer: it looks the order up, asks a colleague what it may promise, and writes while the customer reads."""

from __future__ import annotations

from examples.support_agent.outside import Model, Shop
from strata import Backoff, Context, FatalError, State, StateGraph, edge, node, retry


class Ticket(State):
    customer: str
    text: str
    topic: str = ""
    cents: int = 0
    reply: str = ""


@node(timeout=30)
@retry(3, backoff=Backoff(initial=0.05, maximum=1.0))  # a busy model is asked again
@edge("answer")
async def understand(ticket: Ticket, ctx: Context) -> Ticket:
    return ticket.replace(topic=await model_of(ctx).topic_of(ticket.text))


@node(timeout=30)
async def answer(ticket: Ticket, ctx: Context) -> Ticket:
    shop = ctx.service(Shop)
    if shop is None:
        raise FatalError("answer needs a Shop: Runner(..., services=[Shop()])")
    paid = await ctx.once("paid", lambda: shop.paid_by(ticket.customer))  # kept, and not asked for again after the question
    cents = ctx.interrupt(f"{ticket.customer} paid {paid} cents, and says: {ticket.text}. How much may go back?", returns=int)
    words: list[str] = []
    async for word in model_of(ctx).reply(ticket.topic, cents):
        await ctx.token(f"{word} ")
        words.append(word)
    return ticket.replace(cents=cents, reply=" ".join(words))


def model_of(ctx: Context) -> Model:
    model = ctx.service(Model)
    if model is None:
        raise FatalError("the agent needs a Model: Runner(..., services=[Model()])")
    return model


tickets = StateGraph(Ticket).start(understand).nodes(answer).compile(id="tickets", version="1")
