"""What a project says under `[tool.hatch.build.hooks.strata-tools]`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import msgspec

_Path: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]

TABLE: Final = "[tool.hatch.build.hooks.strata-tools]"
_OF_HATCH: Final = frozenset({"dependencies", "enable-by-default", "require-runtime-dependencies", "require-runtime-features"})
"""Keys that hatch knows of every hook, and reads itself."""


class BuildRefused(Exception):
    """The files cannot be made, so nothing is built; the text has all that is wrong, and what to do."""


class HookOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How the hook was set up.

    Attributes:
        source: folders that imports start from, packages, or files.
        out: the folder for what is made.
        check: write nothing, and build nothing unless what lies there is what would be written.
    """

    source: tuple[Path, ...]
    out: Path
    check: bool = False


def options_of(table: Mapping[str, Any], root: Path) -> HookOptions:
    """The options, with paths from the root of the project.

    Raises:
        BuildRefused: a key is missing or unknown, or its value is of no use.
    """
    if unknown := sorted(table.keys() - set(HookOptions.__struct_fields__) - _OF_HATCH):
        raise BuildRefused(f"{TABLE} has the unknown key '{unknown[0]}': its keys are source, out and check")
    return HookOptions(source=tuple(_sources(table, root)), out=_out(table, root), check=_check(table))


def _sources(table: Mapping[str, Any], root: Path) -> Sequence[Path]:
    value = _required(table, "source", 'where the tools lie, as in source = "src"')
    texts: object = [value] if isinstance(value, str) else value
    try:
        paths = msgspec.convert(texts, list[_Path], strict=True)
    except msgspec.ValidationError:
        paths = []
    if not paths:
        raise BuildRefused(f"{TABLE}: 'source' is a path or a list of paths, not {value!r}")
    if missing := next((path for path in paths if not (root / path).exists()), None):
        raise BuildRefused(f"{TABLE}: 'source' names '{missing}', which is not there: name Python files or folders, from the project's root")
    return [root / path for path in paths]


def _out(table: Mapping[str, Any], root: Path) -> Path:
    value = _required(table, "out", 'the folder for what is made, as in out = "src/desk/made"')
    if not isinstance(value, str) or not value:
        raise BuildRefused(f"{TABLE}: 'out' is the path of a folder, not {value!r}")
    folder, project = (root / value).resolve(), root.resolve()
    if not folder.is_relative_to(project):
        raise BuildRefused(f"{TABLE}: 'out' is '{value}', which lies outside of the project: only what lies in it can be built into a wheel")
    return root / folder.relative_to(project)


def _check(table: Mapping[str, Any]) -> bool:
    value = table.get("check", False)
    if not isinstance(value, bool):
        raise BuildRefused(f"{TABLE}: 'check' is true or false, not {value!r}")
    return value


def _required(table: Mapping[str, Any], key: str, what: str) -> object:
    if key not in table:
        raise BuildRefused(f"{TABLE} lacks the key '{key}': {what}")
    return table[key]
