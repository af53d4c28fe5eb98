"""All tools of a project, read from its sources, with what is wrong in them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from strata.codegen.faults import Fault
from strata.codegen.finding import Sources
from strata.codegen.interpreter import Interpreter
from strata.codegen.modules import Modules
from strata.codegen.reading import SourceTool, ToolReader
from strata.project.texts import Unreadable
from strata.rules import codes
from strata.rules.facts import SourcePlace
from strata.rules.problem import Problem


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What was read.

    Attributes:
        interpreter: what else is asked of the same sources.
        tools: in the order of their files and lines; those that have errors are missing.
        problems: errors and warnings, in the same order, each once.
        unreadable: the files that could not be read.
        files: how many were looked at.
    """

    interpreter: Interpreter
    tools: tuple[SourceTool, ...]
    problems: tuple[Problem, ...]
    unreadable: tuple[Unreadable, ...]
    files: int

    @property
    def has_errors(self) -> bool:
        return any(problem.severity == "error" for problem in self.problems)


def catalogue(sources: Sources, *, shown_from: Path, trusted: Collection[str] = (), disable: Collection[str] = ()) -> Catalogue:
    """The tools of these sources. None of them is imported; `trusted` are packages that may be."""
    modules = Modules(sources.roots, shown_from)
    interpreter = Interpreter(modules, trusted)
    reader = ToolReader(interpreter)
    read = [modules.module(name) for name in sources.declaring]
    tools = [tool for module in read if module is not None for tool in reader.tools_of(module)]
    faults = [*reader.faults, *_duplicates(tools)]
    unreadable = tuple(dict.fromkeys((*sources.unreadable, *modules.unreadable)))
    problems = [*_left_out(sources, disable), *_problems(faults, disable)]
    return Catalogue(interpreter, tuple(tools), _in_order(problems), unreadable, sources.files)


def _duplicates(tools: Sequence[SourceTool]) -> Iterable[Fault]:
    first: dict[str, SourceTool] = {}
    for tool in tools:
        earlier = first.setdefault(tool.signature.name, tool)
        if earlier is not tool:
            text = f"tool '{tool.signature.name}' is already declared ({earlier.module.place(earlier.decorator)}), and no registry takes both"
            yield Fault(code=codes.DUPLICATE_TOOL, text=text, module=tool.module, node=tool.decorator, hint="give one of them another name")


def _left_out(sources: Sources, disable: Collection[str]) -> Iterable[Problem]:
    if codes.TOOL_LEFT_OUT in disable:
        return
    for file in sources.nameless:
        text = f"the tools of this file are left out: no module can import it by the name '{Path(file).stem}'"
        hint = "give it a name that `import` can say, or name it in exclude under [tool.strata] in pyproject.toml"
        yield Problem(code=codes.TOOL_LEFT_OUT, severity="warning", text=text, place=SourcePlace(file, 1, 1), hint=hint)


def _problems(faults: Iterable[Fault], disable: Collection[str]) -> Iterable[Problem]:
    """Errors are told whatever is disabled: a tool is missing for each."""
    return (fault.problem() for fault in faults if fault.severity == "error" or fault.code not in disable)


def _in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Each once, by files and lines."""
    return tuple(sorted(dict.fromkeys(problems), key=lambda problem: ("", 0) if problem.place is None else (problem.place.file, problem.place.line)))
