"""A user's function as the engine calls it: with the state, and with the context after it where it asks for one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from inspect import (
    Parameter,
    isasyncgenfunction,
    isawaitable,
    isclass,
    iscoroutinefunction,
    isfunction,
    isgeneratorfunction,
    ismethod,
)
from types import CoroutineType, FunctionType
from typing import Any

from strata.graph.arguments import true_or_false
from strata.graph.parameters import annotated_class, context_of, parameters_of
from strata.graph.spec import Handler
from strata.graph.state import State


def handler_of(fn: Callable[..., Any], /, *, where: str, inline: bool = False, names: Mapping[str, Any] | None = None) -> Handler:
    """How to call `fn`, a function, method, partial or callable object, as the body of a node.

    `where` opens the text of every error; `names` are those that annotations may use beside the function's own globals.

    Raises:
        TypeError: it is no function of a state, or of a state and a `Context`; or `inline=True` is asked of an async
            function, which runs on the loop already.
    """
    layers = tuple(layers_of(fn))
    _refuse_kind(fn, layers, where)
    true_or_false(inline, f"{where}: inline=")
    is_async = any(iscoroutinefunction(layer) for layer in layers)
    if inline and is_async:
        raise TypeError(f"{where}: inline=True is for sync functions, and this one is async: it runs on the loop already; remove inline=True")
    context = context_of(parameters_of(fn, where), layers, where=where, names=names or {})
    call = fn if context is None else _with_context_second(fn, context.parameter, context.position)
    return Handler(
        fn=fn,
        call=call if is_async == _surely_async(fn) else _awaiting(call),
        takes_context=context is not None,
        is_async=is_async,
        inline=inline,
    )


def layers_of(fn: Any) -> Iterator[Any]:
    """`fn` and what it stands for, outermost first: through partials, methods, `functools.wraps` and `__call__`."""
    while fn is not None:
        yield fn
        fn = _inner(fn)


def name_of(fn: Any) -> str | None:
    """The name of a function, that of the one inside a partial or a wrapper; None where there is none to speak of."""
    for layer in layers_of(fn):
        name = getattr(layer, "__name__", None)
        if isinstance(name, str) and name not in {"<lambda>", "__call__"}:
            return name
    return None


def yes_or_no(answer: object, who: str) -> bool:
    """What a predicate has answered.

    Raises:
        TypeError: it is no bool: a coroutine, or a numpy value, would count as yes.
    """
    if isinstance(answer, bool):
        return answer
    what = neither_yes_nor_no(answer)
    if isinstance(answer, CoroutineType):
        answer.close()  # nobody will await it, and Python would warn of that too
    raise TypeError(f"{who} {what}")


def neither_yes_nor_no(answer: object) -> str:
    """What is wrong with an answer that is no bool."""
    return f"answered with {type(answer).__name__} {answer!r:.80}, not with True or False"


def is_async_function(fn: Any) -> bool:
    """Whether calling `fn` gives something to await."""
    return any(iscoroutinefunction(layer) for layer in layers_of(fn))


def other_state_of(fn: Any, state: type[State], names: Mapping[str, Any]) -> type[State] | None:
    """The state that `fn` is annotated with, if it is one that cannot be `state`."""
    try:
        found = annotated_class(fn, tuple(layers_of(fn)), names)
    except ValueError:  # no signature to read, as of some functions written in C
        return None
    return found if found is not None and issubclass(found, State) and not issubclass(state, found) else None


def _inner(fn: Any) -> Any:
    if isinstance(fn, partial):
        return fn.func  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if ismethod(fn):
        return fn.__func__
    wrapped = getattr(fn, "__wrapped__", None)
    if wrapped is not None or isfunction(fn) or isclass(fn):
        return wrapped
    return _call_method(fn)


def _surely_async(fn: Any) -> bool:
    """Async by itself, not only because a function that it wraps is."""
    return iscoroutinefunction(fn) or iscoroutinefunction(_call_method(fn))


def _call_method(fn: object) -> FunctionType | None:
    """The `__call__` that the class of a callable object defines, if it is written in Python."""
    call = next((vars(base)["__call__"] for base in type(fn).__mro__ if "__call__" in vars(base)), None)
    return call if isfunction(call) else None


def _refuse_kind(fn: Any, layers: tuple[Any, ...], where: str) -> None:
    if isclass(fn):
        raise TypeError(f"{where}: a class is no node: decorate a function of the state")
    if not callable(fn):
        raise TypeError(f"{where}: {fn!r} is no function")
    if any(isgeneratorfunction(layer) or isasyncgenfunction(layer) for layer in layers):
        raise TypeError(f"{where}: a generator is no node: return the whole new state, and send text to the reader with `await ctx.token(...)`")


def _with_context_second(fn: Callable[..., Any], context: Parameter, position: int) -> Callable[..., Any]:
    if context.kind is Parameter.KEYWORD_ONLY or position > 1:
        return _by_keyword(fn, context.name)
    return _context_first(fn) if position == 0 else fn


def _by_keyword(fn: Callable[..., Any], name: str) -> Callable[..., Any]:
    def call(state: Any, ctx: Any) -> Any:
        return fn(state, **{name: ctx})

    return call


def _context_first(fn: Callable[..., Any]) -> Callable[..., Any]:
    def call(state: Any, ctx: Any) -> Any:
        return fn(ctx, state)

    return call


def _awaiting(call: Callable[..., Any]) -> Callable[..., Any]:
    """For a sync wrapper around an async function, which may give on the coroutine or have waited for it."""

    async def awaited(*args: Any) -> Any:
        result = call(*args)
        return await result if isawaitable(result) else result

    return awaited
