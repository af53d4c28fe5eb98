"""As what the result of a tool comes back from the text that a model is told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeVar, get_args

import libcst as cst
import msgspec

from strata.codegen.faults import NotRead
from strata.codegen.interpreter import Interpreter
from strata.codegen.reading import SourceTool
from strata.codegen.values import Frame
from strata.graph.meanings import Meaning, meaning_of


def result_annotation(tool: SourceTool, interpreter: Interpreter) -> cst.BaseExpression | None:
    """The annotation by which the result of a tool is read back; None where it comes as the text that a model is told.

    To be asked once the parameters of all tools are read: what it cannot read is no error, and would be one for a parameter.
    """
    if tool.node.returns is None or tool.signature.yields:
        return None
    annotation = tool.node.returns.annotation
    try:
        returns = interpreter.annotation(annotation, Frame(tool.module).as_annotation())
    except (NotRead, RecursionError):
        return None
    is_whole = not interpreter.finish()
    return annotation if is_whole and is_read_back(returns) else None


def is_read_back(returns: Any) -> bool:
    """Whether the text of a result tells the value again.

    Text is told as it is and everything else as JSON, so what may be text comes back as text alone.
    """
    if any(_may_be_text(meaning) for meaning in _members(returns)):
        return False
    try:
        msgspec.json.Decoder(returns)
    except (TypeError, ValueError, RuntimeError, RecursionError, NameError):
        return False
    return True


def _members(annotation: Any) -> Iterator[Meaning]:
    """The type, or those of a union."""
    meaning = meaning_of(annotation)
    if meaning.is_union:
        for member in meaning.arguments or ():
            yield from _members(member)
    else:
        yield meaning


def _may_be_text(meaning: Meaning) -> bool:
    kind = meaning.kind
    if kind is Literal:
        return any(isinstance(value, str) for value in get_args(meaning.written))
    if kind in (Any, object) or isinstance(kind, TypeVar):
        return True
    return isinstance(kind, type) and issubclass(kind, str)
