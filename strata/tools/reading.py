"""A live function as a tool: its name, its description, and the parameters that a model fills."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import InitVar
from inspect import Parameter, Signature, isasyncgenfunction, isclass, isgeneratorfunction
from types import MappingProxyType
from typing import Any, ClassVar, Final, NamedTuple, NotRequired, Required, get_origin

import msgspec
from typing_extensions import ReadOnly

from strata.errors import ToolInvalid, ToolUnresolved, ToolWarning
from strata.graph.annotations import Annotations
from strata.graph.context import Context
from strata.graph.functions import is_async_function, layers_of, name_of
from strata.graph.parameters import is_context, parameters_of
from strata.graph.parameters import signature_of as written_signature
from strata.graph.state import did_you_mean
from strata.graph.texts import is_text
from strata.rules.tools import ParameterKind, ToolFacts, ToolParameterFacts, tool_faults
from strata.tools.context import ToolContext
from strata.tools.docstrings import read_docstring
from strata.tools.signature import ToolParameter, ToolSignature

CONTEXTS: Final = (ToolContext, Context)

MARKS_OF_FIELDS: Final = (
    *((ClassVar, "ClassVar"), (Final, "Final"), (InitVar, "InitVar")),
    *((Required, "Required"), (NotRequired, "NotRequired"), (ReadOnly, "ReadOnly")),
)
KINDS: Final[Mapping[Any, ParameterKind]] = MappingProxyType(
    {
        Parameter.POSITIONAL_ONLY: "positional only",
        Parameter.POSITIONAL_OR_KEYWORD: "named",
        Parameter.KEYWORD_ONLY: "named",
        Parameter.VAR_POSITIONAL: "any positional",
        Parameter.VAR_KEYWORD: "any named",
    }
)

NO_NAMES: Final[Mapping[str, Any]] = MappingProxyType({})


def signature_of(
    fn: Callable[..., Any],
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    forbid_unknown_fields: bool = False,
    names: Mapping[str, Any] = NO_NAMES,
    place: str | None = None,
) -> ToolSignature:
    """What a model is to be told of `fn`, a function, method of an object, partial or callable object.

    `name` and `description` go before the function's own name and docstring. `names` are those that annotations may use
    beside the function's globals; `place` is where it is declared, by default where the function begins.

    Raises:
        ToolUnresolved: an annotation names what is not found.
        ToolInvalid: it is otherwise no tool; the text says where, and what to do.
        ToolWarning: its docstring speaks of a parameter that it does not have.
    """
    layers = tuple(layers_of(fn))
    declared = _Declared(fn, layers, place or _place_of(layers), name)
    declared.refuse_kind()
    read = Annotations(layers, names)
    parameters = declared.parameters()
    contexts = [parameter.name for parameter in parameters if is_context(parameter.annotation, read, CONTEXTS)]
    docstring = read_docstring(_docstring_of(layers))
    facts = tuple(_facts_of(parameter, parameter.name in contexts) for parameter in parameters)
    for fault in tool_faults(ToolFacts(facts, has_description=description is not None or bool(docstring.description))):
        raise declared.invalid(fault.text)
    declared.warn_of_lost_text(docstring.parameters)
    return ToolSignature(
        name=declared.name,
        description=declared.description(description, docstring.description),
        parameters=tuple(
            declared.argument(parameter, read, docstring.parameters.get(parameter.name)) for parameter in parameters if parameter.name not in contexts
        ),
        context=contexts[0] if contexts else None,
        is_async=is_async_function(fn) or any(map(isasyncgenfunction, layers)),
        returns=_returns(fn, read),
        forbid_unknown_fields=forbid_unknown_fields,
        module=str(getattr(layers[-1], "__module__", "")),
        function=str(getattr(layers[-1], "__qualname__", declared.name)),
        place=declared.place,
        yields=any(isgeneratorfunction(layer) or isasyncgenfunction(layer) for layer in layers),
    )


class _Declared(NamedTuple):
    """A function on its way to be a tool, and what opens the text of every error about it."""

    fn: Callable[..., Any]
    layers: tuple[Any, ...]
    place: str
    given_name: str | None

    @property
    def name(self) -> str:
        given = self.given_name
        if given is not None and not is_text(given):
            raise ToolInvalid(f"the name of a tool is text that UTF-8 can encode, not {given!r}", place=self.place)
        found = given if given is not None else name_of(self.fn)
        if found is None:
            raise ToolInvalid(f"{self.fn!r} has no name of its own: give the tool one, @strata_tool('name')", place=self.place)
        return found

    def invalid(self, text: str) -> ToolInvalid:
        return ToolInvalid(f"tool '{self.name}': {text}", place=self.place)

    def refuse_kind(self) -> None:
        if isclass(self.fn):
            raise self.invalid("a class is no tool: decorate a function, or a method of one of its objects")
        if not callable(self.fn):
            raise ToolInvalid(f"{self.fn!r} is no function", place=self.place)

    def parameters(self) -> tuple[Parameter, ...]:
        try:
            return parameters_of(self.fn, f"tool '{self.name}'")
        except TypeError as error:
            raise ToolInvalid(str(error), place=self.place) from error

    def description(self, given: str | None, own: str) -> str:
        found = own if given is None else given
        if not is_text(found):
            raise self.invalid(f"its description is text that UTF-8 can encode, not {found!r}")
        return found

    def warn_of_lost_text(self, said: Iterable[str]) -> None:
        """A name that is written wrong in the docstring would lose its text without a word."""
        known = tuple(dict.fromkeys(name for layer in self.layers for name in _parameter_names(layer)))
        for name in said:
            if name not in known:
                text = f"tool '{self.name}': its docstring speaks of a parameter '{name}' that it does not have{did_you_mean(name, known)}"
                warnings.warn(f"{self.place}: {text}", ToolWarning, stacklevel=3)

    def argument(self, parameter: Parameter, read: Annotations, said: str | None) -> ToolParameter:
        if (mark := _mark_of_fields(parameter.annotation, read)) is not None:
            raise self.invalid(
                f"its parameter '{parameter.name}' is annotated with {mark}, which says something of the field of a class: "
                f"annotate it with the type alone"
            )
        return ToolParameter(
            name=parameter.name,
            type=self._resolved(parameter, read),
            default=msgspec.NODEFAULT if parameter.default is Parameter.empty else parameter.default,
            description=said,
        )

    def _resolved(self, parameter: Parameter, read: Annotations) -> Any:
        where = f"tool '{self.name}': the annotation of its parameter '{parameter.name}'"
        try:
            return read.read_to_the_end(parameter.annotation)
        except NameError as error:
            raise ToolUnresolved(
                f"{where} names '{error.name}', which is not found in module {_module_of(self.layers)}: "
                f"import it there for real and not under TYPE_CHECKING, or define it outside of functions",
                place=self.place,
            ) from error
        except Exception as error:
            raise ToolInvalid(f"{where} cannot be read: {type(error).__name__}: {error}", place=self.place) from error


def _facts_of(parameter: Parameter, takes_context: bool) -> ToolParameterFacts:
    return ToolParameterFacts(parameter.name, KINDS[parameter.kind], parameter.annotation is not Parameter.empty, takes_context)


def _mark_of_fields(annotation: Any, read: Annotations) -> str | None:
    try:
        meant = read.read(annotation)
    except Exception:  # which is told where it is read to the end
        return None
    kind = InitVar if isinstance(meant, InitVar) else get_origin(meant) or meant
    return next((name for mark, name in MARKS_OF_FIELDS if kind is mark), None)


def _parameter_names(layer: Any) -> tuple[str, ...]:
    """Of one that is written in Python: those that a partial fills are among them."""
    code = getattr(layer, "__code__", None)
    return () if code is None else code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _place_of(layers: tuple[Any, ...]) -> str:
    """`file:line` of the first line of the function, which is that of its first decorator."""
    codes = (getattr(layer, "__code__", None) for layer in reversed(layers))
    code = next((code for code in codes if code is not None), None)
    return "" if code is None else f"{code.co_filename}:{code.co_firstlineno}"


def _module_of(layers: tuple[Any, ...]) -> str:
    return str(getattr(layers[-1], "__module__", "?"))


def _docstring_of(layers: tuple[Any, ...]) -> str | None:
    """The first one that somebody wrote; a partial and an object have that of their class, which says nothing of this tool."""
    written = (getattr(layer, "__doc__", None) for layer in layers if hasattr(layer, "__code__") or hasattr(layer, "__wrapped__"))
    return next((text for text in written if isinstance(text, str) and text.strip()), None)


def _returns(fn: Callable[..., Any], read: Annotations) -> Any:
    """What it is annotated to return. It never decides whether a function is a tool, so one that cannot be read is none."""
    annotation = written_signature(fn).return_annotation
    if annotation is Signature.empty:
        return None
    try:
        return read.read_to_the_end(annotation)
    except Exception:
        return None
