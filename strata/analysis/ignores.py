"""Comments that take what is told of their line: `# strata: ignore[STRATA_ERR_ORPHAN]`."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator

import msgspec

from strata.analysis.sources import Source
from strata.project.settings import CODES
from strata.rules import codes
from strata.rules.facts import Place, SourcePlace
from strata.rules.problem import Problem

_IGNORE = re.compile(r"#\s*strata:\s*ignore(?:\[(?P<codes>[^\]]*)\]|(?=\s|#|$))")


class Ignore(msgspec.Struct, frozen=True):
    """One comment, and the codes in it."""

    place: SourcePlace
    codes: tuple[str, ...]

    def takes(self, problem: Problem) -> bool:
        return problem.code in self.codes


def without_ignored(problems: Iterable[Problem], sources: Iterable[Source]) -> Iterator[Problem]:
    """What no comment takes, and warnings of comments that take nothing."""
    ignores = [ignore for source in sources for ignore in ignores_in(source)]
    at = {_line(ignore.place): ignore for ignore in ignores}
    taken: set[tuple[tuple[str, int], str]] = set()
    for problem in problems:
        line = None if problem.place is None else _line(problem.place)
        if line is not None and line in at and at[line].takes(problem):
            taken.add((line, problem.code))
        else:
            yield problem
    for ignore in ignores:
        yield from _warnings(ignore, {code for line, code in taken if line == _line(ignore.place)})


def ignores_in(source: Source) -> Iterator[Ignore]:
    if _IGNORE.search(source.text) is None:
        return
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type == tokenize.COMMENT and (found := _IGNORE.search(token.string)) is not None:
            line, column = token.start
            named = (code.strip() for code in (found["codes"] or "").split(","))
            yield Ignore(SourcePlace(source.shown, line, column + found.start() + 1), tuple(code for code in named if code))


def _warnings(ignore: Ignore, used: set[str]) -> Iterator[Problem]:
    if not ignore.codes:
        yield _warning(ignore, "the comment names no code, and takes nothing: # strata: ignore[STRATA_ERR_ORPHAN]")
    for code in ignore.codes:
        if code not in CODES:
            yield _warning(ignore, f"the comment names '{code}', which is no code")
        elif code not in used:
            yield _warning(ignore, f"{code} is not told of this line: remove it from the comment")


def _warning(ignore: Ignore, text: str) -> Problem:
    return Problem(code=codes.UNUSED_IGNORE, severity="warning", text=text, place=ignore.place)


def _line(place: Place) -> tuple[str, int]:
    return place.file, place.line
