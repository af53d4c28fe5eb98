"""The fields of a state class: whether each can be stored, and whether a reducer in its annotation fits.

Only what a field's own annotation says is looked at: a class of another module may change without this one being checked
again. `compile()` looks at any depth.
"""

from __future__ import annotations

from collections.abc import Iterator

from mypy.nodes import AssignmentStmt, Decorator, FuncDef, NameExpr
from mypy.plugin import ClassDefContext
from mypy.server.trigger import make_trigger
from mypy.subtypes import is_subtype
from mypy.types import CallableType, PlaceholderType, Type, UnboundType, get_proper_type

from strata.rules import codes
from strata_mypy import names
from strata_mypy.codes import REDUCER, error_code, mypy_name
from strata_mypy.storing import unstorable_part


def check_fields(context: ClassDefContext) -> None:
    """Called while names are still being resolved, perhaps twice: what is not known yet is looked at the next time."""
    _recheck_callers(context)
    for field, statement in _fields(context):
        type_ = get_proper_type(statement.type)
        if type_ is None or isinstance(type_, UnboundType | PlaceholderType):
            continue
        if (fault := unstorable_part(type_)) is not None:
            path, reason = fault
            text = f"state field {context.cls.name}.{field}{path} cannot be stored: {reason}"
            context.api.fail(text, statement, code=error_code(mypy_name(codes.UNSTORABLE_FIELD)))
        for reducer in _reducers(statement):
            _check_reducer(reducer, type_, f"{context.cls.name}.{field}", statement, context)


def _recheck_callers(context: ClassDefContext) -> None:
    """The daemon must look at calls of `replace` and `override` again when the fields change, which make their signatures."""
    fields = make_trigger(f"{context.cls.fullname}.__init__")
    context.api.add_plugin_dependency(fields, make_trigger(f"{context.cls.fullname}.replace"))
    context.api.add_plugin_dependency(fields, make_trigger(f"{names.SIGNAL}.override"))


def _fields(context: ClassDefContext) -> Iterator[tuple[str, AssignmentStmt]]:
    for statement in context.cls.defs.body:
        if isinstance(statement, AssignmentStmt) and isinstance(statement.lvalues[0], NameExpr) and not _is_of_class(statement):
            yield statement.lvalues[0].name, statement


def _is_of_class(statement: AssignmentStmt) -> bool:
    written = statement.unanalyzed_type
    return isinstance(written, UnboundType) and written.name.rpartition(".")[2] == "ClassVar"


def _reducers(statement: AssignmentStmt) -> Iterator[str]:
    """The names behind the type in `Annotated[list[str], extend]`; mypy's parser leaves out what is no name."""
    written = statement.unanalyzed_type
    if isinstance(written, UnboundType) and written.name.rpartition(".")[2] == "Annotated":
        for mark in written.args[1:]:
            if isinstance(mark, UnboundType):
                yield mark.name


def _check_reducer(name: str, type_: Type, field: str, statement: AssignmentStmt, context: ClassDefContext) -> None:
    symbol = context.api.lookup_qualified(name, statement, suppress_errors=True)
    node = symbol.node if symbol is not None else None
    function = node.func if isinstance(node, Decorator) else node
    if not isinstance(function, FuncDef) or not isinstance(function.type, CallableType):
        return
    takes, gives = [_known(part, context) for part in function.type.arg_types], _known(function.type.ret_type, context)
    parts = [part for part in (*takes, gives) if part is not None]
    if len(parts) <= len(takes):
        return  # a name that is not resolved yet: called again
    if len(takes) != 2 or not all(is_subtype(type_, part) for part in parts[:-1]) or not is_subtype(parts[-1], type_):
        text = f"the reducer '{name}' of state field {field} does not merge two values of the field: it must be ({type_}, {type_}) -> {type_}"
        context.api.fail(text, statement, code=error_code(REDUCER))


def _known(part: Type, context: ClassDefContext) -> Type | None:
    """Signatures of functions further down may not be resolved yet."""
    return context.api.anal_type(part) if isinstance(get_proper_type(part), UnboundType) else part
