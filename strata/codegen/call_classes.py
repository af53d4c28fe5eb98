"""The text of a struct for the calls of a tool."""

from __future__ import annotations

import builtins
import datetime
import decimal
import enum
import re
import uuid
from collections.abc import Iterable, Iterator
from typing import Any, Final, cast

import libcst as cst
import msgspec

from strata.codegen.qualifying import Qualifier
from strata.codegen.reading import SourceTool
from strata.tools.signature import ToolParameter

_FIXED: Final = (type(None), bool, int, float, str, bytes, enum.Enum, datetime.date, datetime.time, datetime.timedelta, decimal.Decimal, uuid.UUID)
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\"}


def class_names(tools: Iterable[str], taken: Iterable[str]) -> list[str]:
    """A name of a class for each tool: `K8sPods` for `k8s.pods`."""
    used = {*taken, *dir(builtins)}
    names: list[str] = []
    for tool in tools:
        words = re.findall(r"[^\W_]+", tool)
        name = "".join(word[:1].upper() + word[1:] for word in words) or "Tool"
        name = name if name.isidentifier() else f"Tool{name}"
        numbered = next(one for one in _numbered(name) if one not in used)
        used.add(numbered)
        names.append(numbered)
    return names


def class_text(name: str, tool: SourceTool, qualifier: Qualifier) -> str:
    """The struct: a field for each parameter, with its type and its default."""
    fields = [_field(parameter, tool, qualifier) for parameter in tool.signature.parameters]
    body = "\n".join([f"    {docstring(tool.signature.description)}", *(["", *fields] if fields else [])])
    tag = text_literal(tool.signature.name)
    return f'class {name}(msgspec.Struct, frozen=True, kw_only=True, tag_field="$tool", tag={tag}):\n{body}'


def text_literal(text: str) -> str:
    """The text in double quotes."""
    return f'"{_escaped(text)}"'


def docstring(text: str) -> str:
    """The text as a docstring, its lines indented as a class's."""
    lines = text.splitlines() or [""]
    return '"""' + "\n".join([_escaped(lines[0]), *(f"    {_escaped(line)}".rstrip() for line in lines[1:])]) + ('\n    """' if lines[1:] else '"""')


def _field(parameter: ToolParameter, tool: SourceTool, qualifier: Qualifier) -> str:
    written = next(param for param in _parameters(tool.node.params) if param.name.value == parameter.name)
    annotation = qualifier.annotation(cst.ensure_type(written.annotation, cst.Annotation).annotation, tool.module)
    default = None if written.default is None else qualifier.value(written.default, tool.module)
    value = _value(parameter, default)
    return f"    {parameter.name}: {annotation}{'' if value is None else f' = {value}'}"


def _value(parameter: ToolParameter, default: str | None) -> str | None:
    """What stands behind the `=` of the field; a default that could be changed is made anew for each call."""
    name = "" if parameter.json_name == parameter.name else f"name={text_literal(parameter.json_name)}"
    if default is None:
        return f"msgspec.field({name})" if name else None
    value, text = _plain(parameter.default, default)
    if isinstance(value, type(msgspec.field())):  # written as a call of `msgspec.field`
        return f"{text[:-1]}, {name})" if name else text
    if _is_fixed(value) or value in ([], {}, set()):  # msgspec makes empty ones anew itself
        return f"msgspec.field(default={text}, {name})" if name else text
    return f"msgspec.field(default_factory=lambda: {default}{f', {name}' if name else ''})"


def _plain(value: Any, text: str) -> tuple[Any, str]:
    """A default, and how it is written; `msgspec.field(default_factory=list)` as `[]`, of which checkers know the items."""
    match getattr(value, "default_factory", None):
        case kind if kind is list:
            return [], "[]"
        case kind if kind is dict:
            return {}, "{}"
        case _:
            return value, text


def _is_fixed(value: Any) -> bool:
    if isinstance(value, tuple | frozenset):
        return all(map(_is_fixed, cast("Iterable[Any]", value)))
    return isinstance(value, _FIXED)


def _parameters(params: cst.Parameters) -> Iterator[cst.Param]:
    yield from (*params.posonly_params, *params.params, *params.kwonly_params)


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}{number}"
        number += 1


def _escaped(text: str) -> str:
    """As it stands between double quotes."""
    return "".join(_ESCAPES.get(char, char) if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
