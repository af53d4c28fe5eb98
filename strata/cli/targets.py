"""What a command's `TARGET` names: a definition's file, a folder of them, or `module:graph`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeAlias

from strata.cli.faults import CannotDo
from strata.cli.importing import Graph, import_graph
from strata.errors import DefinitionUnreadable
from strata.graph.definition import Definition
from strata.rules.facts import GraphFacts
from strata.rules.problem import Problem

Drawable: TypeAlias = Graph | Definition

_STATES: Final = ".states.json"


def graph_named(target: str) -> Drawable:
    """The one graph that `target` names.

    Raises:
        CannotDo: it names none, or one that cannot be read or imported; the text begins with the target where it is a file.
        GraphInvalid: see `import_graph`.
    """
    path = Path(target)
    if path.is_dir():
        raise CannotDo(f"'{target}' is a folder, and this command takes one graph", hint="name one of its files")
    if path.exists():
        return _read(path)
    if ":" in target:
        return import_graph(target)
    raise CannotDo(f"'{target}' is no file", hint="a graph is the file of a definition, or module:graph")


def targets_in(targets: Sequence[str]) -> list[str]:
    """The targets with each folder replaced by the definitions in it, at any depth; schemas of states beside them are none.

    Raises:
        CannotDo: a folder has none.
    """
    found: list[str] = []
    for target in targets:
        if Path(target).is_dir():
            files = sorted(str(path) for path in Path(target).rglob("*.json") if path.is_file() and not _is_beside_a_definition(path))
            if not files:
                raise CannotDo(f"the folder '{target}' holds no .json file", hint="definitions are written by: strata graph export")
            found += files
        else:
            found.append(target)
    return found


def definition_of(graph: Drawable) -> Definition:
    return graph if isinstance(graph, Definition) else graph.definition()


def facts_of(graph: Drawable) -> GraphFacts:
    """With the names of guards, where the graph's code is here."""
    return graph.facts() if isinstance(graph, Definition) else graph.facts


def problems_of(graph: Drawable) -> tuple[Problem, ...]:
    """Of a compiled graph, its warnings: it has no errors."""
    from strata.graph.compiled import CompiledGraph

    if isinstance(graph, Definition):
        return graph.problems()
    return graph.warnings if isinstance(graph, CompiledGraph) else graph.validate()


def states_file(definition: Path) -> Path:
    """Where the schemas of a definition's states lie: `orders.states.json` beside `orders.json`."""
    return definition.with_suffix(_STATES)


def _is_beside_a_definition(path: Path) -> bool:
    return path.name.endswith(_STATES) and path.with_name(f"{path.name.removesuffix(_STATES)}.json").exists()


def _read(path: Path) -> Definition:
    try:
        return Definition.from_json(path.read_bytes())
    except OSError as error:
        raise CannotDo(f"{path}: it cannot be read: {error.strerror}") from error
    except DefinitionUnreadable as error:
        raise CannotDo(f"{path}: {error}", hint=error.hint) from error
