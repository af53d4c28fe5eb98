"""What our schemas and msgspec's own have in common: all but what strata-tools.md 3.5 changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast

_WORDS_ABOUT: Final = frozenset({"title", "description", "default", "examples", "discriminator", "uniqueItems", "propertyNames", "format"})


def in_common(schema: Mapping[str, Any]) -> Any:
    """Everything in its place, but for what holds itself; enums and unions in an order of their own, and nothing of what is only said."""
    return _common(schema, schema.get("$defs", {}), ())


def _common(schema: Any, definitions: Mapping[str, Any], above: tuple[str, ...]) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    said = dict(cast("Mapping[str, Any]", schema))
    if "$ref" in said:
        name = said["$ref"].removeprefix("#/$defs/")
        return f"again {name}" if name in above else _common(definitions[name], definitions, (*above, name))
    if "enum" in said:
        return {"choices": sorted(map(json.dumps, said["enum"]))}
    if "anyOf" in said:
        return _union(_options(said, definitions), definitions, above)
    common = {word: one for word, one in said.items() if word not in _WORDS_ABOUT | {"$defs", "properties", "required", "items", "prefixItems"}}
    if "format" in said:
        common.pop("pattern", None)  # which says in ours what the format leaves open
    if "properties" in said:
        common |= _object(said, definitions, above)
    if "prefixItems" in said:
        common["prefixItems"] = [_common(item, definitions, above) for item in said["prefixItems"]]
    elif "items" in said:
        common["items"] = _common(said["items"], definitions, above)
    if "additionalProperties" in common:
        common["additionalProperties"] = _common(common["additionalProperties"], definitions, above)
    return {word: one for word, one in common.items() if one != {} or word == "properties"}  # of anything at all nothing is said


def _object(said: Mapping[str, Any], definitions: Mapping[str, Any], above: tuple[str, ...]) -> dict[str, Any]:
    """A tag is in what msgspec requires, also where nothing needs it; null is told by it where it is the default."""
    properties = {
        name: _without_null(one, definitions, above) if one.get("default", "") is None else _common(one, definitions, above)
        for name, one in said["properties"].items()
    }
    required = [name for name in said.get("required", ()) if len(said["properties"].get(name, {}).get("enum", ())) != 1]
    return {"properties": dict(sorted(properties.items())), "required": sorted(required)}


def _without_null(said: Mapping[str, Any], definitions: Mapping[str, Any], above: tuple[str, ...]) -> Any:
    options = [option for option in _options(said, definitions) if option != {"type": "null"}]
    return _union(options, definitions, above)


def _options(said: Mapping[str, Any], definitions: Mapping[str, Any]) -> list[Any]:
    """The members of a union and of those inside it; the values of an enum are those of as many enums."""
    if "$ref" in said and "enum" in (meant := definitions[said["$ref"].removeprefix("#/$defs/")]):
        return _options(meant, definitions)
    if "anyOf" in said:
        return [one for option in said["anyOf"] for one in _options(option, definitions)]
    if "enum" in said:
        return [{"type": "null"} if value is None else {"enum": [value]} for value in said["enum"]]
    return [said]


def _union(options: list[Any], definitions: Mapping[str, Any], above: tuple[str, ...]) -> Any:
    choices = [json.dumps(value) for option in options for value in option.get("enum", ())]
    others = [_common(option, definitions, above) for option in options if "enum" not in option]
    if {} in others:
        return {}
    members = [*([{"choices": sorted(choices)}] if choices else []), *others]
    return members[0] if len(members) == 1 else sorted(members, key=lambda one: json.dumps(one, sort_keys=True))
