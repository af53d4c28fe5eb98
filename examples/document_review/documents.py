"""A document is looked at by three readers at once, signed by a person in a graph of its own, and published."""

from __future__ import annotations

from strata import Context, State, StateGraph, boundary, branch, edge, node, on_reject, parallel, quorum, subgraph, when


class Signature(State):
    title: str
    remarks: tuple[str, ...]
    signed_by: str | None = None


@node
@boundary  # pauses the whole thread, from inside the document's graph
@on_reject("turn_down")
@edge("sign")
def ask(signature: Signature) -> Signature:
    return signature


@node
def sign(signature: Signature, ctx: Context) -> Signature:
    return signature.replace(signed_by=ctx.decision.reviewer if ctx.decision is not None else None)


@node
def turn_down(signature: Signature) -> Signature:
    return signature


signing = StateGraph(Signature).start(ask).nodes(sign, turn_down).compile(id="signing", version="1")


class Document(State):
    title: str
    text: str
    remarks: tuple[str, ...] = ()
    signed_by: str | None = None
    status: str = "new"


def spelling(document: Document) -> Document:
    doubtful = [word for word in document.text.split() if word.lower() in {"teh", "adn"}]
    return document.replace(remarks=tuple(f"is '{word}' a word?" for word in doubtful))


async def length(document: Document) -> Document:
    count = len(document.text.split())
    return document.replace(remarks=(f"a length of {count} {'will do' if count < 100 else 'is too much'}",))


async def lawyer(document: Document, ctx: Context) -> Document:
    await ctx.sleep(3600)  # very busy
    return document.replace(remarks=("see appendix C",))


# All three start with the same document. Two are enough: the one that is still reading then is stopped.
@parallel(spelling, branch("size", length), lawyer, join=quorum(2))
@edge("signature")
def reviews(document: Document, results: list[Document]) -> Document:
    return document.replace(remarks=tuple(remark for result in results for remark in result.remarks))


def to_sign(document: Document) -> Signature:
    return Signature(title=document.title, remarks=document.remarks)


def is_signed(document: Document) -> bool:
    return document.signed_by is not None


@subgraph(signing, enter=to_sign)  # a thread may wait in there, and its records keep both states
@when(is_signed, to="publish")
@edge("archive")
def signature(document: Document, signature: Signature) -> Document:
    return document.replace(signed_by=signature.signed_by)


@node
def publish(document: Document) -> Document:
    return document.replace(status="published")


@node
def archive(document: Document) -> Document:
    return document.replace(status="archived")


documents = StateGraph(Document).start(reviews).nodes(signature, publish, archive).compile(id="documents", version="1")
