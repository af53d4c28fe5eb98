"""Whether a function can be the body of a node: what it takes beside the state, and what it gives back."""

from __future__ import annotations

from collections.abc import Iterator

from mypy.checker import TypeChecker
from mypy.messages import format_type
from mypy.plugin import CheckerPluginInterface
from mypy.subtypes import is_subtype
from mypy.types import AnyType, CallableType, Instance, NoneType, ProperType, Type, UninhabitedType, UnionType, get_proper_type

from strata.rules import codes
from strata_mypy import names
from strata_mypy.facts import Fault

AWAITABLE = ("typing.Coroutine", "typing.Awaitable", "types.CoroutineType")


def handler_faults(name: str, node: Instance, api: CheckerPluginInterface, *, inline: bool) -> tuple[Fault, ...]:
    """What is wrong with the function of a plain node; the state is what its first parameter says."""
    state, function = node.args[0], get_proper_type(node.args[1])
    if not isinstance(function, CallableType):
        return ()
    return (*_unfilled_parameters(name, function), *_wrong_result(name, state, function, api), *_async_inline(name, function, inline=inline))


def _unfilled_parameters(name: str, function: CallableType) -> Iterator[Fault]:
    """Parameters behind the state that have no default and are no context."""
    parameters = zip(function.arg_names, function.arg_kinds, function.arg_types, strict=True)
    for parameter, kind, type_ in list(parameters)[1:]:
        if kind.is_required() and not _takes_context(get_proper_type(type_)):
            text = (
                f"node '{name}': nothing fills its parameter '{parameter}': a node takes the state, and a parameter annotated Context; "
                f"bind other values with functools.partial"
            )
            yield Fault(codes.WRONG_FUNCTION, text)


def _takes_context(type_: ProperType) -> bool:
    if isinstance(type_, UnionType):
        return any(_takes_context(get_proper_type(item)) for item in type_.items)
    return isinstance(type_, AnyType) or (isinstance(type_, Instance) and type_.type.has_base(names.CONTEXT))


def _wrong_result(name: str, state: Type, function: CallableType, api: CheckerPluginInterface) -> Iterator[Fault]:
    result = _awaited(function.ret_type) or get_proper_type(function.ret_type)
    if isinstance(result, AnyType | UninhabitedType) or is_subtype(result, state):
        return
    if isinstance(result, NoneType):
        text = f"node '{name}' gives back nothing, and a state is asked of it: return one on every way through the function"
        yield Fault(codes.NOTHING_RETURNED, text)
    else:
        text = f"node '{name}' takes {_shown(state, api)} and gives back {_shown(result, api)}: a node gives back the whole new state"
        yield Fault(codes.WRONG_FUNCTION, text)


def _async_inline(name: str, function: CallableType, *, inline: bool) -> Iterator[Fault]:
    if inline and _awaited(function.ret_type) is not None:
        text = f"node '{name}': inline=True is for sync functions, and this one is async: it runs on the loop already; remove inline=True"
        yield Fault(codes.WRONG_FUNCTION, text)


def _awaited(type_: Type) -> ProperType | None:
    """What awaiting a value of the type gives; None where it is nothing to await."""
    result = get_proper_type(type_)
    return get_proper_type(result.args[-1]) if isinstance(result, Instance) and result.type.fullname in AWAITABLE else None


def _shown(type_: Type, api: CheckerPluginInterface) -> str:
    return format_type(type_, api.options).strip('"') if isinstance(api, TypeChecker) else str(type_)
