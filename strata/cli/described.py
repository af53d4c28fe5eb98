"""A `TARGET` as it can be compared with another: its definition, and the schemas of its states where they are known."""

from __future__ import annotations

from pathlib import Path

from strata.cli.faults import CannotDo
from strata.cli.targets import graph_named, states_file
from strata.errors import DefinitionUnreadable
from strata.graph.changes.pair import Described
from strata.graph.definition import Definition
from strata.graph.state_schemas import StateSchemas


def described(target: str) -> Described:
    """What `target` names, with the file of schemas beside it if it is a definition's.

    Raises:
        CannotDo, GraphInvalid: see `graph_named`; or there is such a file beside it, and it is something else.
    """
    graph = graph_named(target)
    if isinstance(graph, Definition):
        return Described(graph, _beside(Path(target)))
    return Described(graph.definition(), graph.state_schemas())


def _beside(definition: Path) -> StateSchemas | None:
    path = states_file(definition)
    try:
        return StateSchemas.from_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CannotDo(f"{path}: it cannot be read: {error.strerror}") from error
    except DefinitionUnreadable as error:
        raise CannotDo(f"{path}: {error}", hint="write it anew, with: strata graph export MODULE:GRAPH -o FILE") from error
