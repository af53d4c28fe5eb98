"""A graph of a git revision: its files are checked out into a folder of their own, and imported by a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from strata.cli.described import described
from strata.cli.faults import CannotDo
from strata.graph.changes.pair import Described


class InRevision(msgspec.Struct, frozen=True):
    """`REVISION:MODULE:GRAPH`, as in `main:shop.orders:orders`; no name of a revision has a colon."""

    revision: str
    graph: str

    @classmethod
    def parsed(cls, target: str) -> InRevision | None:
        """None if `target` is a file, or has no two colons."""
        revision, _, graph = target.partition(":")
        return cls(revision, graph) if ":" in graph and not Path(target).exists() else None


def described_in(target: InRevision) -> Described:
    """The graph as the revision has it. Neither the user's files nor their index nor the repository is changed.

    Raises:
        CannotDo: there is no repository here, no such revision, or the graph cannot be imported there.
    """
    top, prefix = Path(_git("rev-parse", "--show-toplevel")), _git("rev-parse", "--show-prefix")
    commit = _commit(target.revision)
    with TemporaryDirectory(prefix="strata-revision-") as folder:
        tree, exported = Path(folder, "tree"), Path(folder, "graph.json")
        _check_out(commit, top, tree, index=Path(folder, "index"))
        if not (tree / prefix).is_dir():
            raise CannotDo(f"'{target.revision}' has no folder '{prefix}'", hint="call it in a folder that both have")
        _export(target, tree / prefix, exported)
        return described(str(exported))


def _commit(revision: str) -> str:
    try:
        return _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except CannotDo:
        raise CannotDo(f"'{revision}' is no revision of this repository", hint="write REVISION:MODULE:GRAPH, as in main:orders:orders") from None


def _check_out(commit: str, top: Path, tree: Path, *, index: Path) -> None:
    """All files of the commit, through an index that nobody else knows: an archive would leave out what is not to be released."""
    tree.mkdir()
    own_index = {"GIT_INDEX_FILE": str(index)}
    _git("read-tree", commit, folder=top, variables=own_index)
    _git("checkout-index", "--all", f"--prefix={tree}{os.sep}", folder=top, variables=own_index)


def _export(target: InRevision, folder: Path, exported: Path) -> None:
    """Have another Python import the graph from the folder: this one may hold a module of that name already."""
    command = [sys.executable, "-P", "-m", "strata.cli.checked_out", target.graph, str(exported)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stderr.strip().removeprefix("error: ") or f"its process ended with {done.returncode}"
        raise CannotDo(f"in '{target.revision}': {said.replace(f'{folder}{os.sep}', '').replace(str(folder), target.revision)}")


def _git(*arguments: str, folder: Path | None = None, variables: Mapping[str, str] | None = None) -> str:
    environment = {**os.environ, **(variables or {})}
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise CannotDo("git is not installed, and a revision is asked of it") from None
    if done.returncode != 0:
        raise CannotDo(f"git {arguments[0]}: {done.stderr.strip() or f'it ended with {done.returncode}'}")
    return done.stdout.removesuffix("\n")
