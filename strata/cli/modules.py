"""A module that the command line was given, imported as the user's own program would."""

from __future__ import annotations

import os
import sys
import sysconfig
import traceback
import warnings
from contextlib import redirect_stdout
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType

import strata
from strata.cli.faults import CannotDo
from strata.errors import GraphInvalid, GraphWarning


def module_named(name: str) -> ModuleType:
    """The module `shop.orders`, which `shop/orders.py` means too; the current folder is searched first.

    Raises:
        CannotDo: there is no such module, or importing it raised.
        GraphInvalid: the module compiles a graph as it is imported, and that graph has errors.
    """
    return _imported(_module_of(name) if name.endswith(".py") or os.sep in name else name)


def what_it_is(value: object) -> str:
    """What a name of a module holds, in words, where something else was looked for."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return "a function" if callable(value) else f"of type {type(value).__name__}"


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


_LIBRARIES = {sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")}
_OTHERS = ("<", str(Path(strata.__file__).parent), *sorted(_LIBRARIES))
"""Where code lies that is not the user's: frozen, ours, the standard library's, what is installed."""
