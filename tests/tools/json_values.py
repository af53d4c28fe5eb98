"""Random JSON that fits a schema of ours, and JSON that is nearly it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from random import Random
from typing import Any, Final, cast

Schema = Mapping[str, Any]

TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    "date-time-local": ("2020-01-02T03:04:05", "2020-01-02 03:04:05.5"),
    "time-local": ("03:04:05", "03:04:05.123"),
    "date-time": ("2020-01-02T03:04:05", "2020-01-02T03:04:05Z", "2020-01-02T03:04:05.123456+01:00"),
    "date": ("2020-01-02",),
    "time": ("03:04:05", "03:04:05Z"),
    "duration": ("PT1H", "P1DT0.5S", "-P2D", "P1W", "P1M", "PT1M2.5S", "PT1.5M2S"),
    "uuid": ("c6b4fd8a-8b0c-4a4c-9b9c-0e6f5f1b2a3d",),
    "decimal": ("1.50", "-3"),
    "base64": ("", "YWI="),
    "": ("", "a", "abc", "ü", "null"),
}
SCALARS: Final[tuple[Any, ...]] = (None, True, 0, 1, -7, 11, 2.5, "", "abc", "2020-01-02", "P1D", "P1M", "2020-01-02T03:04:05", "03:04:05Z", [], {})


class Values:
    """JSON values for schemas with these definitions."""

    def __init__(self, random: Random, definitions: Mapping[str, Schema]) -> None:
        self._random = random
        self._definitions = definitions

    def fitting(self, schema: Schema, depth: int = 6) -> Any:
        """A value that the schema describes; where it may be shallow it gets no deeper than that."""
        if (reference := schema.get("$ref")) is not None:
            return self.fitting(self._definitions[reference.removeprefix("#/$defs/")], depth - 1)
        if (options := schema.get("anyOf")) is not None:
            option = options[-1] if depth <= 0 else self._some(options)
            # Where integers are told of by themselves, msgspec reads none as a number.
            has_integers = option == {"type": "number"} and any(other.get("type") == "integer" for other in options)
            return 2.5 if has_integers else self.fitting(option, depth)
        if (choices := schema.get("enum")) is not None:
            return self._some(choices)
        match schema.get("type"):
            case "string":
                return self._text(schema)
            case "integer" | "number" as kind:
                return self._number(schema, whole=kind == "integer")
            case "boolean":
                return self._random.random() < 0.5
            case "array":
                return self._array(schema, depth)
            case "object":
                return self._object(schema, depth)
            case "null":
                return None
            case _:
                return deepcopy(self._some(SCALARS))

    def _text(self, schema: Schema) -> str:
        known = TEXTS["base64" if "contentEncoding" in schema else schema.get("format", "")]
        shortest, longest = schema.get("minLength", 0), schema.get("maxLength", 99)
        pattern = re.compile(schema.get("pattern", ""))
        fitting = [text for text in known if shortest <= len(text) <= longest and pattern.search(text)]
        others = (text for texts in TEXTS.values() for text in texts if pattern.search(text))  # of a format that is told in words
        found: str = self._some(fitting or list(others))
        return found

    def _number(self, schema: Schema, *, whole: bool) -> Any:
        lowest, highest = schema.get("minimum", schema.get("exclusiveMinimum", -9) + 1), schema.get("maximum", 9)
        found = self._random.randint(lowest, highest) // schema.get("multipleOf", 1) * schema.get("multipleOf", 1)
        return found if whole or self._random.random() < 0.5 else found + 0.5

    def _array(self, schema: Schema, depth: int) -> list[Any]:
        first = [self.fitting(item, depth - 1) for item in schema.get("prefixItems", ())]
        if first or ("maxItems" in schema and schema["maxItems"] == 0):
            return first[: self._random.randint(schema.get("minItems", 0), len(first))]
        count = 0 if depth <= 0 else self._random.randint(0, min(3, schema.get("maxItems", 3)))
        return [self.fitting(schema.get("items", {}), depth - 1) for _ in range(max(count, schema.get("minItems", 0)))]

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        required = schema.get("required", ())
        properties: Mapping[str, Schema] = schema.get("properties", {})
        found = {
            name: self.fitting(said, depth - 1)
            for name, said in properties.items()
            if name in required or (depth > 0 and self._random.random() < 0.6)
        }
        if "properties" not in schema and depth > 0:
            keys = self._keys(schema.get("propertyNames", {}))
            found |= {key: self.fitting(schema.get("additionalProperties", {}), depth - 1) for key in keys}
        return found

    def _keys(self, schema: Schema) -> list[str]:
        numbers = [text for text in ("0", "-12", "1.5", "2e-3", "01", "+1") if re.search(schema.get("pattern", ""), text)]
        known = schema.get("enum") or (numbers if "pattern" in schema else ["k", "key"[: schema.get("maxLength", 3)]])
        return [key for key in known if self._random.random() < 0.7]

    def nearly(self, value: Any) -> Any:
        """The value with something in it that is another, or gone."""
        copied = deepcopy(value)
        places = list(_places(copied))
        if not places:
            return deepcopy(self._some(SCALARS))
        inside, key = self._some(places)
        if self._random.random() < 0.2:
            del inside[key]
        else:
            inside[key] = deepcopy(self._some(SCALARS))
        return copied

    def _some(self, of: Any) -> Any:
        return of[self._random.randrange(len(of))]


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Everything inside, each as the object or array that it stands in and its key there."""
    return [place for key in _keys_of(value) for place in ((value, key), *_places(value[key]))]


def _keys_of(value: object) -> list[Any]:
    match value:
        case dict():
            return list(cast("dict[object, object]", value))
        case list():
            return list(range(len(cast("list[object]", value))))
        case _:
            return []
