"""What the process of a git revision does: it exports a graph from the files around it, and from no others."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from strata.cli import terminal
from strata.cli.faults import CannotDo
from strata.cli.graph_export import graph_export
from strata.errors import StrataError


def main(target: str, output: str) -> int:
    """Export `module:graph` of the current folder to the file `output`; what goes wrong is said on stderr."""
    try:
        code = graph_export(target, output=Path(output))
        _require_from_here(target)
        return code
    except CannotDo as error:
        terminal.complain(error.text, hint=error.hint)
    except StrataError as error:
        terminal.complain(str(error), hint=error.hint)
    return 2


def _require_from_here(target: str) -> None:
    """The module must be the revision's: an installed project is found elsewhere, and is the same in every revision.

    Raises:
        CannotDo: it came from somewhere else.
    """
    module = sys.modules[_module_of(target)]
    file = inspect.getsourcefile(module)
    if file is None or not Path(file).resolve().is_relative_to(Path.cwd().resolve()):
        raise CannotDo(
            f"the module '{module.__name__}' was imported from '{file}', not from the revision",
            hint="call it in the folder that its imports start from, src for example",
        )


def _module_of(target: str) -> str:
    name = target.rpartition(":")[0]
    return name if name in sys.modules else Path(name).with_suffix("").as_posix().removesuffix("/__init__").replace("/", ".")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
