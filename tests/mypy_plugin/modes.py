"""The ways to run mypy on one project, which must all say the same: from scratch, on a warm cache, with workers, as a daemon."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from subprocess import run
from sys import executable

from tests.mypy_plugin.checking import environment, mypy


class Modes:
    """Runs in `folder`. What the libraries need is kept from a first run: a run from scratch knows no module of the project."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "mypy.ini").write_text("[mypy]\nplugins = strata_mypy\nstrict = true\npython_version = 3.11\n")
        self._libraries = folder / "libraries"
        (folder / "libraries.py").write_text("import strata, socket, typing, datetime, strata.graph.builder, strata.graph.fanout_decorators\n")
        mypy([*self._cached(self._libraries), "libraries.py"], cwd=folder)

    def scratch(self) -> list[str]:
        cache = self._folder / "scratch"
        shutil.rmtree(cache, ignore_errors=True)
        return self._lines(mypy([*self._cached(self._prepared("scratch")), "pkg"], cwd=self._folder))

    def warm(self) -> list[str]:
        return self._lines(mypy([*self._cached(self._prepared("warm")), "pkg"], cwd=self._folder))

    def workers(self) -> list[str]:
        return self._lines(mypy(["-n", "2", *self._cached(self._prepared("workers")), "pkg"], cwd=self._folder))

    def daemon(self) -> list[str]:
        flags = self._cached(self._prepared("daemon"))
        return self._lines(self._dmypy("run", "--timeout", "600", "--", *flags, "pkg"))

    def stop(self) -> None:
        self._dmypy("stop")

    def _prepared(self, name: str) -> Path:
        cache = self._folder / name
        if not cache.exists():
            shutil.copytree(self._libraries, cache)
        return cache

    def _cached(self, cache: Path) -> list[str]:
        return ["--config-file", "mypy.ini", "--cache-dir", str(cache)]

    def _dmypy(self, *arguments: str) -> str:
        command = [executable, "-m", "mypy.dmypy", "--status-file", str(self._folder / "dmypy.json"), *arguments]
        done = run(command, cwd=self._folder, capture_output=True, text=True, env=environment(), check=False)
        assert "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
        return done.stdout

    def _lines(self, output: str) -> list[str]:
        return sorted(line for line in output.splitlines() if line.startswith("pkg/"))


@contextmanager
def modes(folder: Path) -> Generator[Modes]:
    """The modes on a folder; the daemon is stopped at the end."""
    running = Modes(folder)
    try:
        yield running
    finally:
        running.stop()
