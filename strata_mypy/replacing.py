"""Names and types of the fields in `replace(...)` and `.override(...)`, for targets below Python 3.13.

From 3.13 on mypy makes them of `__replace__` by itself.
"""

from __future__ import annotations

from mypy.expandtype import expand_type_by_instance
from mypy.maptype import map_instance_to_supertype
from mypy.nodes import ARG_NAMED_OPT
from mypy.plugin import MethodSigContext
from mypy.types import CallableType, FunctionLike, Instance, ProperType, Type, get_proper_type

from strata_mypy import names


def replace(context: MethodSigContext) -> FunctionLike:
    """`essay.replace(...)`."""
    return _taking_fields(context, context.type)


def override(context: MethodSigContext) -> FunctionLike:
    """`graph.approve("ann").override(...)`: of the state that the signal is for."""
    signal = context.type
    if not isinstance(signal, Instance) or not signal.args:
        return context.default_signature
    return _taking_fields(context, get_proper_type(signal.args[0]))


def _taking_fields(context: MethodSigContext, state: ProperType) -> FunctionLike:
    if not isinstance(state, Instance) or not state.type.has_base(names.STATE):
        return context.default_signature
    fields = _fields(state)
    if fields is None:
        return context.default_signature
    return context.default_signature.copy_modified(  # pyright: ignore[reportUnknownMemberType]
        arg_names=list(fields), arg_types=list(fields.values()), arg_kinds=[ARG_NAMED_OPT] * len(fields), ret_type=context.type, variables=[]
    )


def _fields(state: Instance) -> dict[str, Type] | None:
    """What the state is made of, as its constructor takes it; None where that is not known."""
    constructor = state.type.get_method("__init__")
    declared = get_proper_type(constructor.type) if constructor is not None else None
    if constructor is None or declared is None:
        return None
    taken = expand_type_by_instance(declared, map_instance_to_supertype(state, constructor.info))
    if not isinstance(taken, CallableType):
        return None
    return {name: type_ for name, type_ in zip(taken.arg_names[1:], taken.arg_types[1:], strict=True) if name is not None}
