"""`strata tools generate`: schemas and typed calls of tools, from their source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from cyclopts import Parameter

from strata.cli import terminal
from strata.cli.check_formats import SourceFault, source_fault
from strata.cli.faults import CannotDo
from strata.cli.parameters import AsJson
from strata.cli.sources import count, project_settings, require_sources
from strata.project.texts import Unreadable

if TYPE_CHECKING:
    from strata.codegen.generating import Generated
    from strata.codegen.writing import Compared


class GeneratedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file: `current` where it was as it should be; the others were written, or with --check are not there as they should be."""

    path: str
    state: Literal["current", "stale", "missing"]


class GeneratedTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool, and why a provider has no strict form of it."""

    name: str
    place: str
    not_strict: Mapping[str, str]


class GeneratedTools(msgspec.Struct, frozen=True, kw_only=True):
    """`strata tools generate --json`; `ok`: there are no errors, and with --check every file is current."""

    ok: bool
    files: Sequence[GeneratedFile]
    tools: Sequence[GeneratedTool]
    problems: Sequence[SourceFault]
    unreadable: Sequence[Unreadable]


def tools_generate(
    sources: Annotated[list[Path], Parameter(name="SRC", help="The folder that imports start from, a package, or files.", negative_iterable="")],
    /,
    *,
    out: Annotated[Path, Parameter(name=["--out", "-o"], help="The folder for what is made.")],
    check: Annotated[bool, Parameter(negative="", help="Write nothing, and say what would be written: for CI.")] = False,
    as_json: AsJson = False,
) -> int:
    """Make schemas and a module of typed calls from the source of tools, which is not imported.

    DIR gets tools.json, openai.json, anthropic.json, mcp.json, strictness.json and dispatch.py; the same tools give the same bytes.

    Exit code 0: it is written, or with --check was already. 1: there are errors, or with --check a file is stale. 2: something could
    not be read or written.
    """
    generated = _generated(sources)
    files = _compared(out, generated)
    if not check:
        _write(files)
    if as_json:
        terminal.show_json(_told(generated, files, check=check))
    else:
        _show(generated, files, check=check)
    if generated.read.unreadable:
        return 2
    return int(generated.read.has_errors or (check and any(file.state != "current" for file in files)))


def _generated(sources: list[Path]) -> Generated:
    try:
        from strata.codegen.generating import generate
    except ModuleNotFoundError as error:
        if error.name != "libcst":
            raise
        raise CannotDo("tools are read from source with libcst, which is not installed", hint="install strata with its extra `codegen`") from error
    require_sources(sources)
    generated = generate(sources, project_settings(), shown_from=Path.cwd())
    read = generated.read
    if not (read.tools or read.problems or read.unreadable):
        raise CannotDo(f"no tool is declared in {count(read.files, 'file')}", hint="a tool is a function under @strata_tool")
    return generated


def _compared(out: Path, generated: Generated) -> list[Compared]:
    from strata.codegen.writing import NotOurs, compared

    try:
        return compared(out, generated.files)
    except NotOurs as error:
        raise CannotDo(str(error), hint="move it, or name another folder with --out") from error
    except OSError as error:
        raise CannotDo(f"'{error.filename}' cannot be read: {error.strerror}") from error


def _write(files: Sequence[Compared]) -> None:
    from strata.codegen.writing import write

    for file in files:
        try:
            write(file)
        except OSError as error:
            raise CannotDo(f"'{file.path}' cannot be written: {error.strerror}") from error


def _told(generated: Generated, files: Sequence[Compared], *, check: bool) -> GeneratedTools:
    read = generated.read
    return GeneratedTools(
        ok=not (read.has_errors or read.unreadable or (check and _differing(files))),
        files=[GeneratedFile(path=str(file.path), state=file.state) for file in files],
        tools=[
            GeneratedTool(name=name, place=str(tool.module.place(tool.decorator)), not_strict=generated.not_strict.get(name, {}))
            for tool in read.tools
            for name in (tool.signature.name,)
        ],
        problems=[source_fault(problem) for problem in read.problems],
        unreadable=read.unreadable,
    )


def _show(generated: Generated, files: Sequence[Compared], *, check: bool) -> None:
    read, differing = generated.read, _differing(files)
    for problem in read.problems:
        terminal.show(str(problem))
    for unreadable in read.unreadable:
        terminal.complain(str(unreadable))
    if check:
        for file in differing:
            terminal.show_lines(file.diff(str(file.path)))
    errors = sum(problem.severity == "error" for problem in read.problems)
    counted = (count(len(read.tools), "tool"), count(errors, "error"), count(len(read.problems) - errors, "warning"))
    terminal.show(f"{count(read.files, 'file')}: {', '.join(counted)}; {_outcome(files, differing, check=check)}")


def _outcome(files: Sequence[Compared], differing: Sequence[Compared], *, check: bool) -> str:
    if not files:
        return "nothing is made" if check else "nothing was written"
    if check:
        return f"{count(len(differing), 'file')} of {len(files)} would be written" if differing else "all that is made of them is current"
    return f"{', '.join(file.path.name for file in differing)} written" if differing else "nothing has changed"


def _differing(files: Sequence[Compared]) -> list[Compared]:
    return [file for file in files if file.state != "current"]
