"""Random modules of tools as source text: what they say is read by importing them, and by reading the text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final, TypeVar

T = TypeVar("T")

HEAD: Final = """\
import datetime as dt
import decimal
import enum
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, Optional, TypedDict, TypeVar, Union

import msgspec
from msgspec import Meta
from typing_extensions import Doc, NotRequired, Required
"""

IMPORTS: Final = "from strata.tools import ToolContext, strata_tool\n"

TOPMOST: Final = """\
LIMIT = 10
T = TypeVar("T")
OrderId = NewType("OrderId", str)
Cents = Annotated[int, Meta(ge=0, le=LIMIT), "in cents"]
Maybe = Optional[int]
"""


PAGE: Final = """\
class {name}(msgspec.Struct, Generic[T]):
    items: list[T]
    one: T
    cursor: Optional[str] = None
"""

TREE: Final = """\
class {name}(msgspec.Struct):
{doc}    label: str
    inside: list["{name}"] = []
    above: Optional["{name}"] = None
"""

SHAPES: Final = """\
class {name}Round(msgspec.Struct, {first}):
    radius: float


class {name}Square(msgspec.Struct, {second}):
    side: float = 1.0
"""
TAGS: Final = (
    {"first": "tag=True", "second": "tag=True"},
    {"first": "tag_field='kind', tag='round'", "second": "tag_field='kind', tag='square'"},
    {"first": "tag=1", "second": "tag=2"},
)

CLASS_DOCS: Final = (
    '    """One line."""\n',
    '    """First.\n\n      indented\n    last\n    """\n',
    '    """Documented.\n\n    Attributes:\n        label: its label.\n        more (list[int]): all\n            the rest.\n    """\n',
)

TOOL: Final = """\
{decorator}
{how}def {name}({parameters}) -> {returns}:
{doc}    ...
"""
TOOL_DOC: Final = '    """{text}\n{parameters}    """\n'
DESCRIPTION: Final = "Do it: now.\n\n    With more words,\n    on two lines.\n\n    - and\n    - a list"


@dataclass(frozen=True)
class Written:
    """A type as it is written in an annotation.

    Attributes:
        text: the annotation.
        json: the JSON that it is: a type's name, `null` among them, `any`, or `union`.
        defaults: values that it may have.
        is_hashable: it may be in a set, and be the key of a dict.
        is_quoted: it cannot be an operand of `|` where annotations are evaluated.
    """

    text: str
    json: str
    defaults: tuple[str, ...] = ()
    is_hashable: bool = False
    is_quoted: bool = False


SCALARS: Final = (
    Written("str", "string", ("''", "'d'", "'it\\'s \"ü\"'"), is_hashable=True),
    Written("int", "integer", ("0", "-3", "5"), is_hashable=True),
    Written("float", "number", ("0.5", "1.0", "2"), is_hashable=True),
    Written("bool", "boolean", ("True", "False"), is_hashable=True),
    Written("bytes", "string", ("b''", "b'xy'"), is_hashable=True),
    Written("dt.datetime", "string", ("dt.datetime(2020, 1, 2, 3, 4, 5)",), is_hashable=True),
    Written("dt.date", "string", ("dt.date(2020, 1, 2)",), is_hashable=True),
    Written("dt.time", "string", is_hashable=True),
    Written("Annotated[dt.datetime, Meta(tz=True)]", "string", is_hashable=True),
    Written("Annotated[dt.time, Meta(tz=False)]", "string", is_hashable=True),
    Written("dt.timedelta", "string", ("dt.timedelta(hours=1)",), is_hashable=True),
    Written("uuid.UUID", "string", is_hashable=True),
    Written("decimal.Decimal", "string", ("decimal.Decimal('1.50')",), is_hashable=True),
    Written("OrderId", "string", ("OrderId('o-1')",), is_hashable=True),
    Written("Cents", "integer", ("0", "7"), is_hashable=True),
)
LITERALS: Final = (
    Written("Literal['b', 'a']", "string", ("'a'",), is_hashable=True),
    Written("Literal['x']", "string", ("'x'",), is_hashable=True),
    Written("Literal[3, 1, -2]", "integer", ("1",), is_hashable=True),
)


class Author:
    """Writes one module; the same random numbers give the same text."""

    def __init__(
        self, random: Random, *, decorator: str = "@strata_tool", imports: str = "from strata.tools import ToolContext, strata_tool\n"
    ) -> None:
        self._random = random
        self._decorator = decorator
        self._imports = imports
        self._postponed = random.random() < 0.6
        self._classes: list[Written] = []
        self._generic: list[str] = []
        self._tagged: list[str] = []
        self.tools: list[str] = []

    def module(self) -> str:
        """The text of a module with one to three tools, whose names are in `tools` then."""
        parts = [*(["from __future__ import annotations\n"] if self._postponed else []), HEAD, self._imports, TOPMOST]
        parts += [self._some(self._class_writers())(f"Kind{number}") for number in range(self._random.randint(1, 5))]
        parts += [self._tool(f"tool{number}") for number in range(self._random.randint(1, 3))]
        return "\n\n".join(parts)

    def package(self, name: str) -> dict[str, str]:
        """The files of a package of two modules: `tools.py` takes most classes, and all that stands on top, from `models.py`."""
        opening = "from __future__ import annotations\n" if self._postponed else ""
        models = [opening + HEAD, TOPMOST, *self._some_classes(1, 5, "Kind")]
        shared = ["LIMIT", "T", "OrderId", "Cents", "Maybe"]
        imports = self._imports_from(name, shared)
        tools = [opening + HEAD, self._imports, imports, *self._some_classes(0, 2, "Local")]
        tools += [self._tool(f"tool{number}") for number in range(self._random.randint(1, 3))]
        return {f"{name}/__init__.py": "", f"{name}/models.py": "\n\n".join(models), f"{name}/tools.py": "\n\n".join(tools)}

    def _some_classes(self, fewest: int, most: int, name: str) -> list[str]:
        return [self._some(self._class_writers())(f"{name}{number}") for number in range(self._random.randint(fewest, most))]

    def _imports_from(self, name: str, shared: list[str]) -> str:
        """One of the ways in which a module takes names from another; what it calls the classes is what annotations say from here on."""
        classes = [one.text for one in self._classes] + self._generic + self._tagged
        form = self._some(("names", "names", "star", "module", "dotted"))
        match form:
            case "names":
                module = self._some((f"{name}.models", ".models"))
                return f"from {module} import {', '.join([*shared, *classes])}\n"
            case "star":
                return "from .models import *\n"
            case _:
                prefix = "mm." if form == "module" else f"{name}.models."
                self._classes = [_prefixed(one, prefix) for one in self._classes]
                self._generic = [f"{prefix}{one}" for one in self._generic]
                self._tagged = [f"{prefix}{one}" for one in self._tagged]
                own = "from . import models as mm\n" if form == "module" else f"import {name}.models\n"
                return f"{own}from .models import {', '.join(shared)}\n"

    # Types

    def type(self, depth: int = 3) -> Written:
        writers: list[Callable[[int], Written]] = [self._leaf]
        if depth > 0:
            writers += [self._list, self._dict, self._optional, self._union, self._tuple, self._set, self._annotated, self._class_use, self._leaf]
        return self._some(writers)(depth)

    def _leaf(self, _depth: int) -> Written:
        return self._some((*SCALARS, *LITERALS, *self._classes, Written("Any", "any"), Written("Maybe", "union", ("None",))))

    def _list(self, depth: int) -> Written:
        item = self.type(depth - 1)
        form = self._some(("list[{}]", "Sequence[{}]", "tuple[{}, ...]"))
        default = "()" if form.startswith("tuple") else "[]"
        return Written(form.format(item.text), "array", (default,))

    def _dict(self, depth: int) -> Written:
        key = self._some(("str", "str", "str", "int", "float", "Literal['k', 'j']", "Annotated[str, Meta(max_length=3)]"))
        value = self.type(depth - 1)
        return Written(self._some(("dict[{}, {}]", "Mapping[{}, {}]")).format(key, value.text), "object", ("{}",))

    def _optional(self, depth: int) -> Written:
        inner = self.type(depth - 1)
        if inner.json in {"any", "union"} or inner.is_quoted:
            return inner
        return Written(self._some(("Optional[{}]", "{} | None", "Union[None, {}]")).format(inner.text), "union", ("None", "None", *inner.defaults))

    def _union(self, depth: int) -> Written:
        """Of members that JSON tells apart, in any order."""
        found: dict[str, Written] = {}
        for _ in range(self._random.randint(2, 4)):
            member = self.type(depth - 1)
            if member.json not in {"any", "union"} and not member.is_quoted:
                found.setdefault(member.json, member)
        if self._tagged and "object" not in found and self._random.random() < 0.5:
            members = [*(member.text for member in found.values()), *self._tagged]
            return Written(f"Union[{', '.join(members)}]", "union")
        if len(found) < 2:
            return self._leaf(0)
        written = [member.text for member in found.values()]
        return Written(" | ".join(written), "union", next(iter(found.values())).defaults)

    def _tuple(self, depth: int) -> Written:
        items = [self.type(depth - 1).text for _ in range(self._random.randint(1, 3))]
        return Written(f"tuple[{', '.join(items)}]", "array")

    def _set(self, _depth: int) -> Written:
        item = self._some([one for one in (*SCALARS, *LITERALS, *self._classes) if one.is_hashable])
        return Written(self._some(("set[{}]", "frozenset[{}]")).format(item.text), "array")

    def _annotated(self, depth: int) -> Written:
        inner = self.type(depth - 1)
        notes = [self._some(("'some text'", "Doc('documented')", "Meta(description='described')", "Meta(title='T', examples=[1, 'b'])", "object"))]
        match inner.text:
            case "int":
                notes.append(self._some(("Meta(ge=1)", "Meta(gt=-5, le=LIMIT)", "Meta(multiple_of=2)")))
            case "str":
                notes.append(self._some(("Meta(min_length=1)", "Meta(max_length=5, description='short')", "Meta(pattern='^[a-z]*$')")))
            case text if inner.json == "array" and text.startswith(("list[", "set[")):
                notes.append("Meta(max_length=3)")
            case _:
                pass
        self._random.shuffle(notes)
        return Written(f"Annotated[{inner.text}, {', '.join(notes)}]", inner.json, is_quoted=inner.is_quoted)

    def _class_use(self, depth: int) -> Written:
        if self._generic and self._random.random() < 0.4:
            return Written(f"{self._some(self._generic)}[{self.type(depth - 1).text}]", "object")
        if not self._classes:
            return self._leaf(0)
        used = self._some(self._classes)
        if self._random.random() < 0.2:
            return Written(f'"{used.text}"', used.json, is_quoted=True)
        return used

    # Classes

    def _class_writers(self) -> Sequence[Callable[[str], str]]:
        return (
            *(self._struct, self._struct, self._dataclass, self._typed_dict, self._named_tuple),
            *(self._enum, self._int_enum, self._generic_struct, self._tree, self._shapes, self._child),
            *((self._newer_struct, self._alias) if sys.version_info >= (3, 12) else ()),
        )

    def _struct(self, name: str) -> str:
        options = ", ".join(
            ["msgspec.Struct", *self._few(("rename='camel'", "forbid_unknown_fields=True", "frozen=True", "omit_defaults=True")), "kw_only=True"]
        )
        more = self._few(("    more: list[int] = []\n", "    by_key: dict[str, int] = msgspec.field(default_factory=dict)\n"))
        other = self._few(("    renamed: str = msgspec.field(name='other-name', default='q')\n",))
        text = f"class {name}({options}):\n{self._class_doc()}{self._fields()}{''.join((*more, *other))}"
        self._classes.append(Written(name, "object"))
        return text

    def _dataclass(self, name: str) -> str:
        options = self._some(("", "(frozen=True)", "(slots=True)", "(kw_only=True)"))
        more = self._few(("    more: list[str] = field(default_factory=list)\n", "    last: int = field(default=3)\n"))
        text = f"@dataclass{options}\nclass {name}:\n{self._class_doc()}{self._fields(defaults_last=True)}{''.join(more)}"
        self._classes.append(Written(name, "object"))
        return text

    def _typed_dict(self, name: str) -> str:
        base = self._some(("TypedDict", "TypedDict, total=False"))
        more = self._few(("    maybe: NotRequired[int]\n", "    surely: Required[Annotated[str, 'said']]\n"))
        text = f"class {name}({base}):\n{self._class_doc()}{self._fields(with_defaults=False)}{''.join(more)}"
        self._classes.append(Written(name, "object"))
        return text

    def _named_tuple(self, name: str) -> str:
        text = f"class {name}(NamedTuple):\n{self._class_doc()}{self._fields(defaults_last=True)}"
        self._classes.append(Written(name, "array"))
        return text

    def _enum(self, name: str) -> str:
        base = self._some(("enum.Enum", "str, enum.Enum", "enum.StrEnum"))
        alias = self._few(("    ALIAS = 'z-first'\n",))
        text = f"class {name}({base}):\n{self._class_doc()}    Z = 'z-first'\n    A = 'a'\n{''.join(alias)}"
        self._classes.append(Written(name, "string", (f"{name}.A", f"{name}.Z"), is_hashable=True))
        return text

    def _int_enum(self, name: str) -> str:
        text = f"class {name}(enum.IntEnum):\n    HIGH = {self._some(('9', 'enum.auto()'))}\n    LOW = {self._some(('3', 'enum.auto()'))}\n"
        self._classes.append(Written(name, "integer", (f"{name}.LOW",), is_hashable=True))
        return text

    def _generic_struct(self, name: str) -> str:
        self._generic.append(name)
        return PAGE.format(name=name)

    def _newer_struct(self, name: str) -> str:
        self._generic.append(name)
        return f"class {name}[Item](msgspec.Struct):\n    items: list[Item]\n    one: Item\n"

    def _alias(self, name: str) -> str:
        aliased = self.type(2)
        self._classes.append(Written(name, aliased.json))
        return f"type {name} = {aliased.text}\n"

    def _tree(self, name: str) -> str:
        """It holds itself, by a quoted name."""
        self._classes.append(Written(name, "object"))
        return TREE.format(name=name, doc=self._class_doc())

    def _shapes(self, name: str) -> str:
        """Two that a tag tells apart."""
        self._tagged = [f"{name}Square", f"{name}Round"]
        return SHAPES.format(name=name, **self._some(TAGS))

    def _child(self, name: str) -> str:
        text = f"class {name}Above(msgspec.Struct, kw_only=True):\n{self._fields()}\n\nclass {name}({name}Above, kw_only=True):\n    own: int = 1\n"
        self._classes.append(Written(name, "object"))
        return text

    def _fields(self, *, with_defaults: bool = True, defaults_last: bool = False) -> str:
        fields = [(f"{word}_{number}", self.type(2)) for number, word in enumerate(self._words(self._random.randint(1, 4)))]
        written = [(name, kind, self._default(kind) if with_defaults and self._random.random() < 0.4 else None) for name, kind in fields]
        if defaults_last:
            written.sort(key=lambda one: one[2] is not None)
        return "".join(f"    {name}: {kind.text}{'' if default is None else f' = {default}'}\n" for name, kind, default in written)

    def _default(self, kind: Written) -> str | None:
        """One that any class with fields takes: none that can be changed."""
        known = [default for default in kind.defaults if default not in {"[]", "{}"}]
        return self._some(known) if known else None

    def _class_doc(self) -> str:
        return self._some(("", *CLASS_DOCS))

    # Tools

    def _tool(self, name: str) -> str:
        self.tools.append(name)
        parameters = [(f"{word}_{number}", self.type()) for number, word in enumerate(self._words(self._random.randint(0, 5)))]
        parameters += [("class_", kind) for kind in self._few((SCALARS[0],))]
        written = [(word, kind.text, self._tool_default(kind)) for word, kind in parameters]
        written.sort(key=lambda one: one[2] is not None)
        told = [f"{word}: {kind}{'' if default is None else f' = {default}'}" for word, kind, default in written]
        match self._random.randrange(6):
            case 0:
                told.insert(0, "ctx: ToolContext")
            case 1:
                told += ["*", "context: ToolContext"]
            case _:
                pass
        return TOOL.format(
            decorator=self._decorator,
            how=self._some(("", "async ")),
            name=name,
            parameters=", ".join(told),
            returns=self._some(("int", "str", "None")),
            doc=self._tool_doc([word for word, _, _ in written]),
        )

    def _tool_default(self, kind: Written) -> str | None:
        return self._some(kind.defaults) if kind.defaults and self._random.random() < 0.5 else None

    def _tool_doc(self, names: Sequence[str]) -> str:
        said = [name for name in names if self._random.random() < 0.8]
        style = self._some((self._google, self._numpy, self._sphinx)) if said else self._plain
        return TOOL_DOC.format(text=self._some(("Do it.", DESCRIPTION)), parameters=style(said))

    def _plain(self, _names: Sequence[str]) -> str:
        return ""

    def _google(self, names: Sequence[str]) -> str:
        kind = ("", " (int)", " (dict[str, list[int]], optional)")
        entries = "".join(f"        {name}{self._some(kind)}: about {name}:\n            more of it.\n" for name in names)
        return f"\n    {self._some(('Args', 'Arguments', 'Keyword Args'))}:\n{entries}\n    Returns:\n        this: that.\n"

    def _numpy(self, names: Sequence[str]) -> str:
        entries = "".join(f"    {name}{self._some(('', ' : int', ' : list of int, optional'))}\n        about {name}\n" for name in names)
        return f"\n    Parameters\n    ----------\n{entries}\n    Returns\n    -------\n    int\n        that\n"

    def _sphinx(self, names: Sequence[str]) -> str:
        entries = "".join(f"    :param {self._some(('', 'int '))}{name}: about {name}\n        more of it\n" for name in names)
        return f"\n{entries}    :returns: that\n    :raises ValueError: never\n"

    # Chances

    def _words(self, count: int) -> list[str]:
        return [self._some(("order", "Max_size", "note", "q", "camelCase", "when")) for _ in range(count)]

    def _few(self, of: Sequence[T]) -> list[T]:
        return [one for one in of if self._random.random() < 0.4]

    def _some(self, of: Sequence[T]) -> T:
        return of[self._random.randrange(len(of))]


def _prefixed(written: Written, prefix: str) -> Written:
    """A class, as a module calls it that did not import its name."""
    defaults = tuple(f"{prefix}{default}" for default in written.defaults)
    return replace(written, text=f"{prefix}{written.text}", defaults=defaults)
