"""What Python or the engine would refuse of a node's functions, each looked at by itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from strata.analysis.findings import Findings
from strata.analysis.in_place import changes_in_place
from strata.analysis.nodes import Body, Role
from strata.analysis.places import place_of
from strata.analysis.returns import gives_nothing, is_generator
from strata.analysis.signatures import Parameter, is_context, may_be_context, parameters_of, state_parameter, takes_any_position
from strata.analysis.values import Function
from strata.analysis.walking import own_nodes
from strata.rules import codes
from strata.rules.facts import SourcePlace

_KINDS = {"node": "node", "parallel": "parallel group", "subgraph": "subgraph", "map_each": "map", "wait_for_event": "wait", "timer": "timer"}
"""What errors call the nodes that a decorator makes."""

_OWN = {"parallel": "its merge", "map_each": "its merge", "subgraph": "its function", "wait_for_event": "its function", "timer": "its function"}
"""What errors call the function under the decorator, where it is not the whole node."""


def refuse_handlers(body: Body, name: str, place: SourcePlace | None, findings: Findings) -> None:
    """Look at all functions of a node that are known."""
    for role in body.roles:
        if isinstance(role.function, Function):
            _refuse_function(role.function, role, body, name, place, findings)


def _refuse_function(function: Function, role: Role, body: Body, name: str, place: SourcePlace | None, findings: Findings) -> None:
    what = role.role or _OWN.get(body.word)
    where = f"{_KINDS[body.word]} '{name}'{'' if what is None else f': {what}'}"
    own = own_nodes(function.definition)
    faults = _faults_of_pure(function, role, body, own) if role.is_pure else _faults_of_handler(function, body, own)
    for fault in faults:
        findings.error(codes.WRONG_FUNCTION, f"{where}{fault}", place, node=name)
        return
    if gives_nothing(function, own) and (role.takes_state or role.role == "key="):
        gives = "a state" if role.role is None or role.role.startswith("branch") else "a value"
        text = f"{where} gives back nothing, and {gives} is asked of it: return one on every way through the function"
        findings.error(codes.NOTHING_RETURNED, text, function.place, node=name)
    if role.takes_state and (state := state_parameter(function)) is not None:
        for change in changes_in_place(own, state.name):
            text = (
                f"{where} changes '{change.path}' in place, which others may hold too, a second attempt among them: "
                f"make a new value, and give it to {state.name}.replace({change.field}=...)"
            )
            findings.warning(codes.CHANGED_IN_PLACE, text, place_of(function.place.file, change.at), node=name)


def _faults_of_handler(function: Function, body: Body, own: list[ast.AST]) -> Iterator[str]:
    """What Python refuses of the function of a plain node or of a branch."""
    if is_generator(own):
        yield ": a generator is no node: return the whole new state, and send text to the reader with `await ctx.token(...)`"
    if body.inline and function.is_async:
        yield ": inline=True is for sync functions, and this one is async: it runs on the loop already; remove inline=True"
    parameters = parameters_of(function)
    contexts = [parameter for parameter in parameters if is_context(parameter, function)]
    if len(contexts) > 1:
        yield f": '{contexts[0].name}' and '{contexts[1].name}' are both annotated Context: one is enough"
    others = [parameter for parameter in parameters if parameter not in contexts]
    state = next((parameter for parameter in others if parameter.is_positional), None)
    if state is None and not takes_any_position(function):
        yield ": it takes no state: a node is a function of the state, or of the state and a parameter annotated Context"
    for parameter in others:
        if parameter is not state and not parameter.has_default and not may_be_context(parameter, function):
            yield f": nothing fills its parameter '{parameter.name}'{_advice(parameter)}"


def _advice(parameter: Parameter) -> str:
    if parameter.annotation is None:
        return f": annotate it `{parameter.name}: Context` if it is the context, or give it a default"
    return ": a node takes the state, and a parameter annotated Context; bind other values with functools.partial"


def _faults_of_pure(function: Function, role: Role, body: Body, own: list[ast.AST]) -> Iterator[str]:
    """What Python refuses of a function that is asked between two steps."""
    if function.is_async:
        yield " is async: it is asked between two steps, so it is sync and pure; await in a node, and keep what it found in the state"
    if is_generator(own):
        yield " is a generator: it gives its result at once"
    parameters = parameters_of(function)
    for parameter in parameters:
        if is_context(parameter, function):
            yield f" has no context: take '{parameter.name}' away, and look at the context in a node"
    positional = [parameter for parameter in parameters if parameter.is_positional]
    takes = role.takes
    if body.is_event_wait and len(positional) < len(takes):
        takes = takes[:1]
    needed = [parameter for parameter in positional if not parameter.has_default]
    keywords = [parameter for parameter in parameters if not parameter.is_positional and not parameter.has_default]
    has_room = len(positional) >= len(takes) or takes_any_position(function)
    if not has_room or len(needed) > len(takes) or keywords:
        yield f" is a function of {' and '.join(takes)}, and this one is ({_shown(function.definition.args)})"


def _shown(arguments: ast.arguments) -> str:
    positional = [*arguments.posonlyargs, *arguments.args]
    variadic = [arguments.vararg] if arguments.vararg is not None else []
    last = [arguments.kwarg] if arguments.kwarg is not None else []
    return ", ".join(argument.arg for argument in (*positional, *variadic, *arguments.kwonlyargs, *last))
