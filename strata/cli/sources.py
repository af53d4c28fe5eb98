"""The sources that a command reads, and what the project says of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from strata.cli.faults import CannotDo
from strata.project.settings import Settings, SettingsWrong, settings_for


def require_sources(paths: Iterable[Path]) -> None:
    """Raises CannotDo: one of them does not exist."""
    if missing := next((path for path in paths if not path.exists()), None):
        raise CannotDo(f"there is no '{missing}'", hint="name Python files, and folders of them")


def project_settings() -> Settings:
    """Those of the `pyproject.toml` here or above; CannotDo if it cannot be read."""
    try:
        return settings_for(Path.cwd())
    except SettingsWrong as error:
        raise CannotDo(error.text, hint=error.hint) from error


def count(number: int, what: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {what}{'' if number == 1 else 's'}"
