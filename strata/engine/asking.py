"""What `ctx.interrupt` does: give the answer that was kept, or say which question is open."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import msgspec

from strata.checkpoint.asked import AnswerRecord, QuestionRecord
from strata.engine.decide.questions import answers_to, is_to, quoted
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

    __slots__ = ("_by_key", "_left", "_node", "_numbered", "_reworded", "open", "unfit")

    def __init__(self, node: str, answers: Sequence[AnswerRecord]) -> None:
        self._node = node
        self._by_key = {answer.key: answer for answer in answers if answer.key is not None}
        self._numbered = [answer for answer in answers if answer.key is None]
        self._left = self._numbered
        self._reworded: AnswerRecord | None = None
        self.open: QuestionRecord | None = None
        self.unfit: AnswerRecord | None = None

    def ask(self, asked: object, returns: Any, key: str | None, *, in_order: bool) -> Any:
        """The answer; or UNSET, and the question is open.

        Raises:
            QuestionChanged: the answer was asked for with another type, or nothing tells which of several is meant.
            TypeError: the question is no JSON, or no schema can be told of `returns`.
        """
        schema = None if returns is msgspec.UNSET else schema_of(returns)
        question = QuestionRecord(key=key, asked=self._plain(asked, key), returns=schema)
        answer = self._take(question, in_order=in_order) if key is None else self._by_key.get(key)
        if answer is None:
            return self._open(question)
        name = self._name(answer)
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
            name = self._next_number if key is None else key
            raise TypeError(f"question '{name}' of node '{self._node}' is no JSON: {error}") from error

    def _take(self, question: QuestionRecord, *, in_order: bool) -> AnswerRecord | None:
        """The answer to a question without a key. Each is given once."""
        match answers_to(question, self._left, in_order=in_order):
            case []:
                if self._reworded is not None and is_to(self._reworded, question):
                    raise self._changed(question, "the answer to that was given to what it asked before")
                return None
            case [answer]:
                self._left = [other for other in self._left if other is not answer]
                if not is_to(answer, question):
                    self._reworded = answer  # of several none would have been taken
                return answer
            case several:
                raise self._changed(question, f"the answers it has are to {' and '.join(quoted(answer.asked) for answer in several)}")

    def _changed(self, question: QuestionRecord, why: str) -> QuestionChanged:
        return QuestionChanged(self._node, self._next_number, why=f"it asks {quoted(question.asked)}, and {why}")

    def _name(self, answer: AnswerRecord) -> str:
        if answer.key is not None:
            return answer.key
        return next(f"#{number}" for number, other in enumerate(self._numbered, 1) if other is answer)

    @property
    def _next_number(self) -> str:
        return f"#{len(self._numbered) - len(self._left) + 1}"


def _words(schema: Any) -> str:
    return "a decision" if schema is None else msgspec.json.encode(schema).decode()
