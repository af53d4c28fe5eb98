"""The Rust engine as a process: builds the program of `peer/` and speaks its command line."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

SOURCE = Path(__file__).parent / "peer"
BUILD_SECONDS = 1_200
CALL_SECONDS = 60

NO_REGISTRY = re.compile(r"could(n't| not) (resolve|connect)|failed to (download|get)|network|timed? ?out|spurious", re.IGNORECASE)

Graph = Literal["essay", "order", "wait", "book"]
Answer = dict[str, Any]
Option = str | int | bool | Sequence[str] | None


class PeerMissing(Exception):
    """The program cannot be had on this machine; the text says why."""


class PeerFailed(AssertionError):
    """The program refused its command line, or crashed."""


def build() -> Path:
    """The program's path, built by cargo if its source has changed.

    The target folder is `STRATA_PEER_TARGET`, else one in the user's cache: five minutes of building outlive the clone.

    Raises:
        PeerMissing: no cargo, no registry, or `STRATA_PEER_SKIP` gives a reason.
        PeerFailed: it does not build.
    """
    if reason := os.environ.get("STRATA_PEER_SKIP"):
        raise PeerMissing(reason)
    cargo = shutil.which("cargo")
    if cargo is None:
        raise PeerMissing("cargo is not installed")
    target = Path(os.environ.get("STRATA_PEER_TARGET") or Path.home() / ".cache" / "strata-peer")
    built = subprocess.run(
        [cargo, "build", "--release", "--quiet", "--manifest-path", str(SOURCE / "Cargo.toml")],
        env={**os.environ, "CARGO_TARGET_DIR": str(target)},
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
    )
    if built.returncode != 0:
        if NO_REGISTRY.search(built.stderr):
            raise PeerMissing(f"cargo could not reach its registry: {built.stderr.strip().splitlines()[-1]}")
        raise PeerFailed(built.stderr)
    return target / "release" / "peer"


class Peer:
    """The commands of the program; each call is a process of its own, as another worker would be."""

    def __init__(self, program: Path) -> None:
        self._program = program

    def start(self, database: Path, graph: Graph, thread_id: str, state: Mapping[str, object], **options: Option) -> Answer:
        return self._one(_store(database), "start", graph, thread_id, state=json.dumps(state), **options)

    def resume(
        self,
        database: Path,
        graph: Graph,
        thread_id: str,
        *,
        reviewer: str | None = None,
        reject: bool = False,
        override: Mapping[str, object] | None = None,
        **options: Option,
    ) -> Answer:
        return self._one(_store(database), "resume", graph, thread_id, reviewer=reviewer, reject=reject, override=_json_pairs(override), **options)

    def signal(
        self, database: Path, graph: Graph, thread_id: str, *, event: str | None = None, override: Mapping[str, object] | None = None
    ) -> Answer:
        return self._one(_store(database), "signal", graph, thread_id, event=event, override=_json_pairs(override))

    def wake(self, database: Path, graph: Graph, *, seconds: int = 0) -> Answer:
        """Wake what is due that many seconds from now."""
        return self._one(_store(database), "wake", graph, **{"in": seconds})

    def recover(self, database: Path, graph: Graph, thread_id: str, **options: Option) -> Answer:
        return self._one(_store(database), "recover", graph, thread_id, **options)

    def end(self, database: Path, graph: Graph, thread_id: str, *, by: str | None = None) -> Answer:
        return self._one(_store(database), "end", graph, thread_id, by=by)

    def checkpoint(self, database: Path, thread_id: str) -> Answer | None:
        """The thread's newest record, or None."""
        (line,) = self._lines(_store(database), "checkpoint", thread_id)
        return json.loads(line)  # type: ignore[no-any-return]

    def log(self, database: Path, thread_id: str) -> list[str]:
        """All records of the thread, oldest first, as the engine writes them."""
        return self._lines(_store(database), "checkpoint", thread_id, log=True)

    def threads(self, database: Path, *, state: Sequence[str] = (), metadata: Mapping[str, str] | None = None, **options: Option) -> list[Answer]:
        pairs = [f"{key}={value}" for key, value in (metadata or {}).items()]
        page = self._one(_store(database), "list", state=state, metadata=pairs, **options)
        return page["threads"]  # type: ignore[no-any-return]

    def definition(self, graph: Graph, **options: Option) -> str:
        """The exported definition, exactly as the engine writes it."""
        _, text = self._lines("sqlite::memory:", "definition", graph, **options)
        return text

    def killed_at(
        self,
        node: str,
        database: Path,
        command: Literal["start", "resume", "recover"],
        graph: Graph,
        thread_id: str,
        *,
        state: Mapping[str, object] | None = None,
        **options: Option,
    ) -> Answer:
        """Run the thread until `node` (a qualified path) hangs, then kill the process; gives what that node said of itself."""
        given = None if state is None else json.dumps(state)
        arguments = self._arguments(_store(database), command, graph, thread_id, hang=node, state=given, **options)
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                line = process.stdout.readline()
            finally:
                process.kill()
        said: Answer = json.loads(line)
        if "hanging" not in said:
            raise PeerFailed(f"'{node}' was not reached: {line}")
        return said

    def _one(self, *arguments: str, **options: Option) -> Answer:
        (line,) = self._lines(*arguments, **options)
        answer: Answer = json.loads(line)
        return answer

    def _lines(self, *arguments: str, **options: Option) -> list[str]:
        command = self._arguments(*arguments, **options)
        done = subprocess.run(command, capture_output=True, text=True, timeout=CALL_SECONDS, check=False)
        if done.returncode != 0:
            raise PeerFailed(f"exit {done.returncode} of {command[1:]}: {done.stderr}")
        return done.stdout.splitlines()

    def _arguments(self, *arguments: str, **options: Option) -> list[str]:
        """`graph_id="x"` is `--graph-id x`, True a bare flag, a list the option again and again; False and None leave it out."""
        command = [str(self._program), *arguments]
        for name, value in options.items():
            flag = f"--{name.replace('_', '-')}"
            if value is True:
                command.append(flag)
            elif value is not None and value is not False:
                for one in [value] if isinstance(value, str | int) else value:
                    command += [flag, str(one)]
        return command


def _store(database: Path) -> str:
    return f"sqlite:{database}"


def _json_pairs(overrides: Mapping[str, object] | None) -> list[str]:
    return [f"{name}={json.dumps(value)}" for name, value in (overrides or {}).items()]
