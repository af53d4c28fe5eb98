"""Names and types of the fields in `replace(...)` and `.override(...)`, for targets below Python 3.13.

From 3.13 on mypy makes them of `__replace__` by itself.
"""

from __future__ import annotations

from mypy.expandtype import expand_type_by_instance
from mypy.maptype import map_instance_to_supertype
from mypy.nodes import ARG_NAMED_OPT
from mypy.plugin import MethodSigContext
from mypy.types import CallableType, FunctionLike, Instance, ProperType, get_proper_type

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
    made = _constructor(state)
    if made is None:
        return context.default_signature
    fields = range(1, len(made.arg_names))  # behind self
    return context.default_signature.copy_modified(  # pyright: ignore[reportUnknownMemberType]
        arg_names=[made.arg_names[at] for at in fields],
        arg_types=[made.arg_types[at] for at in fields],
        arg_kinds=[ARG_NAMED_OPT for _ in fields],
        ret_type=context.type,
        variables=[],
    )


def _constructor(state: Instance) -> CallableType | None:
    """What takes all fields of the state by name; None where that is not known."""
    constructor = state.type.get_method("__init__")
    declared = get_proper_type(constructor.type) if constructor is not None else None
    if constructor is None or declared is None:
        return None
    if state.args or constructor.info.type_vars:
        declared = expand_type_by_instance(declared, map_instance_to_supertype(state, constructor.info))
    return declared if isinstance(declared, CallableType) else None
