"""What is told of tools, as JSON: the schema of their arguments, their manifest, and the bytes of both."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

import msgspec

from strata.errors import ToolInvalid
from strata.graph.plain_json import plain_json
from strata.graph.storable import storable_faults
from strata.rules.tools import unreadable_argument
from strata.tools.defaults import Default
from strata.tools.endless import endless_alias
from strata.tools.kind_reading import arguments_of
from strata.tools.rich_schema import rich_schema
from strata.tools.rust_schema import NoRustTwin, rust_schema
from strata.tools.signature import ToolParameter, ToolSignature
from strata.tools.unoffered import unreadable_own_fields

Flavor: TypeAlias = Literal["json", "strata"]
"""`json` says all that is known of an argument; `strata` is what the Rust engine says of the same tool."""

Schema: TypeAlias = dict[str, Any]


def arguments_type(signature: ToolSignature) -> type[msgspec.Struct]:
    """A struct of the arguments, to decode them with; its fields have the names of the parameters, and their defaults.

    A default that could be changed (a list, an object) is a copy for each call.

    Raises:
        ToolInvalid: a type cannot be read from JSON; it says which, and what to use instead.
    """
    try:
        struct = msgspec.defstruct(
            signature.name,
            [(parameter.name, parameter.type, _field(parameter)) for parameter in signature.parameters],
            kw_only=True,
            frozen=True,
            forbid_unknown_fields=signature.forbid_unknown_fields,
            module=signature.module or None,
        )
        faults = storable_faults(struct)
    except (TypeError, ValueError, RuntimeError) as error:  # RuntimeError: names with two underscores, types without end
        raise _invalid(signature, _endless(signature) or f"its parameters cannot be read from JSON: {error}") from error
    if faults:
        told = "; ".join(unreadable_argument(fault.path.removeprefix(f"{signature.name}."), fault.reason) for fault in faults)
        raise _invalid(signature, told)
    for path, reason in unreadable_own_fields(signature.parameters):
        raise _invalid(signature, unreadable_argument(path, reason))
    return struct


def input_schema(signature: ToolSignature, flavor: Flavor = "json") -> Schema:
    """The JSON Schema of the arguments: always a plain object with `properties` and `required`.

    Raises:
        ToolInvalid: a type cannot be read from JSON, what is said of it is none, or, in the `strata` flavor, it has no twin in Rust.
    """
    arguments_type(signature)  # refuses what msgspec could not decode
    try:
        arguments = arguments_of(signature)
        schema = rich_schema(arguments) if flavor == "json" else rust_schema(arguments)
        canonical_json(schema)
    except NoRustTwin as error:
        raise _invalid(signature, f"its argument '{error.path}' has no schema in Rust: {error.reason}") from error
    except TypeError as error:  # half a surrogate pair in a text, NaN among the examples
        raise _invalid(signature, f"its schema is no JSON: {error}") from error
    return schema


def manifest_entry(signature: ToolSignature, *, flavor: Flavor = "json") -> Schema:
    """The tool's name, its description, and the schema of its arguments."""
    return {"name": signature.name, "description": signature.description, "parameters": input_schema(signature, flavor)}


def manifest(signatures: Iterable[ToolSignature], *, flavor: Flavor = "json") -> list[Schema]:
    """An entry for each, in their order."""
    return [manifest_entry(signature, flavor=flavor) for signature in signatures]


def canonical_json(value: object) -> bytes:
    """The one text of a schema or a manifest: compact UTF-8.

    Keys keep their order. It is that of declaration, in which models fill in the arguments.

    Raises:
        TypeError: it is no JSON, NaN and the infinities included.
    """
    return msgspec.json.encode(plain_json(value))


def _field(parameter: ToolParameter) -> Any:
    name = None if parameter.json_name == parameter.name else parameter.json_name
    return Default.of(parameter.default).field(name)


def _endless(signature: ToolSignature) -> str | None:
    for parameter in signature.parameters:
        if (alias := endless_alias(parameter.type)) is not None:
            return f"its argument '{parameter.name}': the alias {alias} stands inside itself, and no reader takes that: make it a class"
    return None


def _invalid(signature: ToolSignature, text: str) -> ToolInvalid:
    return ToolInvalid(f"tool '{signature.name}': {text}", place=signature.place)
