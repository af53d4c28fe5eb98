"""The methods of `StateGraph`, and what each does to the graph."""

from __future__ import annotations

from collections.abc import Callable

from strata.analysis.arguments import Arguments
from strata.analysis.bodies import event_wait_body, group_body, handler_body, map_body, subgraph_body, timer_body
from strata.analysis.drafts import Draft, lose_what_is_unknown_of
from strata.analysis.findings import Findings
from strata.analysis.graphs import Builder, Wiring
from strata.analysis.handlers import refuse_handlers
from strata.analysis.marking import target_of
from strata.analysis.nodes import Body, Mark, MarkWord, Node, Top, Wired
from strata.analysis.other_states import refuse_other_states
from strata.analysis.tops import with_function
from strata.analysis.values import UNKNOWN, Backoff, Function, Listed, Value, is_given, known_seconds, pairs, seconds, text
from strata.rules import codes

# Decorated


def start(builder: Builder, arguments: Arguments, findings: Findings) -> Value:
    """`StateGraph(S).start(node)`."""
    draft = builder.draft
    if len(arguments.positional) > 1 and arguments.star is None:
        text = "start() takes one node, where every run starts: list the others with .nodes(...)"
        findings.error(codes.WRONG_START, text, arguments.place)
        return UNKNOWN
    if draft.is_lost or draft.entry or draft.edges:
        return UNKNOWN  # given data before, which Python refuses, or in other hands
    return _listing(Wiring(draft.state, ()), "start", arguments, findings)


def nodes(wiring: Wiring, arguments: Arguments, findings: Findings) -> Value:
    """`.nodes(...)` of a graph that has a start."""
    return _listing(wiring, "nodes", arguments, findings)


def nodes_before_start(builder: Builder, arguments: Arguments, findings: Findings) -> Value:
    """`StateGraph(S).nodes(...)`, which Python refuses."""
    if not builder.draft.is_lost and not builder.draft.entry:
        text = "nodes() was called before start(): say where runs start first, StateGraph(...).start(first).nodes(...)"
        findings.error(codes.WRONG_START, text, arguments.place)
    return UNKNOWN


def second_start(wiring: Wiring, arguments: Arguments, findings: Findings) -> Value:
    """`.start(...)` of a graph that has one, which Python refuses."""
    first = wiring.listed[0]
    if isinstance(first, Node):
        text = f"the graph starts at '{first.name}', and there is one start: list the other nodes with .nodes(...)"
        findings.error(codes.WRONG_START, text, arguments.place)
    return UNKNOWN


def _listing(wiring: Wiring, method: str, arguments: Arguments, findings: Findings) -> Wiring:
    listed = tuple(_listed(value, wiring, method, arguments, findings) for value in arguments.positional)
    return Wiring(wiring.state, (*wiring.listed, *listed))


def _listed(value: Value, wiring: Wiring, method: str, arguments: Arguments, findings: Findings) -> Value:
    """The node, if it is a known one that the graph takes."""
    if isinstance(value, Node):
        return UNKNOWN if refuse_other_states(value, wiring.state, method, findings) else value
    if isinstance(value, Wired) and isinstance(value.function, Function) and not value.is_open:
        text = f"{method}() takes nodes, and '{value.function.name}' has marks and no @node above them: put @node on top of its decorators"
        findings.error(codes.NOT_A_NODE, text, arguments.place)
    elif isinstance(value, Function):
        name = "a lambda" if value.name is None else f"the function '{value.name}'"
        findings.error(codes.NOT_A_NODE, f"{method}() takes nodes, and {name} is none: put @node on it", arguments.place)
    elif isinstance(value, Top):
        text = f"{method}() takes nodes, and <@{value.body.word}(...) with no function under it> is none: decorate a function with it"
        findings.error(codes.NOT_A_NODE, text, arguments.place)
    return UNKNOWN


# From data


def add_node(draft: Draft, arguments: Arguments, findings: Findings) -> None:
    function = arguments.at(1) or UNKNOWN
    if isinstance(function, Node):
        function = function.function  # its marks stay behind
    _add(draft, with_function(handler_body(arguments), function), arguments, findings, has_timeout=True)


def add_parallel_group(draft: Draft, arguments: Arguments, findings: Findings) -> None:
    parts = arguments.at(1)
    body = group_body(parts.items if isinstance(parts, Listed) else None, arguments, arguments.place)
    node = _add(draft, with_function(body, arguments.at(2) or UNKNOWN), arguments, findings, has_timeout=True)
    if node is not None:
        known = {branch.name: branch.metadata for branch in body.branches if branch.metadata is not None}
        draft.branch_metadata.setdefault(node.name, {}).update(known)


def add_subgraph(draft: Draft, arguments: Arguments, findings: Findings) -> None:
    body = subgraph_body(arguments.at(1), arguments)
    _add(draft, with_function(body, arguments.get("leave") or UNKNOWN), arguments, findings, has_timeout=True)


def add_map(draft: Draft, arguments: Arguments, findings: Findings) -> None:
    body = map_body(arguments.at(1), arguments)
    _add(draft, with_function(body, arguments.get("merge") or UNKNOWN), arguments, findings, has_timeout=True)


def add_wait_for_event(draft: Draft, arguments: Arguments, findings: Findings) -> None:
    body = event_wait_body(arguments.at(1), arguments)
    node = _add(draft, with_function(body, arguments.get("fold") or UNKNOWN), arguments, findings)
    if node is not None:
        _set_timeout_route(draft, node.name, "add_wait_for_event", arguments, findings)


def add_timer(draft: Draft, arguments: Arguments, findings: Findings) -> None:
    body = timer_body(arguments.at(1), arguments)
    _add(draft, with_function(body, arguments.get("fold") or UNKNOWN), arguments, findings)


def add_edge(draft: Draft, arguments: Arguments, findings: Findings) -> None:
    _add_edge(draft, "add_edge", None, arguments, findings)


def add_conditional_edge(draft: Draft, arguments: Arguments, findings: Findings) -> None:
    _add_edge(draft, "add_conditional_edge", arguments.at(2) or UNKNOWN, arguments, findings)


def set_entry_point(draft: Draft, arguments: Arguments, findings: Findings) -> None:
    if (name := text(arguments.at(0))) is None:
        draft.is_lost = True
    else:
        draft.entry = name


def add_interrupt_boundary(draft: Draft, arguments: Arguments, findings: Findings) -> None:
    if (name := _name(draft, arguments)) is None:
        return
    boundary = Mark(word="boundary", place=arguments.place, timeout=seconds(arguments.get("timeout")))
    draft.boundaries[name] = boundary, _way(draft, "on_reject", "on_reject", "add_interrupt_boundary", arguments, findings)
    _set_timeout_route(draft, name, "add_interrupt_boundary", arguments, findings)


def set_recovery_policy(draft: Draft, arguments: Arguments, findings: Findings) -> None:
    if (name := _name(draft, arguments)) is None:
        return
    backoff = arguments.get("backoff")
    retry = Mark(word="retry", place=arguments.place, backoff=backoff if isinstance(backoff, Backoff) else None)
    draft.recoveries[name] = retry, _way(draft, "fallback", "on_failure", f"set_recovery_policy('{name}')", arguments, findings)


def set_timeout(draft: Draft, arguments: Arguments, findings: Findings) -> None:
    if (name := _name(draft, arguments)) is None:
        return
    known = known_seconds(arguments.at(1))
    draft.timeouts[name] = 1.0 if known is None else known


def set_node_metadata(draft: Draft, arguments: Arguments, findings: Findings) -> None:
    name, metadata = _name(draft, arguments), pairs(arguments.at(1))
    if name is not None:
        draft.metadata[name] = metadata or {}


def set_branch_metadata(draft: Draft, arguments: Arguments, findings: Findings) -> None:
    name, branch = _name(draft, arguments), text(arguments.at(1))
    if branch is None:
        draft.is_lost = True
    elif name is not None:
        draft.branch_metadata.setdefault(name, {})[branch] = pairs(arguments.at(2)) or {}


def _name(draft: Draft, arguments: Arguments) -> str | None:
    """The name that is set something on; whatever may be set on other names is lost."""
    if (name := text(arguments.at(0))) is None:
        draft.is_lost = True
    return name


def _add(draft: Draft, body: Body, arguments: Arguments, findings: Findings, *, has_timeout: bool = False) -> Node | None:
    if (name := _name(draft, arguments)) is None:
        return None
    refuse_handlers(body, name, arguments.place, findings)
    node = Node(name=name, body=body, place=arguments.place)
    refuse_other_states(node, draft.state, "add_node", findings)
    earlier = draft.nodes.get(name)
    if body.kind == "wait" or (earlier is not None and earlier.body.kind == "wait"):
        draft.timeout_routes.pop(name, None)  # a wait takes its timeout's route along, and replaces a boundary's (strata-graph.md 1.3)
    draft.nodes[name] = node
    draft.entry = draft.entry or name
    lose_what_is_unknown_of(node, draft)
    if has_timeout and (limit := known_seconds(arguments.get("timeout"))) is not None:
        draft.timeouts[name] = limit
    if (metadata := pairs(arguments.get("metadata"))) is not None:
        draft.metadata[name] = metadata
    return node


def _add_edge(draft: Draft, method: str, guard: Value | None, arguments: Arguments, findings: Findings) -> None:
    source = target_of(arguments.at(0), "an edge", arguments, findings)
    target = target_of(arguments.at(1), method, arguments, findings)
    if source is None or target is None:
        draft.lost.add("edges")
    else:
        draft.edges.append((source, Mark(word="edge" if guard is None else "when", place=arguments.place, target=target, guard=guard)))


def _set_timeout_route(draft: Draft, name: str, method: str, arguments: Arguments, findings: Findings) -> None:
    draft.timeout_routes.pop(name, None)
    if (way := _way(draft, "on_timeout", "on_timeout", method, arguments, findings)) is not None:
        draft.timeout_routes[name] = way


def _way(draft: Draft, argument: str, word: MarkWord, method: str, arguments: Arguments, findings: Findings) -> Mark | None:
    value = arguments.get(argument)
    if not is_given(value):
        return None
    target = target_of(value, method, arguments, findings)
    if target is None:
        draft.lost.add("edges")
        return None
    return Mark(word=word, place=arguments.place, target=target)


FROM_DATA: dict[str, Callable[[Draft, Arguments, Findings], None]] = {
    "add_node": add_node,
    "add_fallible_node": add_node,
    "add_streaming_node": add_node,
    "add_async_node": add_node,
    "add_parallel_group": add_parallel_group,
    "add_subgraph": add_subgraph,
    "add_map": add_map,
    "add_wait_for_event": add_wait_for_event,
    "add_timer": add_timer,
    "add_edge": add_edge,
    "add_conditional_edge": add_conditional_edge,
    "set_entry_point": set_entry_point,
    "add_interrupt_boundary": add_interrupt_boundary,
    "set_recovery_policy": set_recovery_policy,
    "set_timeout": set_timeout,
    "set_node_metadata": set_node_metadata,
    "set_branch_metadata": set_branch_metadata,
}
"""Each changes the builder and gives it back."""
