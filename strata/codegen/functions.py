"""A function of a source as a live one, with its real types and without what it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import libcst as cst

from strata.codegen.faults import each, not_read
from strata.codegen.interpreter import Interpreter
from strata.codegen.stubs import Signature, function_of
from strata.codegen.values import Frame


def live_function(node: cst.FunctionDef, qualified_name: str, frame: Frame, interpreter: Interpreter) -> Callable[..., Any]:
    """The function, for whoever reads live ones.

    Raises:
        NotRead: an annotation or a default cannot be told, or it is generic.
    """
    if node.type_parameters is not None:
        raise not_read(f"'{node.name.value}' is generic, and a model cannot say for which types it calls", frame.module, node.type_parameters)
    params = node.params
    annotations, defaults = each((_annotations, _defaults), lambda read: read(params, frame, interpreter))
    positional = [param.name.value for param in (*params.posonly_params, *params.params)]
    return function_of(
        Signature(
            name=node.name.value,
            qualified_name=qualified_name,
            module=frame.module.name,
            file=frame.module.file.shown,
            docstring=node.get_docstring(clean=False),
            is_async=node.asynchronous is not None,
            yields=not all(map(_does_nothing, node.body.body)) and _yields(node.body),
            positional_only=[param.name.value for param in params.posonly_params],
            positional=[param.name.value for param in params.params],
            variadic=params.star_arg.name.value if isinstance(params.star_arg, cst.Param) else None,
            keyword_only=[param.name.value for param in params.kwonly_params],
            keywords=None if params.star_kwarg is None else params.star_kwarg.name.value,
            annotations=annotations,
            defaults=[defaults[name] for name in positional if name in defaults],
            keyword_defaults={name: value for name, value in defaults.items() if name not in positional},
        )
    )


def _annotations(params: cst.Parameters, frame: Frame, interpreter: Interpreter) -> dict[str, Any]:
    written = [(param.name.value, param.annotation.annotation) for param in _all(params) if param.annotation is not None]
    return dict(each(written, lambda item: (item[0], interpreter.annotation(item[1], frame.as_annotation()))))


def _defaults(params: cst.Parameters, frame: Frame, interpreter: Interpreter) -> dict[str, Any]:
    written = [(param.name.value, param.default) for param in _all(params) if param.default is not None]
    return dict(each(written, lambda item: (item[0], interpreter.default(item[1], frame))))


def _all(params: cst.Parameters) -> Iterator[cst.Param]:
    yield from (*params.posonly_params, *params.params, *params.kwonly_params)
    if isinstance(params.star_arg, cst.Param):
        yield params.star_arg
    if params.star_kwarg is not None:
        yield params.star_kwarg


def _does_nothing(statement: cst.BaseStatement | cst.BaseSmallStatement) -> bool:
    """It is `pass` or a text, as all of a body that was emptied: to walk through one takes libcst 0.2 ms."""
    match statement:
        case cst.SimpleStatementLine(body=parts):
            return all(map(_does_nothing, parts))
        case cst.Pass() | cst.Expr(value=cst.SimpleString()):
            return True
        case _:
            return False


def _yields(node: cst.CSTNode) -> bool:
    """Whether it is a generator; a body that was emptied says so too."""
    if isinstance(node, cst.Yield):
        return True
    return not isinstance(node, cst.FunctionDef | cst.Lambda | cst.ClassDef) and any(map(_yields, node.children))
