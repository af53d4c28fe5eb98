"""Why something in a source cannot be read, and where it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from strata.rules import codes
from strata.rules.problem import Problem, Severity

if TYPE_CHECKING:
    import libcst as cst

    from strata.codegen.modules import SourceModule

S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A problem on its way: the line of a node costs a walk through its file, and most sources have no fault."""

    code: str
    text: str
    module: SourceModule
    node: cst.CSTNode
    severity: Severity = "error"
    hint: str | None = None

    def problem(self) -> Problem:
        place = self.module.place(self.node)
        return Problem(code=self.code, severity=self.severity, text=self.text, place=place, hint=self.hint)


class NotRead(Exception):
    """It cannot be told what the source means; `faults` are all the reasons."""

    def __init__(self, *faults: Fault) -> None:
        self.faults = faults
        super().__init__("; ".join(fault.text for fault in faults))

    def at(self, node: cst.CSTNode, module: SourceModule) -> NotRead:
        """The same of a node that stands for what was read, as the text of an annotation does."""
        return NotRead(*(replace(fault, node=node) if fault.module is module else fault for fault in self.faults))


def not_read(text: str, module: SourceModule, node: cst.CSTNode, *, code: str = codes.TOOL_NOT_EVALUATED, hint: str | None = None) -> NotRead:
    """The one reason."""
    return NotRead(Fault(code=code, text=text, module=module, node=node, hint=hint))


def each(items: Iterable[S], read: Callable[[S], T]) -> list[T]:
    """What each of the items gives.

    Raises:
        NotRead: some cannot be read; it has the reasons of all of those.
    """
    found: list[T] = []
    faults: list[Fault] = []
    for item in items:
        try:
            found.append(read(item))
        except NotRead as error:
            faults.extend(error.faults)
    if faults:
        raise NotRead(*faults)
    return found


def tried(compute: Callable[[], T], node: cst.CSTNode, module: SourceModule) -> T:
    """What real objects give, which refuse as they would when the module is imported.

    Raises:
        NotRead: they raise.
    """
    try:
        return compute()
    except (NotRead, RecursionError):
        raise
    except Exception as error:
        code = module.code(node)
        what = f"'{code}'" if len(code) < 100 else "this"
        raise not_read(f"{what} raises {type(error).__name__}: {error}", module, node) from error
