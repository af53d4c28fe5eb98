"""Failures of a node that carry what a child graph left behind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from strata.checkpoint.asked import QuestionRecord
from strata.checkpoint.record import Checkpoint
from strata.errors import NodeError, NodeTimedOut


class ChildFailed(NodeError):
    """A subgraph's child, a branch or an item failed; it has said itself whether trying again may help.

    `errors` are what handlers raised, at any depth; they are its cause too, so that logs have their tracebacks.
    """

    def __init__(
        self,
        text: str,
        *,
        kind: Literal["transient", "fatal"],
        retry_after: float | None = None,
        nested: Checkpoint | None = None,
        errors: Sequence[BaseException] = (),
    ) -> None:
        self.kind: Literal["transient", "fatal"] = kind
        self.retry_after, self.nested = retry_after, nested
        self.errors: tuple[BaseException, ...] = tuple(
            leaf for error in errors for leaf in (error.errors or (error,) if isinstance(error, ChildFailed) else (error,))
        )
        super().__init__(text)
        if errors:
            self.__cause__ = errors[0] if len(errors) == 1 else BaseExceptionGroup("several failed", errors)


class ChildTimedOut(NodeTimedOut):
    """A subgraph node's timeout stopped its child, which left a `cancelled` record."""

    def __init__(self, node: str, *, timeout: float, nested: Checkpoint | None) -> None:
        self.nested = nested
        super().__init__(node, timeout=timeout)


class CameToRest(Exception):
    """The node waits, and so does every level around it: no failure, and not tried again."""


class NodeAsked(CameToRest):
    """The node's handler has asked a question that has no answer yet."""

    def __init__(self, question: QuestionRecord) -> None:
        self.question = question
        super().__init__("a node asked a question")


class ChildPaused(CameToRest):
    """The child of a subgraph node came to rest: so does every level around it."""

    def __init__(self, nested: Checkpoint) -> None:
        self.nested = nested
        super().__init__("a child graph paused")


class ChildStopped(Exception):
    """The child of a subgraph node was stopped with its parent."""

    def __init__(self, nested: Checkpoint) -> None:
        self.nested = nested
        super().__init__("a child graph was stopped")
