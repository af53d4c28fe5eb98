"""Schemas in the strict forms of providers, under which a model cannot give anything else; or why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

import msgspec

from strata.tools.providers.limits import beyond_openai

Schema: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Strict:
    """The strict form."""

    schema: Schema


@dataclass(frozen=True, slots=True)
class NotStrict:
    """There is none that takes all that the schema takes; `reasons` name the arguments (`lines[].extra`) and what to do."""

    reasons: tuple[str, ...]

    @property
    def reason(self) -> str:
        return "; ".join(self.reasons)


def openai_strict(schema: Mapping[str, Any]) -> Strict | NotStrict:
    """As OpenAI takes it with `strict: true`: closed, all required.

    What was not required may be null, which means the default: `without_default_nulls` understands that.
    """
    form = strict_form(schema, OPENAI)
    if isinstance(form, Strict) and (beyond := beyond_openai(form.schema)):
        return NotStrict(beyond)
    return form


def anthropic_strict(schema: Mapping[str, Any]) -> Strict | NotStrict:
    """As Anthropic takes it with `strict: true`: closed, without types that hold themselves."""
    return strict_form(schema, ANTHROPIC)


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a provider reads of a schema.

    Attributes:
        limits: keywords that stay where they are, by the type of the value. What else is said of it goes into its description, for the model to read.
        formats: of texts.
        fewest_items: what `minItems` may ask for, if anything; None: any number.
        requires_all: every property is required; what was not takes null.
        types_enums: an enum has a type beside it.
        takes_cycles: a type may hold itself.
    """

    limits: Mapping[str, frozenset[str]]
    formats: frozenset[str]
    fewest_items: tuple[int, ...] | None
    requires_all: bool
    types_enums: bool
    takes_cycles: bool


_NUMERIC: Final = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_FORMATS: Final = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})

OPENAI: Final = Dialect(
    limits={
        "string": frozenset({"pattern", "format"}),
        "integer": _NUMERIC,
        "number": _NUMERIC,
        "array": frozenset({"minItems", "maxItems"}),
    },
    formats=_FORMATS,
    fewest_items=None,
    requires_all=True,
    types_enums=True,
    takes_cycles=True,
)
ANTHROPIC: Final = Dialect(
    limits={"string": frozenset({"format"}), "array": frozenset({"minItems"})},
    formats=_FORMATS | {"uri"},
    fewest_items=(0, 1),
    requires_all=False,
    types_enums=False,
    takes_cycles=False,
)


def strict_form(schema: Mapping[str, Any], dialect: Dialect) -> Strict | NotStrict:
    """The schema of a tool's arguments in a strict form of that dialect."""
    if schema.get("type") != "object" or not isinstance(schema.get("properties"), Mapping):
        return NotStrict(("the arguments as a whole are no object with named properties",))
    tightening = _Tightening(dialect, schema.get("$defs", {}))
    root = tightening.schema({word: said for word, said in schema.items() if word != "$defs"}, "")
    if tightening.reasons:
        return NotStrict(tuple(dict.fromkeys(tightening.reasons)))
    return Strict({**root, "$defs": tightening.named} if tightening.named else root)


_TITLES: Final = ("title", "description")
_SHAPES: Final = frozenset({"type", "properties", "required", "additionalProperties", "items", "anyOf", "oneOf", "enum", "const", "$ref", "$defs"})
"""What a schema is made of, and this knows how to tighten."""
_SILENT: Final = frozenset({"discriminator", "$schema", "$id", "$comment"})
"""What says nothing to a model."""
_TOO_MUCH: Final[Mapping[str, str]] = {
    "prefixItems": "a tuple, whose places differ: take a list of one type, or an object with a name for each place",
    **dict.fromkeys(("propertyNames", "patternProperties"), "an object with any names: name its fields, or take a list of pairs"),
    **dict.fromkeys(
        ("allOf", "not", "if", "then", "else", "dependentSchemas", "dependentRequired", "contains", "unevaluatedProperties", "$dynamicRef"),
        "a condition that no strict form has: say it in words",
    ),
}
_ANYTHING: Final = "anything at all: say of what type it is"
_OPEN: Final = "an object with any names: name its fields in a class, or take a list of pairs"


class _Tightening:
    """A schema on its way to a strict form.

    Attributes:
        named: the strict forms of the `$defs` that are still referred to.
        reasons: why there is none.
    """

    def __init__(self, dialect: Dialect, definitions: object) -> None:
        self._dialect = dialect
        self._definitions = cast("Mapping[str, object]", definitions) if isinstance(definitions, Mapping) else dict[str, object]()
        self.named: dict[str, Schema] = {}
        self.reasons: list[str] = []

    def schema(self, schema: object, path: str) -> Schema:
        if not isinstance(schema, Mapping):
            return self._refused(path, _ANYTHING)
        known = cast("Mapping[str, Any]", schema)
        if (refused := next((why for word, why in _TOO_MUCH.items() if word in known), None)) is not None:
            return self._refused(path, refused)
        if "$ref" in known:
            return self._reference(known, path)
        if isinstance(known.get("type"), list):
            return self._one_of([_of_type(known, kind) for kind in known["type"]], _titles(known), path)
        for union in ("anyOf", "oneOf"):
            if isinstance(known.get(union), list):
                return self._one_of(known[union], _about(known), path)
        return self._plain(known, path)

    def _plain(self, schema: Mapping[str, Any], path: str) -> Schema:
        about = _about(schema)
        if "enum" in schema or "const" in schema:
            return self._told(self._choices(schema), about)
        match schema.get("type"):
            case "object":
                return self._told(self._object(schema, path), about)
            case "array" if isinstance(schema.get("items"), Mapping):
                return self._told({"type": "array", "items": self.schema(schema["items"], f"{path}[]")}, about)
            case "array":
                return self._refused(f"{path}[]", _ANYTHING)
            case "string" | "integer" | "number" | "boolean" | "null" as kind:
                return self._told({"type": kind}, about)
            case _:
                return self._refused(path, _ANYTHING)

    def _choices(self, schema: Mapping[str, Any]) -> Schema:
        choices = {"enum": list(schema["enum"])} if "enum" in schema else {"enum": [schema["const"]]}
        return {"type": schema["type"], **choices} if self._dialect.types_enums and "type" in schema else choices

    def _object(self, schema: Mapping[str, Any], path: str) -> Schema:
        properties = schema.get("properties")
        if not isinstance(properties, Mapping) or schema.get("additionalProperties", False) is not False:
            return self._refused(path, _OPEN)
        required: Any = schema.get("required", [])
        strict = {name: self.schema(said, f"{path}.{name}".removeprefix(".")) for name, said in cast("Mapping[str, Any]", properties).items()}
        if self._dialect.requires_all:
            strict = {name: said if name in required else or_null(said) for name, said in strict.items()}
            required = list(strict)
        return {"type": "object", "properties": strict, "required": list(required), "additionalProperties": False}

    def _one_of(self, members: list[object], about: Schema, path: str) -> Schema:
        return self._told({"anyOf": [self.schema(member, path) for member in members]}, about)

    def _reference(self, schema: Mapping[str, Any], path: str) -> Schema:
        name = str(schema["$ref"]).removeprefix("#/$defs/")
        if not isinstance(self._definitions.get(name), Mapping):
            return self._refused(path, f"a reference to {schema['$ref']}, which is not found")
        if not self._dialect.takes_cycles and self._holds(name, name):
            return self._refused(path, f"of type {name}, which holds itself: give each level a type of its own")
        if name not in self.named:
            self.named[name] = {}  # its place, before those that stand inside it
            self.named[name] = self.schema(self._definitions[name], path)
        reference = {"$ref": f"#/$defs/{name}"}
        about = _about(schema)
        return self._told({"anyOf": [reference]}, about) if about else reference  # beside a reference itself nothing may stand

    def _holds(self, name: str, wanted: str) -> bool:
        """Whether something inside the definition refers to `wanted`, at any depth."""
        seen: set[str] = set()
        ahead = [name]
        while ahead:
            inside = set(_references(self._definitions.get(ahead.pop()))) - seen
            if wanted in inside:
                return True
            seen |= inside
            ahead += inside
        return False

    def _told(self, strict: Schema, about: Schema) -> Schema:
        """With what is said of the values: as keywords that the provider reads, else as words of the description."""
        kept = {word: said for word, said in about.items() if self._reads(word, said, strict.get("type"))}
        words = ", ".join(f"{word}: {msgspec.json.encode(said).decode()}" for word, said in about.items() if word not in kept)
        if words:
            kept["description"] = "\n\n".join(filter(None, (about.get("description"), f"{{{words}}}")))
        return {**strict, **kept}

    def _reads(self, word: str, said: object, kind: str | None) -> bool:
        if word in _TITLES:
            return True
        if kind is None or word not in self._dialect.limits.get(kind, ()):
            return False
        match word:
            case "format":
                return said in self._dialect.formats
            case "minItems":
                return self._dialect.fewest_items is None or said in self._dialect.fewest_items
            case _:
                return True

    def _refused(self, path: str, why: str) -> Schema:
        self.reasons.append(f"argument '{path}' is {why}")
        return {}


def or_null(schema: Schema) -> Schema:
    """The schema of the same values, and null."""
    null: Schema = {"type": "null"}
    members = schema.get("anyOf")
    if members is None:
        return {"anyOf": [schema, null]}
    return schema if null in members else {**schema, "anyOf": [*members, null]}


def _about(schema: Mapping[str, Any]) -> Schema:
    return {word: said for word, said in schema.items() if word not in _SHAPES | _SILENT}


def _titles(schema: Mapping[str, Any]) -> Schema:
    return {word: said for word, said in schema.items() if word in _TITLES}


def _of_type(schema: Mapping[str, Any], kind: object) -> Schema:
    """What the schema says of values of one of its types."""
    if kind == "null":
        return {"type": "null"}
    return {**{word: said for word, said in schema.items() if word not in _TITLES}, "type": kind}


def _references(schema: object) -> Iterator[str]:
    match schema:
        case dict():
            known = cast("Schema", schema)
            if isinstance(known.get("$ref"), str):
                yield known["$ref"].removeprefix("#/$defs/")
            for said in known.values():
                yield from _references(said)
        case list():
            for said in cast("list[object]", schema):
                yield from _references(said)
        case _:
            return
