"""What `pyproject.toml` says under `[tool.strata]`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import msgspec

from strata.rules import codes

_KEYS = frozenset({"exclude", "disable", "trusted-imports"})
CODES = frozenset(value for name, value in vars(codes).items() if name.isupper())


class SettingsWrong(Exception):
    """`[tool.strata]` cannot be read, or says something that is not known; `hint` is what to do."""

    def __init__(self, text: str, *, hint: str | None = None) -> None:
        self.text, self.hint = text, hint
        super().__init__(text)


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """`[tool.strata]`.

    Attributes:
        exclude: patterns of files and folders that are left out, below the folder of the file.
        disable: codes that are not told.
        trusted_imports: packages that may be imported while tools are read from source.
    """

    exclude: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    trusted_imports: tuple[str, ...] = ()
    folder: Path = Path()
    """Where the file lies; not a setting."""


def settings_for(folder: Path) -> Settings:
    """Those of the next `pyproject.toml` at or above a folder; without one, none.

    Raises:
        SettingsWrong: it cannot be read, or has a key, code or type that is not known.
    """
    for place in (folder, *folder.parents):
        if (file := place / "pyproject.toml").is_file():
            return _read(file)
    return Settings(folder=folder)


def _read(file: Path) -> Settings:
    try:
        with file.open("rb") as stream:
            table = tomllib.load(stream).get("tool", {}).get("strata", {})
    except OSError as error:
        raise SettingsWrong(f"{file}: it cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsWrong(f"{file}: it is not TOML: {error}") from error
    except AttributeError as error:
        raise SettingsWrong(f"{file}: [tool.strata] is a table") from error
    return _settings(table, file)


def _settings(table: object, file: Path) -> Settings:
    if not isinstance(table, dict):
        raise SettingsWrong(f"{file}: [tool.strata] is a table")
    given = cast("Mapping[str, Any]", table)
    if unknown := sorted(given.keys() - _KEYS):
        raise SettingsWrong(f"{file}: [tool.strata] has the unknown key '{unknown[0]}'", hint="its keys are exclude, disable and trusted-imports")
    try:
        settings = msgspec.convert({**given}, Settings)
    except msgspec.ValidationError as error:
        raise SettingsWrong(f"{file}: [tool.strata]: {error}") from error
    if strangers := [code for code in settings.disable if code not in CODES]:
        raise SettingsWrong(f"{file}: [tool.strata] disables '{strangers[0]}', which is no code", hint="docs/problems.md has all of them")
    return msgspec.structs.replace(settings, folder=file.parent)
