"""What `ctx.interrupt` does: give the answer that was kept, or say which question is open."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import msgspec

from strata.checkpoint.asked import AnswerRecord, QuestionRecord
from strata.errors import QuestionChanged
from strata.graph.answer_schema import schema_of
from strata.graph.answers import Decision
from strata.graph.plain_json import plain_json

logger = logging.getLogger("strata")


class Asking:
    """The questions of one attempt of one node.

    Attributes:
        open: the question that stopped it.
        unfit: the answer for which it is open again: it fitted the stored schema, and is none of the type all the same.
    """

    __slots__ = ("_by_key", "_in_order", "_next", "_node", "open", "unfit")

    def __init__(self, node: str, answers: Sequence[AnswerRecord]) -> None:
        self._node = node
        self._by_key = {answer.key: answer for answer in answers if answer.key is not None}
        self._in_order = [answer for answer in answers if answer.key is None]
        self._next = 0
        self.open: QuestionRecord | None = None
        self.unfit: AnswerRecord | None = None

    def ask(self, asked: object, returns: Any, key: str | None) -> Any:
        """The answer; or UNSET, and the question is open.

        Raises:
            QuestionChanged: the answer was asked for with another type.
            TypeError: the question is no JSON, or no schema can be told of `returns`.
        """
        schema = None if returns is msgspec.UNSET else schema_of(returns)
        question = QuestionRecord(key=key, asked=self._plain(asked, key), returns=schema)
        answer = self._answer(key)
        if answer is None:
            return self._open(question)
        name = f"#{self._next}" if key is None else key
        if answer.returns != schema:
            raise QuestionChanged(self._node, name, why=f"it was asked for {_words(answer.returns)}, and now for {_words(schema)}")
        try:
            return msgspec.json.decode(msgspec.json.encode(answer.answer), type=Decision if schema is None else returns)
        except msgspec.ValidationError as error:
            logger.warning("node '%s' asks '%s' again, since the answer is not what it asks for: %s", self._node, name, error)
            self.unfit = answer
            return self._open(question)

    def _open(self, question: QuestionRecord) -> msgspec.UnsetType:
        self.open = question
        return msgspec.UNSET

    def _plain(self, asked: object, key: str | None) -> Any:
        """Looked at before the answer, so that what cannot be asked takes the answer of no other question."""
        try:
            return plain_json(asked)
        except TypeError as error:
            name = f"#{self._next + 1}" if key is None else key
            raise TypeError(f"question '{name}' of node '{self._node}' is no JSON: {error}") from error

    def _answer(self, key: str | None) -> AnswerRecord | None:
        if key is not None:
            return self._by_key.get(key)
        if self._next == len(self._in_order):
            return None
        self._next += 1
        return self._in_order[self._next - 1]


def _words(schema: Any) -> str:
    return "a decision" if schema is None else msgspec.json.encode(schema).decode()
