"""Functions made again from their signatures, without what they do: Python itself then says what each is."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What a function is made again from; names of parameters are those of the source, and the only text that is compiled.

    Attributes:
        annotations: of the parameters that have one.
        defaults: of the last of the positional parameters.
        keyword_defaults: of those behind the `*` that have one.
    """

    name: str
    qualified_name: str
    module: str
    file: str
    docstring: str | None = None
    is_async: bool = False
    yields: bool = False
    positional_only: Sequence[str] = ()
    positional: Sequence[str] = ()
    variadic: str | None = None
    keyword_only: Sequence[str] = ()
    keywords: str | None = None
    annotations: Mapping[str, Any]
    defaults: Sequence[Any] = ()
    keyword_defaults: Mapping[str, Any]


def function_of(signature: Signature) -> Callable[..., Any]:
    """A function of that signature, which does nothing."""
    function = FunctionType(_code(signature), {"__name__": signature.module}, signature.name, tuple(signature.defaults))
    function.__kwdefaults__ = dict(signature.keyword_defaults)
    function.__annotations__ = dict(signature.annotations)
    function.__qualname__ = signature.qualified_name
    return function


def as_compiled(docstring: str) -> str:
    """A docstring as Python keeps it: since 3.13 without the indentation of its source."""
    if sys.version_info < (3, 13):
        return docstring
    described = Signature(name="f", qualified_name="f", module="", file="", docstring=docstring, annotations={}, keyword_defaults={})
    return function_of(described).__doc__ or ""


def _code(signature: Signature) -> CodeType:
    arguments = ast.arguments(
        posonlyargs=[ast.arg(name) for name in signature.positional_only],
        args=[ast.arg(name) for name in signature.positional],
        vararg=None if signature.variadic is None else ast.arg(signature.variadic),
        kwonlyargs=[ast.arg(name) for name in signature.keyword_only],
        kw_defaults=[None for _ in signature.keyword_only],
        kwarg=None if signature.keywords is None else ast.arg(signature.keywords),
        defaults=[],
    )
    body: list[ast.stmt] = [] if signature.docstring is None else [ast.Expr(ast.Constant(signature.docstring))]
    body.append(ast.Expr(ast.Yield(None)) if signature.yields else ast.Pass())
    kind: Any = ast.AsyncFunctionDef if signature.is_async else ast.FunctionDef
    made = kind(signature.name, arguments, body, [], **({"type_params": []} if sys.version_info >= (3, 12) else {}))
    tree = ast.fix_missing_locations(ast.Module([made], []))
    (code,) = (constant for constant in compile(tree, signature.file, "exec", dont_inherit=True).co_consts if isinstance(constant, CodeType))
    return code
