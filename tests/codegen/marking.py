"""Packages of others with tools in them: functions, methods, and each of their parameters alone, once more at the end of their modules."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import indent
from typing import Final, TypeAlias
from zlib import crc32

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

OPENING: Final = "\n\nfrom strata.tools import strata_tool as _strata_tool\n_refused_tools: dict[str, str] = {}\n"
MILESTONE: Final = "milestone "
"""In what is read a tool that nothing is wrong with stands after each other: what was found before it is of that one."""


@dataclass(frozen=True, slots=True)
class Sketch:
    """A tool that a module could have.

    Attributes:
        name: of no other one of the package.
    """

    name: str
    start: str
    parameters: str
    description: str

    def text(self, function: str) -> str:
        return f"@_strata_tool({self.name!r})\n{self.start} {function}({self.parameters}):\n    {self.description!r}\n"


Sketches: TypeAlias = Mapping[Path, list[Sketch]]
"""By the modules that they would stand in, as paths from the package."""


def sketches_of(package: Path, *, every: int) -> Sketches:
    """Of every so many possible tools one, the same each time; what says the same in the same module is there once."""
    found: dict[Path, list[Sketch]] = {}
    for file in sorted(package.rglob("*.py")):
        path = file.relative_to(package)
        module = path.with_suffix("").as_posix().replace("/", ".")
        drawn = (found for found in _possible(ast.parse(file.read_bytes()), module) if crc32(found[0].encode()) % every == 0)
        sketches = [_sketch(name, function, arguments) for name, function, arguments in drawn]
        said = {(sketch.parameters, sketch.description): sketch for sketch in sketches}
        found[path] = [replace(sketch, name=f"{sketch.name} #{number}") for number, sketch in enumerate(said.values())]
    return found


def written(package: Path, target: Path, sketches: Sketches, text: Callable[[Sketch, int], str]) -> None:
    """A copy of the package, with tools in it."""
    for file in sorted(package.rglob("*.py")):
        path = file.relative_to(package)
        tools = "".join(text(sketch, number) for number, sketch in enumerate(sketches.get(path, ())))
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_text(file.read_text(encoding="utf-8") + (OPENING + tools if tools else ""), encoding="utf-8")


def to_read(sketch: Sketch, number: int) -> str:
    """The tool, and its milestone."""
    return f"{sketch.text(f'_tool_{number}')}@_strata_tool({MILESTONE + sketch.name!r})\ndef _milestone_{number}():\n    'Go on.'\n"


def to_import(sketch: Sketch, number: int) -> str:
    """The tool; where it is refused, why, and the module goes on."""
    attempt = indent(sketch.text(f"_tool_{number}"), "    ")
    return f"try:\n{attempt}except Exception as _error:\n    _refused_tools[{sketch.name!r}] = repr(_error)\n"


def _possible(tree: ast.Module, module: str) -> Iterator[tuple[str, Function, ast.arguments]]:
    for path, function, arguments in _functions(tree):
        yield f"{module}:{path}", function, arguments
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults = [None] * (len(positional) - len(arguments.defaults)) + [*arguments.defaults]
        for argument, default in [*zip(positional, defaults, strict=True), *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]:
            if argument.annotation is not None:
                alone = ast.arguments([], [argument], None, [], [], None, [] if default is None else [default])
                yield f"{module}:{path}({argument.arg})", function, alone


def _functions(tree: ast.Module) -> Iterator[tuple[str, Function, ast.arguments]]:
    """Those at the top of a module, and the methods of classes there without the object or class that they are called on."""
    for statement in tree.body:
        if isinstance(statement, Function):
            yield statement.name, statement, statement.args
        elif isinstance(statement, ast.ClassDef):
            for method in statement.body:
                if isinstance(method, Function):
                    yield f"{statement.name}.{method.name}", method, _without_self(method.args)


def _without_self(given: ast.arguments) -> ast.arguments:
    before, plain = given.posonlyargs, given.args
    before, plain = (before[1:], plain) if before else (before, plain[1:])
    defaults = given.defaults[max(0, len(given.defaults) - len(before) - len(plain)) :]
    return ast.arguments(before, plain, given.vararg, given.kwonlyargs, given.kw_defaults, given.kwarg, defaults)


def _sketch(name: str, function: Function, arguments: ast.arguments) -> Sketch:
    is_async = isinstance(function, ast.AsyncFunctionDef)
    is_whole = "(" not in name
    said = ast.get_docstring(function) if is_whole else None
    return Sketch(name, "async def" if is_async else "def", ast.unparse(arguments), said or "Do it.")
