"""The tools that a module declares, as they would be if it were imported."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import libcst as cst

from strata.codegen.bindings import Assigned, Binding
from strata.codegen.faults import Fault, NotRead, not_read
from strata.codegen.functions import live_function
from strata.codegen.interpreter import Interpreter
from strata.codegen.modules import SourceModule
from strata.codegen.trees import nodes_in
from strata.codegen.values import CalledTool, Frame, SourceFunction, ToolDecorator
from strata.errors import ToolInvalid, ToolWarning
from strata.rules import codes
from strata.tools.reading import signature_of
from strata.tools.schema import input_schema
from strata.tools.signature import ToolSignature

MARK: Final = "strata_tool"


@dataclass(frozen=True, slots=True)
class SourceTool:
    """A tool, and the function that it is declared on.

    Attributes:
        parameters: the JSON Schema of its arguments.
    """

    signature: ToolSignature
    parameters: Mapping[str, Any]
    module: SourceModule
    node: cst.FunctionDef
    decorator: cst.Decorator

    @property
    def entry(self) -> dict[str, Any]:
        """That of a manifest."""
        return {"name": self.signature.name, "description": self.signature.description, "parameters": self.parameters}


class ToolReader:
    """Reads them, and keeps what could not be read.

    Attributes:
        faults: errors and warnings, in the order in which they were found; some may stand twice.
    """

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter
        self.faults: list[Fault] = []

    def tools_of(self, module: SourceModule) -> Iterator[SourceTool]:
        """The tools at the top of a module, in their order. Those in classes and functions are none that others could call."""
        for binding in module.bindings.all:
            frame = Frame(module, before=binding.order, for_checkers=binding.for_checkers)
            match binding.node:
                case cst.FunctionDef() as function:
                    yield from self._tool(function, binding, frame)
                    self._leave_out(_functions_in(function), frame, f"inside of function '{binding.name}'")
                case cst.ClassDef() as cls:
                    methods = [method for method in cls.body.body if isinstance(method, cst.FunctionDef)]
                    self._leave_out(methods, frame, f"inside of class '{binding.name}'")
                case _:
                    self._refuse_called(binding, frame)
            self.faults += self._interpreter.finish()
            self.faults += self._interpreter.warnings()

    def _tool(self, node: cst.FunctionDef, binding: Binding, frame: Frame) -> Iterator[SourceTool]:
        try:
            found = self._decorator(node, frame)
            if found is not None:
                yield self._read(node, binding, *found, frame)
        except NotRead as error:
            self.faults.extend(error.faults)
        except RecursionError:
            self.faults.extend(not_read(f"tool '{node.name.value}' is nested deeper than Python can follow", frame.module, node).faults)

    def _read(self, node: cst.FunctionDef, binding: Binding, decorator: cst.Decorator, options: ToolDecorator, frame: Frame) -> SourceTool:
        if binding.bound is not node:
            raise not_read(f"whether there is a tool '{node.name.value}' can only be told by running the module", frame.module, decorator)
        function = live_function(node, node.name.value, frame, self._interpreter)
        self.faults += self._interpreter.finish()  # a schema looks at annotations of classes
        if faults := self._interpreter.faults_within(function.__annotations__.values()):
            raise NotRead(*faults)
        try:
            signature = self._signature(function, options, decorator, frame)
            parameters = input_schema(signature)
        except ToolInvalid as error:
            text = str(error).removeprefix(f"{error.place}: ")
            raise not_read(text, frame.module, decorator, code=codes.TOOL_INVALID, hint=error.hint) from error
        self._warn_of_decorators(node, decorator, frame)
        return SourceTool(signature, parameters, frame.module, node, decorator)

    def _signature(self, function: Callable[..., Any], options: ToolDecorator, decorator: cst.Decorator, frame: Frame) -> ToolSignature:
        place = frame.module.file.shown
        with warnings.catch_warnings(record=True) as cautions:
            warnings.simplefilter("always", ToolWarning)
            signature = signature_of(function, **options.options, place=place)
        for caution in cautions:
            self._warn(codes.TOOL_DOCSTRING, str(caution.message).removeprefix(f"{place}: "), decorator, frame)
        return signature

    # Decorators

    def _decorator(self, node: cst.FunctionDef, frame: Frame) -> tuple[cst.Decorator, ToolDecorator] | None:
        for decorator in node.decorators:
            match self._meaning(decorator, frame):
                case ToolDecorator() as found:
                    return decorator, found
                case SourceFunction() as function if MARK in function.module.code(function.node.body):
                    name = frame.module.code(decorator.decorator)
                    text = f"'{name}' makes a tool by code of its own, which is not run"
                    raise not_read(text, frame.module, decorator, hint="put @strata_tool itself on the function")
                case _:
                    pass
        return None

    def _meaning(self, decorator: cst.Decorator, frame: Frame) -> object:
        """What a decorator is; of a call of a function of the sources, that function."""
        node = decorator.decorator
        try:
            if isinstance(node, cst.Call):
                called = self._interpreter.value(node.func, frame)
                if not isinstance(called, ToolDecorator):
                    return called
        except NotRead:
            return None  # of a package that is not looked into
        try:
            return self._interpreter.value(node, frame)
        except NotRead:
            if isinstance(node, cst.Call):
                raise
            return None

    def _warn_of_decorators(self, node: cst.FunctionDef, decorator: cst.Decorator, frame: Frame) -> None:
        for other in node.decorators:
            if other is not decorator:
                name = frame.module.code(other.decorator)
                text = f"tool '{node.name.value}' is read as if the decorator '{name}' left its parameters alone"
                self._warn(codes.TOOL_DECORATED, text, other, frame, hint="functools.wraps does, which only running it would show")

    # What is left out

    def _leave_out(self, functions: Iterable[cst.FunctionDef], frame: Frame, where: str) -> None:
        for node in functions:
            if any(isinstance(self._meaning(decorator, frame.postponed()), ToolDecorator) for decorator in node.decorators):
                text = f"the tool '{node.name.value}' stands {where}, where no other module finds it: it is left out"
                self._warn(codes.TOOL_LEFT_OUT, text, node.decorators[0], frame, hint="move it to the top of its module")

    def _refuse_called(self, binding: Binding, frame: Frame) -> None:
        if not isinstance(binding.bound, Assigned) or not isinstance(binding.bound.value, cst.Call) or MARK not in frame.module.text:
            return
        try:
            made = self._interpreter.value(binding.bound.value, frame)
        except NotRead:
            return
        if isinstance(made, CalledTool):
            text = f"the tool '{binding.name}' is made by a call, and such are left out"
            self._warn(codes.TOOL_LEFT_OUT, text, binding.node, frame, hint="put @strata_tool on a function of its own")

    def _warn(self, code: str, text: str, node: cst.CSTNode, frame: Frame, *, hint: str | None = None) -> None:
        self.faults.append(Fault(code=code, severity="warning", text=text, module=frame.module, node=node, hint=hint))


def _functions_in(function: cst.FunctionDef) -> Iterator[cst.FunctionDef]:
    """Those inside of a function, if anything was left in its body beside a docstring and `pass`."""
    body = function.body.body
    if len(body) > 2 or any(isinstance(statement, cst.BaseCompoundStatement) for statement in body):
        yield from nodes_in(function.body, cst.FunctionDef)
