"""A folder to work in, with modules that can be imported and databases that engines have written."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from strata.cli import run
from tests.definitions import RECORDED
from tests.importing import forget_modules_of

ESSAYS = """
from __future__ import annotations

from strata import State, StateGraph, boundary, edge, node, when


class Essay(State):
    min_score: int
    score: int = 0


@node
@edge("review")
def draft(essay: Essay) -> Essay:
    return essay.replace(score=essay.score + 3)


def needs_work(essay: Essay) -> bool:
    return essay.score < essay.min_score


@node
@when(needs_work, to=draft)
@edge("sign_off")
def review(essay: Essay) -> Essay:
    return essay


@node
@boundary
@edge("publish")
def sign_off(essay: Essay) -> Essay:
    return essay


@node
def publish(essay: Essay) -> Essay:
    return essay


builder = StateGraph(Essay).start(draft).nodes(review, sign_off, publish)
essays = builder.compile(id="essays", version="1")
"""

BROKEN = """
from strata import State, StateGraph, edge, node


class Essay(State):
    score: int = 0


@node
@edge("publsh")
def draft(essay: Essay) -> Essay:
    return essay


@node
def publish(essay: Essay) -> Essay:
    return essay


broken = StateGraph(Essay).start(draft).nodes(publish)
"""


class Answer(NamedTuple):
    """What a command came to."""

    code: int
    out: str
    err: str


Call = Callable[..., Answer]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with the modules `essays` and `broken`; what a test imports from it is forgotten after."""
    (tmp_path / "essays.py").write_text(ESSAYS, encoding="utf-8")
    (tmp_path / "broken.py").write_text(BROKEN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delenv("STRATA_STORE", raising=False)
    yield tmp_path
    forget_modules_of(tmp_path)


@pytest.fixture
def call(folder: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    """Run a command in this process, in the folder."""

    def command(*arguments: str) -> Answer:
        code = run(arguments)
        out, err = capsys.readouterr()
        return Answer(code, out, err)

    return command


def recorded(name: str, path: Path) -> Path:
    """A database as the Rust engine left it."""
    change(path, (RECORDED / "stores" / "sqlite" / f"{name}.sql").read_text(encoding="utf-8"))
    return path


def change(path: Path, *statements: str, parameters: Sequence[object] = ()) -> None:
    """Change a database behind the store's back."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            if parameters:
                connection.execute(statement, parameters)
            else:
                connection.executescript(statement)
