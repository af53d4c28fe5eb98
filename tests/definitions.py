"""Definitions as tests write them: a few words a graph, the shared documents of the sheet, the recorded files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from strata.graph.definition import (
    BranchDefinition,
    Definition,
    EdgeDefinition,
    InterruptDefinition,
    JoinDefinition,
    NodeDefinition,
    WaitDefinition,
)
from strata.rules.problem import Problem

ROOT = Path(__file__).parents[1]
RECORDED = ROOT / "schema" / "wire"
DOCUMENTS = ROOT / "tests" / "graph" / "documents"


def level(*nodes: str | NodeDefinition, edges: tuple[str, ...] = (), entry: str | None = None) -> Definition:
    """A graph of these nodes, plain where a name stands for one. An edge is `A -> B`, guarded `A ~> B`, a route `A on_reject B`."""
    made = tuple(NodeDefinition(name=node) if isinstance(node, str) else node for node in nodes)
    first = made[0].name if made else ""
    return Definition.of(entry_point=first if entry is None else entry, nodes=made, edges=tuple(edge(text) for text in edges))


def edge(text: str) -> EdgeDefinition:
    source, way, target = text.split()
    condition = way if way.startswith("on_") else None
    return EdgeDefinition(source=source, target=target, guarded=way != "->", condition=condition)


def group(name: str, *branches: str, join: JoinDefinition | None = None) -> NodeDefinition:
    return NodeDefinition(name=name, kind="parallel_group", branches=tuple(BranchDefinition(name=branch) for branch in branches), join=join)


def subgraph(name: str, graph: Definition) -> NodeDefinition:
    return NodeDefinition(name=name, kind="subgraph", graph=graph)


def map_each(name: str, graph: Definition, join: JoinDefinition | None = None) -> NodeDefinition:
    return NodeDefinition(name=name, kind="map", graph=graph, join=join)


def timer(name: str, delay_ms: int | None = 1000) -> NodeDefinition:
    return NodeDefinition(name=name, kind="wait", wait=WaitDefinition(kind="timer", delay_ms=delay_ms))


def boundary(name: str, timeout_ms: int | None = None) -> NodeDefinition:
    return NodeDefinition(name=name, interrupt=InterruptDefinition(timeout_ms=timeout_ms))


def quorum(count: int | None) -> JoinDefinition:
    return JoinDefinition(policy="quorum", count=count, partial="fail_group")


def document(number: str) -> str:
    """A shared document of strata-graph.md 4.6, D1 to D7."""
    (path,) = DOCUMENTS.glob(f"{number}-*.json")
    return path.read_text(encoding="utf-8").strip()


def changed(number: str, changes: Mapping[str, Any]) -> str:
    """A shared document with values set at paths such as `nodes.2.graph.schema_version`."""
    content = json.loads(document(number))
    for path, value in changes.items():
        *steps, last = (int(step) if step.isdigit() else step for step in path.split("."))
        place = content
        for step in steps:
            place = place[step]
        place[last] = value
    return json.dumps(content)


def lines(path: str) -> list[Any]:
    """The objects of a recorded file of JSON lines."""
    return [json.loads(line) for line in (RECORDED / path).read_text(encoding="utf-8").splitlines()]


def errors(problems: tuple[Problem, ...] | list[Problem]) -> list[tuple[str, str | None, str | None]]:
    """Code without its prefix, node and related node of each error."""
    return [(problem.code.removeprefix("STRATA_ERR_"), problem.node, problem.related) for problem in problems if problem.severity == "error"]
