"""What commands ask of git."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from strata.cli.faults import CannotDo


def git(*arguments: str, folder: Path | None = None, variables: Mapping[str, str] | None = None) -> str:
    """What git prints, without the last line's end.

    Raises:
        CannotDo: it is not installed, or refused.
    """
    return git_bytes(*arguments, folder=folder, variables=variables).decode(errors="surrogateescape").removesuffix("\n")


def git_bytes(*arguments: str, folder: Path | None = None, variables: Mapping[str, str] | None = None) -> bytes:
    """The same as it comes."""
    environment = {**os.environ, **(variables or {})}
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, env=environment, capture_output=True, check=False)
    except FileNotFoundError:
        raise CannotDo("git is not installed, and a revision is asked of it") from None
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        raise CannotDo(f"git {arguments[0]}: {said or f'it ended with {done.returncode}'}")
    return done.stdout


def commit_of(revision: str) -> str:
    """The commit that a revision is.

    Raises:
        CannotDo: it is none of the repository that the current folder lies in, or there is no repository.
    """
    git("rev-parse", "--show-toplevel")  # says so where there is no repository
    try:
        return git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except CannotDo:
        hint = "write REVISION:MODULE:GRAPH, as in main:orders:orders, or REVISION:FILE, as in main:orders.json"
        raise CannotDo(f"'{revision}' is no revision of this repository", hint=hint) from None
