"""A graph of a git revision: the file of its definition, or code that is checked out and imported by a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from strata.cli.described import described
from strata.cli.faults import CannotDo
from strata.cli.git import commit_of, git, git_bytes
from strata.cli.targets import states_file
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


class FileInRevision(msgspec.Struct, frozen=True):
    """`REVISION:FILE`, as in `main:shop/orders.json`, from the folder that one is in."""

    revision: str
    file: str

    @classmethod
    def parsed(cls, target: str) -> FileInRevision | None:
        """None if `target` is a file itself, or names no file of a definition."""
        revision, colon, file = target.partition(":")
        return cls(revision, file) if colon and file.endswith(".json") and not Path(target).exists() else None


def described_in_revision(target: str) -> Described | None:
    """The graph as the revision has it that `target` names; None if it names none.

    Raises:
        CannotDo: there is no repository here, no such revision, or nothing in it that can be read or imported so.
    """
    if (file := FileInRevision.parsed(target)) is not None:
        return _described_file(file)
    graph = InRevision.parsed(target)
    return None if graph is None else _described_graph(graph)


def _described_file(target: FileInRevision) -> Described:
    """The definition, and the schemas of its states if they lie beside it."""
    commit = commit_of(target.revision)
    file = Path(target.file)
    with TemporaryDirectory(prefix="strata-revision-") as folder:
        copy = Path(folder, file.name)
        for source, to in ((file, copy), (states_file(file), states_file(copy))):
            if (content := _content(commit, source)) is not None:
                to.write_bytes(content)
        if not copy.exists():
            raise CannotDo(f"'{target.revision}' has no file '{target.file}'")
        try:
            return described(str(copy))
        except CannotDo as error:
            raise CannotDo(error.text.replace(f"{folder}{os.sep}", f"{target.revision}:"), hint=error.hint) from error


def _content(commit: str, file: Path) -> bytes | None:
    """None if the commit has no such file. As a check-out would write it: with the line ends and filters of the repository."""
    try:
        return git_bytes("cat-file", "--filters", f"{commit}:./{file.as_posix()}")
    except CannotDo:
        return None


def _described_graph(target: InRevision) -> Described:
    """Neither the user's files nor their index nor the repository is changed."""
    top, prefix = Path(git("rev-parse", "--show-toplevel")), git("rev-parse", "--show-prefix")
    commit = commit_of(target.revision)
    with TemporaryDirectory(prefix="strata-revision-") as folder:
        tree, exported = Path(folder, "tree"), Path(folder, "graph.json")
        _check_out(commit, top, tree, index=Path(folder, "index"))
        if not (tree / prefix).is_dir():
            raise CannotDo(f"'{target.revision}' has no folder '{prefix}'", hint="call it in a folder that both have")
        _export(target, tree / prefix, exported)
        return described(str(exported))


def _check_out(commit: str, top: Path, tree: Path, *, index: Path) -> None:
    """All files of the commit, through an index that nobody else knows: an archive would leave out what is not to be released."""
    tree.mkdir()
    own_index = {"GIT_INDEX_FILE": str(index)}
    git("read-tree", commit, folder=top, variables=own_index)
    git("checkout-index", "--all", f"--prefix={tree}{os.sep}", folder=top, variables=own_index)


def _export(target: InRevision, folder: Path, exported: Path) -> None:
    """Have another Python import the graph from the folder: this one may hold a module of that name already."""
    command = [sys.executable, "-P", "-m", "strata.cli.checked_out", target.graph, str(exported)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stderr.strip().removeprefix("error: ") or f"its process ended with {done.returncode}"
        raise CannotDo(f"in '{target.revision}': {said.replace(f'{folder}{os.sep}', '').replace(str(folder), target.revision)}")
