"""Evaluates what annotations, defaults and the bodies of classes say; whatever else stands in a source is not run."""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, Protocol

import libcst as cst
import typing_extensions

from strata.codegen.allowed import MODULES, TEXT_METHODS, is_trusted, may_call
from strata.codegen.conditions import condition_of
from strata.codegen.faults import NotRead, each, not_read, tried
from strata.codegen.names import Names
from strata.codegen.values import CalledTool, Frame, ModuleRef, Opaque, ToolDecorator, factory_unknown
from strata.project.texts import Unreadable, tree_of
from strata.rules import codes

_BINARY: Final[Mapping[type[cst.BaseBinaryOp], Callable[[Any, Any], Any]]] = {
    cst.Add: lambda left, right: left + right,
    cst.BitOr: lambda left, right: left | right,
    cst.Divide: lambda left, right: left / right,
    cst.FloorDivide: lambda left, right: left // right,
    cst.Modulo: lambda left, right: left % right,
    cst.Multiply: lambda left, right: left * right,
    cst.Power: lambda left, right: left**right,
    cst.Subtract: lambda left, right: left - right,
}
_UNARY: Final[Mapping[type[cst.BaseUnaryOp], Callable[[Any], Any]]] = {
    cst.BitInvert: lambda value: ~value,
    cst.Minus: lambda value: -value,
    cst.Not: lambda value: not value,
    cst.Plus: lambda value: +value,
}
SHOWN_OPTIONS: Final = frozenset({"name", "description", "forbid_unknown_fields"})
OTHER_OPTIONS: Final = frozenset({"approve", "timeout", "inline"})
"""Of `strata_tool`."""

_CONSTANTS: Final = {"None": None, "True": True, "False": False}
_CONTAINERS: Final = frozenset({list, tuple, dict, str})
_LONGEST: Final = 10_000
"""Of a power's exponent and of what text or a list is multiplied by: no annotation needs more."""


class RebuiltClasses(Protocol):
    """What is asked of classes that were made again from their source."""

    def attribute(self, cls: type[Any], name: str, node: cst.CSTNode, frame: Frame) -> Any:
        """What the body of such a class binds to a name."""
        ...

    def is_rebuilt(self, value: Any) -> bool:
        """Whether it is such a class."""
        ...

    def instance(self, cls: Any, args: Sequence[Any], kwargs: Mapping[str, Any], node: cst.CSTNode, frame: Frame) -> Any:
        """An instance of such a class, or what stands for one."""
        ...


class Expressions:
    """Expressions as real objects: types, constants, and instances of what was made again."""

    def __init__(self, names: Names, classes: RebuiltClasses, trusted: Collection[str]) -> None:
        self._names, self._classes, self._trusted = names, classes, trusted

    def annotation(self, node: cst.BaseExpression, frame: Frame) -> Any:
        """What an annotation means; text in it is read as the types that it names.

        Raises:
            NotRead: it cannot be told without running the module.
        """
        found = text_of(node)
        meant = self.value(node, frame) if found is None else found
        if isinstance(meant, str):
            if frame.keeps_text:
                raise not_read(f"{meant!r} is text here, which nobody reads as a type", frame.module, node, hint="take the quotes away")
            return self._quoted(meant, node, frame)
        if isinstance(meant, Opaque | ModuleRef | ToolDecorator):
            raise not_read(f"'{frame.module.code(node)}' is no type", frame.module, node)
        return meant

    def default(self, node: cst.BaseExpression, frame: Frame) -> Any:
        """The value of a default; `NotRead` where it is a live object too."""
        value = self.value(node, frame)
        if isinstance(value, Opaque | ModuleRef | ToolDecorator):
            raise not_read(f"the default '{frame.module.code(node)}' can only be told by running it", frame.module, node)
        return value

    def head(self, node: cst.BaseExpression, frame: Frame) -> Any:
        """What an annotation begins with, through `Annotated`: `ClassVar` of `ClassVar[int]`; None where that cannot be told."""
        if (text := text_of(node)) is not None:
            quoted = expression_in(text)
            return None if quoted is None else self.head(quoted, frame.postponed())
        frame = frame.as_annotation()
        try:
            match node:
                case cst.Subscript(value=base, slice=[cst.SubscriptElement(slice=cst.Index(value=first)), *_]):
                    head = self.value(base, frame)
                    return self.head(first, frame) if head in (Annotated, typing_extensions.Annotated) else head
                case cst.Name() | cst.Attribute():
                    return self.value(node, frame)
                case _:
                    return None
        except NotRead:
            return None

    def value(self, node: cst.BaseExpression, frame: Frame) -> Any:
        """What an expression gives.

        Raises:
            NotRead: it cannot be told without running the module.
        """
        match node:
            case cst.Name(value=name):
                return _CONSTANTS[name] if name in _CONSTANTS else self._names.lookup(name, node, frame)
            case cst.Attribute(value=inner, attr=attr):
                return self._attribute(self.value(inner, frame), attr.value, node, frame)
            case cst.Integer() | cst.Float() | cst.SimpleString() | cst.ConcatenatedString() if (constant := _constant(node)) is not None:
                return constant
            case cst.FormattedString(parts=parts):
                return "".join(self._part(part, node, frame) for part in parts)
            case cst.Ellipsis():
                return ...
            case cst.Subscript():
                return self._subscript(node, frame)
            case cst.Call():
                return self._call(node, frame)
            case cst.Lambda():
                return Opaque("a lambda")
            case cst.UnaryOperation() | cst.BinaryOperation() | cst.IfExp():
                return self._operation(node, frame)
            case _:
                return self._display(node, frame)

    def _display(self, node: cst.BaseExpression, frame: Frame) -> Any:
        match node:
            case cst.Tuple(elements=elements):
                return tuple(self._items(elements, frame))
            case cst.List(elements=elements):
                return self._items(elements, frame)
            case cst.Set(elements=elements):
                items = self._items(elements, frame)
                return tried(lambda: set(items), node, frame.module)
            case cst.Dict(elements=pairs):
                return tried(lambda: self._dict(pairs, frame), node, frame.module)
            case _:
                raise self._not_evaluated(node, frame)

    def _operation(self, node: cst.UnaryOperation | cst.BinaryOperation | cst.IfExp, frame: Frame) -> Any:
        match node:
            case cst.IfExp(test=test, body=body, orelse=orelse) if (known := condition_of(test)) in {"true", "false"}:
                return self.value(body if known == "true" else orelse, frame)
            case cst.UnaryOperation(operator=prefix, expression=inner):
                operand = self._plain(inner, frame)
                return tried(lambda: _UNARY[type(prefix)](operand), node, frame.module)
            case cst.BinaryOperation(left=left, operator=sign, right=right) if type(sign) in _BINARY:
                return self._binary(node, self._plain(left, frame), sign, self._plain(right, frame), frame)
            case _:
                raise self._not_evaluated(node, frame)

    def _plain(self, node: cst.BaseExpression, frame: Frame) -> Any:
        """A value that operators work on."""
        found = self.value(node, frame)
        if isinstance(found, Opaque | ModuleRef | ToolDecorator):
            raise self._not_evaluated(node, frame)
        return found

    def _binary(self, node: cst.BinaryOperation, left: Any, sign: cst.BaseBinaryOp, right: Any, frame: Frame) -> Any:
        if isinstance(sign, cst.Power | cst.Multiply) and any(isinstance(side, int) and abs(side) > _LONGEST for side in (left, right)):
            raise self._not_evaluated(node, frame)
        return tried(lambda: _BINARY[type(sign)](left, right), node, frame.module)

    def _quoted(self, text: str, node: cst.BaseExpression, frame: Frame) -> Any:
        quoted = expression_in(text)
        if quoted is None:
            raise not_read(f"{text!r} is no annotation", frame.module, node)
        try:
            return self.annotation(quoted, frame.postponed())
        except NotRead as error:
            raise error.at(node, frame.module) from None

    def _items(self, elements: Sequence[cst.BaseElement], frame: Frame) -> list[Any]:
        found: list[Any] = []
        for element in elements:
            value = self.value(element.value, frame)
            if isinstance(element, cst.StarredElement):
                found.extend(_spread_out(value, element, frame))
            else:
                found.append(value)
        return found

    def _dict(self, elements: Sequence[cst.BaseDictElement], frame: Frame) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for element in elements:
            value = self.value(element.value, frame)
            if isinstance(element, cst.DictElement):
                found[self.value(element.key, frame)] = value
            else:
                found.update(value)
        return found

    def _part(self, part: cst.BaseFormattedStringContent, node: cst.BaseExpression, frame: Frame) -> str:
        match part:
            case cst.FormattedStringText(value=text):
                return str(ast.literal_eval(f'"""{text}"""')).replace("{{", "{").replace("}}", "}")
            case cst.FormattedStringExpression(expression=inner, conversion=None, format_spec=None):
                return str(self._plain(inner, frame))
            case _:
                raise self._not_evaluated(node, frame)

    # Attributes

    def _attribute(self, value: Any, name: str, node: cst.Attribute, frame: Frame) -> Any:
        if isinstance(value, ModuleRef):
            return self._names.member(value.name, name, node, frame.module)
        if isinstance(value, enum.EnumType) and name in value.__members__:
            return value.__members__[name]
        if isinstance(value, type) and self._classes.is_rebuilt(value):
            return self._classes.attribute(value, name, node, frame)
        if self._shows(value, name):
            return getattr(value, name)
        raise self._not_evaluated(node, frame)

    def _shows(self, value: Any, name: str) -> bool:
        """Whether a real object may be asked for an attribute: it is plain data then."""
        if not hasattr(value, name):
            return False
        if isinstance(value, str):
            return name in TEXT_METHODS
        if isinstance(value, enum.Enum):
            return name in {"name", "value"}
        if self._classes.is_rebuilt(type(value)):
            return not callable(getattr(value, name))
        if isinstance(value, type) and value.__module__ in MODULES:
            return not callable(getattr(value, name))
        return is_trusted(str(getattr(value, "__module__", "")), self._trusted)

    # Subscripts

    def _subscript(self, node: cst.Subscript, frame: Frame) -> Any:
        base = self.value(node.value, frame)
        if isinstance(base, Opaque | ModuleRef | ToolDecorator):
            raise self._not_evaluated(node, frame)
        if type(base) in _CONTAINERS or base in (Literal, typing_extensions.Literal):
            arguments = self._index(node, frame, self.value)
        elif base in (Annotated, typing_extensions.Annotated):
            arguments = self._annotated(node, frame)
        else:
            arguments = self._index(node, frame, self._argument)
        index = arguments[0] if len(arguments) == 1 and not _has_comma(node) else tuple(arguments)
        return tried(lambda: base[index], node, frame.module)

    def _index(self, node: cst.Subscript, frame: Frame, read: Callable[[cst.BaseExpression, Frame], Any]) -> list[Any]:
        return [value for values in each(node.slice, lambda part: self._spread(part, frame, read)) for value in values]

    def _spread(self, part: cst.SubscriptElement, frame: Frame, read: Callable[[cst.BaseExpression, Frame], Any]) -> list[Any]:
        match part.slice:
            case cst.Index(value=cst.Tuple(elements=elements), star=None):
                return self._items(elements, frame) if read == self.value else [read(element.value, frame) for element in elements]
            case cst.Index(value=value, star=None):
                return [read(value, frame)]
            case cst.Index(value=value):
                return _spread_out(self.value(value, frame), value, frame)
            case _:
                raise self._not_evaluated(part, frame)

    def _argument(self, node: cst.BaseExpression, frame: Frame) -> Any:
        """The argument of a generic type: a type, or a list of them, or `...`."""
        if isinstance(node, cst.List):
            return [self._argument(element.value, frame) for element in node.elements]
        return self.annotation(node, frame)

    def _annotated(self, node: cst.Subscript, frame: Frame) -> list[Any]:
        """The type, and what stands beside it."""
        first, *beside = node.slice
        type_ = self._spread(first, frame, self._argument)
        notes = each(beside, lambda part: self._spread(part, frame, self.value))
        return [*type_, *(note for found in notes for note in found)]

    # Calls

    def _call(self, node: cst.Call, frame: Frame) -> Any:
        fn = self.value(node.func, frame)
        if isinstance(fn, ToolDecorator):
            return self._decorator(fn, node, frame)
        if fn is object:
            return Opaque("an object")
        origin = getattr(fn, "__origin__", fn)
        is_rebuilt = self._classes.is_rebuilt(origin)
        if isinstance(fn, Opaque | ModuleRef) or not (is_rebuilt or may_call(fn, self._trusted)):
            raise self._not_evaluated(node, frame)
        args, kwargs = self._arguments(node, frame)
        if is_rebuilt:
            return tried(lambda: self._classes.instance(fn, args, kwargs, node, frame), node, frame.module)
        return tried(lambda: fn(*args, **kwargs), node, frame.module)

    def _arguments(self, node: cst.Call, frame: Frame) -> tuple[list[Any], dict[str, Any]]:
        if any(argument.star for argument in node.args):
            raise self._not_evaluated(node, frame)
        values = each(node.args, lambda argument: self._given(argument, frame))
        args = [value for argument, value in zip(node.args, values, strict=True) if argument.keyword is None]
        kwargs = {argument.keyword.value: value for argument, value in zip(node.args, values, strict=True) if argument.keyword is not None}
        return args, kwargs

    def _given(self, argument: cst.Arg, frame: Frame) -> Any:
        if argument.keyword is None or argument.keyword.value != "default_factory":
            return self.value(argument.value, frame)
        if isinstance(argument.value, cst.Subscript):  # of `list["Item"]`, what is made does not depend on what stands in it
            return self._plain(argument.value.value, frame)
        factory = self.value(argument.value, frame)
        return factory_unknown if isinstance(factory, Opaque) else factory

    def _decorator(self, decorator: ToolDecorator, node: cst.Call, frame: Frame) -> ToolDecorator | CalledTool:
        """`strata_tool("name", ...)`. Of the options that say how a tool is called no schema says anything."""
        if decorator.is_called:
            return CalledTool("a tool")
        if any(argument.star for argument in node.args):
            raise self._not_evaluated(node, frame)
        options: dict[str, Any] = {}
        for argument in node.args:
            name = "name" if argument.keyword is None else argument.keyword.value
            if name in SHOWN_OPTIONS:
                options[name] = self.value(argument.value, frame)
            elif name not in OTHER_OPTIONS:
                raise not_read(f"strata_tool takes no '{name}'", frame.module, argument, code=codes.TOOL_INVALID)
        if isinstance(options.get("name"), Opaque):
            return CalledTool("a tool")
        return ToolDecorator(options, is_called=True)

    # Refusals

    def _not_evaluated(self, node: cst.CSTNode, frame: Frame) -> NotRead:
        return not_read(f"'{frame.module.code(node)}' can only be evaluated by running it", frame.module, node)


def text_of(node: cst.BaseExpression) -> str | None:
    """The text of a string literal."""
    if isinstance(node, cst.SimpleString | cst.ConcatenatedString) and isinstance(text := _constant(node), str):
        return text
    return None


def _constant(node: cst.Integer | cst.Float | cst.SimpleString | cst.ConcatenatedString) -> int | float | str | bytes | None:
    """Its value; None where it has none. Of plain text and digits, which most are, libcst's own way takes 60 us: it compiles them."""
    match node:
        case cst.SimpleString() if not node.prefix and "\\" not in node.value and "\r" not in node.value:
            return node.raw_value
        case cst.Integer(value=digits) if digits.isdecimal() and digits.isascii() and not digits.startswith("0"):
            return int(digits)
        case _:
            return node.evaluated_value


def expression_in(text: str) -> cst.BaseExpression | None:
    """The expression that a text is; None where it is none."""
    tree = tree_of(text, text)  # first: of what is nested too deep, libcst ends the process
    if isinstance(tree, Unreadable) or len(tree.body) != 1 or not isinstance(tree.body[0], ast.Expr):
        return None
    try:
        return cst.parse_expression(text)
    except cst.ParserSyntaxError:
        return None


def _spread_out(value: Any, node: cst.CSTNode, frame: Frame) -> list[Any]:
    return tried(lambda: list(value), node, frame.module)


def _has_comma(node: cst.Subscript) -> bool:
    return len(node.slice) > 1 or isinstance(node.slice[0].comma, cst.Comma)
