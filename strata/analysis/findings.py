"""What was found, as it is found."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager

from strata.rules.facts import Place
from strata.rules.problem import Problem


class Findings:
    """Problems in the order of finding them, each once; those of code that expects them are left out."""

    def __init__(self) -> None:
        self._problems: dict[tuple[str, str, Place | None], Problem] = {}
        self._expected = 0

    def add(self, problem: Problem) -> None:
        if not self._expected:
            self._problems.setdefault((problem.code, problem.text, problem.place), problem)

    def error(self, code: str, text: str, place: Place | None, *, node: str | None = None, hint: str | None = None) -> None:
        self.add(Problem(code=code, severity="error", text=text, place=place, node=node, hint=hint))

    def warning(self, code: str, text: str, place: Place | None, *, node: str | None = None) -> None:
        self.add(Problem(code=code, severity="warning", text=text, place=place, node=node))

    @contextmanager
    def expected(self) -> Generator[None, None, None]:
        """Code that is written to be refused, as in `with pytest.raises(GraphInvalid)`, may have faults."""
        self._expected += 1
        try:
            yield
        finally:
            self._expected -= 1

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._problems.values())
