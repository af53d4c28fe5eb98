"""The batch: each of its words is translated by a graph of its own. The graphs that the recorded batches were written by."""

from __future__ import annotations

from typing import Any, Unpack

from strata import FatalError, Join, Outcomes, State, StateGraph, TransientError, edge, map_each, node
from strata.graph.builder import Wiring
from strata.graph.fanout_decorators import MapOptions


class Batch(State):
    words: list[str]
    done: list[str] = []  # noqa: RUF012 (msgspec copies it)
    text: str = ""


class Word(State):
    word: str
    out: str = ""


@node("lower")
@edge("upper")
def lower(word: Word) -> Word:
    return word.replace(out=word.word.lower())


@node("upper")
async def upper(word: Word) -> Word:
    if word.word == "bad":
        raise FatalError("no such word")
    if word.word == "busy":
        raise TransientError("dictionary busy")
    return word.replace(out=word.word.upper())


words = StateGraph(Word).start(lower).nodes(upper)
"""The child; not compiled, as it is compiled the way its batch is."""


@node("list")
@edge("translate")
def list_words(batch: Batch) -> Batch:
    return batch


@node("join")
def join_words(batch: Batch) -> Batch:
    return batch.replace(text=" ".join(batch.done))


def words_of(batch: Batch) -> list[str]:
    return batch.words


def to_word(batch: Batch, word: str) -> Word:
    return Word(word=word)


def batches(*, durable: bool = True, join: Join[Word] | None = None, **options: Unpack[MapOptions]) -> Wiring[Batch, Any, Any]:
    """list -> translate, the map -> join."""

    @map_each(words.compile(durable=durable), items=words_of, key=str, enter=to_word, name="translate", join=join, **options)
    @edge("join")
    def translate(batch: Batch, outcomes: Outcomes[Word]) -> Batch:
        done = [
            f"{outcome.name}={outcome.state.out}" if outcome.state is not None else f"{outcome.name} {outcome.status} {outcome.error or '-'}"
            for outcome in outcomes
        ]
        return batch.replace(done=[*batch.done, *done, f"join_met {str(outcomes.join_met).lower()}"])

    return StateGraph(Batch).start(list_words).nodes(translate, join_words)
