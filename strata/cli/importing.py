"""A graph from `module:graph`, imported as the user's own program would."""

from __future__ import annotations

import os
import sys
import sysconfig
import traceback
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from difflib import get_close_matches
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias, TypeGuard

import strata
from strata.cli.faults import CannotDo
from strata.errors import GraphInvalid, GraphWarning
from strata.graph.builder import Drawn
from strata.graph.compiled import CompiledGraph

Graph: TypeAlias = CompiledGraph[Any] | Drawn
"""What a module may hold: what `compile()` gave, or a graph that is not compiled."""


def import_graph(reference: str) -> Graph:
    """The graph that `module:graph` names; the current folder is searched first.

    Raises:
        CannotDo: there is no such module, importing it raised, or it holds no such graph.
        GraphInvalid: the module compiles a graph as it is imported, and that graph has errors.
    """
    module_name, _, attribute = reference.rpartition(":")
    if not module_name or not attribute:
        raise CannotDo(f"'{reference}' does not name a graph", hint="write module:graph, as in orders:orders")
    if module_name.endswith(".py") or os.sep in module_name:
        module_name = _module_of(module_name)
    return _graph_of(_imported(module_name), attribute)


def import_compiled(reference: str) -> CompiledGraph[Any]:
    """The same, where only a graph that was compiled will do.

    Raises:
        CannotDo, GraphInvalid: see `import_graph`; and CannotDo where the graph is not compiled.
    """
    graph = import_graph(reference)
    if not isinstance(graph, CompiledGraph):
        raise CannotDo(f"the graph '{reference}' is not compiled", hint="name what compile() gave")
    return graph


def _module_of(path: str) -> str:
    """`shop/orders.py` as `shop.orders`."""
    try:
        parts = Path(path).resolve().with_suffix("").relative_to(Path.cwd()).parts
    except ValueError:
        parts = ()
    if not parts or not all(part.isidentifier() for part in parts):
        raise CannotDo(
            f"'{path}' cannot be imported from the folder '{Path.cwd()}'",
            hint="change to the folder that its imports start from, and write module:graph",
        )
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


def _imported(name: str) -> ModuleType:
    if (folder := os.getcwd()) not in sys.path:
        sys.path.insert(0, folder)
    invalidate_caches()
    try:
        # What the module prints is no data of ours, and its warnings are among the problems that we show.
        with warnings.catch_warnings(), redirect_stdout(sys.stderr):
            warnings.simplefilter("ignore", GraphWarning)
            return import_module(name)
    except GraphInvalid:
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and error.name is not None and f"{name}.".startswith(f"{error.name}."):
            raise CannotDo(f"there is no module '{error.name}'", hint=f"it is looked for in '{folder}' and where Python looks") from None
        raise CannotDo(_raised(name, error), hint=getattr(error, "hint", None)) from error


def _raised(name: str, error: BaseException) -> str:
    """What importing raised, and the user's own line that it came from."""
    lines = [f"importing '{name}' raised {type(error).__name__}: {error}"]
    if isinstance(error, SyntaxError) and error.filename is not None:
        return "\n".join([*lines, f"  {_from_here(error.filename)}:{error.lineno}: {(error.text or '').strip()}"])
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(_OTHERS)]
    return "\n".join([*lines, *(f"  {_from_here(frame.filename)}:{frame.lineno}: {frame.line}" for frame in own[-1:])])


def _from_here(path: str) -> str:
    return os.path.relpath(path) if Path(path).is_relative_to(Path.cwd()) else path


def _graph_of(module: ModuleType, attribute: str) -> Graph:
    names = list(_graphs_in(module))
    known = f"its graphs are: {', '.join(names)}" if names else "it holds no graph at all"
    if not hasattr(module, attribute):
        near = get_close_matches(attribute, names, 1) or get_close_matches(attribute, list(vars(module)), 1)
        meant = f"; did you mean '{near[0]}'?" if near else ""
        raise CannotDo(f"the module '{module.__name__}' has no '{attribute}'{meant}", hint=known)
    value: object = getattr(module, attribute)
    if not _is_graph(value):
        raise CannotDo(f"'{attribute}' of the module '{module.__name__}' is {_what(value)}, not a graph", hint=known)
    return value


def _graphs_in(module: ModuleType) -> Iterator[str]:
    for name, value in vars(module).items():
        if _is_graph(value):
            yield name


def _is_graph(value: object) -> TypeGuard[Graph]:
    return isinstance(value, CompiledGraph | Drawn)


def _what(value: object) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return "a function" if callable(value) else f"of type {type(value).__name__}"


_LIBRARIES = {sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")}
_OTHERS = ("<", str(Path(strata.__file__).parent), *sorted(_LIBRARIES))
"""Where code lies that is not the user's: frozen, ours, the standard library's, what is installed."""
