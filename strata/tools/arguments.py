"""The arguments of a call, read from what a model sent; or why they cannot be (strata-tools.md 6)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

import msgspec
from msgspec.structs import astuple

from strata.errors import ToolArgumentParseFailure, ToolExecutionFailure
from strata.graph.nesting import depth_of
from strata.graph.plain_json import plain_json
from strata.graph.shapes import HIGHEST_INTEGER, LOWEST_INTEGER, RECORD_DEPTH
from strata.tools.duplicates import name_given_twice
from strata.tools.explaining import words_for
from strata.tools.kind_reading import arguments_of
from strata.tools.problems import argument_problems
from strata.tools.providers import without_default_nulls
from strata.tools.schema import arguments_type, input_schema
from strata.tools.signature import ToolParameter, ToolSignature
from strata.tools.unoffered import has_own_fields, without_own_fields

PLAIN: Final = (str, int, float, type(None))
"""Defaults of which there is one object, so that a field that was not given can be told from another value."""

NO_INTEGERS: Final = frozenset({str, bool, float, type(None)})
"""Types none of whose values holds an integer."""

SHORTEST_TOO_DEEP: Final = 2 * (RECORD_DEPTH + 1)


class ArgumentReader:
    """Of one tool.

    Attributes:
        type: the struct that `read` gives; its fields are the parameters.
    """

    def __init__(self, signature: ToolSignature) -> None:
        """Raises ToolInvalid: there is a parameter that cannot be read from JSON."""
        self.type = arguments_type(signature)
        self._signature = signature
        self._decode = _decoder(self.type, signature)
        defaults = [parameter.default for parameter in signature.parameters]
        self._needed = defaults.count(msgspec.NODEFAULT)
        self._defaults = tuple((place, default) for place, default in enumerate(defaults) if isinstance(default, PLAIN))
        self._integers = _places_of_integers(signature.parameters)

    def read(self, raw: str) -> msgspec.Struct:
        """The arguments, each of the type that it is declared with.

        Raises:
            ToolArgumentParseFailure: they are none of the tool's; the text is for the model.
            ToolExecutionFailure: the `__post_init__` of a class among their types raised what says nothing of its arguments.
            TypeError: they are no text.
        """
        return self.struct_of(self.values(raw))

    def struct_of(self, values: tuple[Any, ...]) -> msgspec.Struct:
        """The arguments whose values these are."""
        return self.type(**dict(zip(self.type.__struct_fields__, values, strict=True)))

    def shown(self, values: tuple[Any, ...]) -> dict[str, Any]:
        """The arguments by their names in JSON, without those whose default is none that JSON has."""
        parameters = self._signature.parameters
        return {
            parameter.json_name: value
            for parameter, value in zip(parameters, values, strict=True)
            if value is not parameter.default or parameter.json_name not in self._unseen
        }

    def values(self, raw: str) -> tuple[Any, ...]:
        """The arguments in the order of the parameters; raises as `read` does.

        A text with as many colons as arguments were given names each of them once, and nothing else: to count takes 0.3 us, to
        look for doubles 0.4 at the least.
        """
        try:
            values, colons = astuple(self._decode(raw)), raw.count(":")
        except (ValueError, RecursionError, TypeError) as error:  # a ValueError is what all faults of msgspec and of UTF-8 are
            values, colons = astuple(self._read_without_nulls(raw, error)), raw.count(":")
        except Exception as error:
            raise self._fault_of_class(error) from error
        given = self._needed
        for place, default in self._defaults:
            if values[place] is not default:  # one that is as its default may not have been given
                given += 1
        if colons != given:
            self._refuse_doubles(raw)
        for place in self._integers or ():
            if not LOWEST_INTEGER <= values[place] <= HIGHEST_INTEGER and values[place] is not self._signature.parameters[place].default:
                raise self._failure(raw, OverflowError())
        if self._integers is None or len(raw) >= SHORTEST_TOO_DEEP:
            self._refuse_what_others_do(raw, values)
        return values

    def _refuse_doubles(self, raw: str) -> None:
        """Of two values of one name the decoder takes the last, and others the first."""
        try:
            twice = name_given_twice(raw)
        except (ValueError, RecursionError) as error:
            raise self._failure(raw, error) from error
        if twice is not None:
            raise ToolArgumentParseFailure(f"argument '{twice}' is given twice")

    def _refuse_what_others_do(self, raw: str, values: tuple[Any, ...]) -> None:
        """Integers that no other engine has, wherever they stand, and what nests deeper than all read."""
        try:
            try:
                msgspec.msgpack.encode(values)  # it holds no longer integers: 0.1 us, where a search for digits takes 0.8
            except Exception:  # a default may be anything, and is no concern of others: only what was sent is
                msgspec.msgpack.encode(msgspec.json.decode(raw))
            if len(raw) >= SHORTEST_TOO_DEEP and depth_of(raw.encode(), stop=RECORD_DEPTH + 1) > RECORD_DEPTH:
                raise RecursionError
        except (RecursionError, OverflowError) as error:
            raise self._failure(raw, error) from error

    def _read_without_nulls(self, raw: str, error: Exception) -> msgspec.Struct:
        """Where every argument has to be sent, as under OpenAI's strict form, null is said of those that are left to their defaults."""
        if not isinstance(raw, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"the arguments of a call are JSON as text, not {raw!r:.80}") from error
        without = without_default_nulls(raw, self._parameters)
        if without == raw:
            raise self._failure(raw, error) from error
        try:
            return self._decode(without)
        except (ValueError, RecursionError) as still:
            raise self._failure(without, still) from still
        except Exception as still:
            raise self._fault_of_class(still) from still

    def _failure(self, raw: str, error: Exception) -> ToolArgumentParseFailure:
        """In the words that all engines share; the decoder's own are for what those do not explain."""
        return ToolArgumentParseFailure(argument_problems(raw, self._parameters) or words_for(error, self._parameters))

    def _fault_of_class(self, error: Exception) -> ToolExecutionFailure:
        from strata.engine.decide.failure import stored_text  # loads the engine: see approval.py

        return ToolExecutionFailure(self._signature.name, f"reading its arguments failed: {stored_text(error)}")

    @cached_property
    def _unseen(self) -> frozenset[str]:
        return frozenset(parameter.json_name for parameter in self._signature.parameters if not _is_json(parameter.default))

    @cached_property
    def _parameters(self) -> dict[str, Any]:
        return input_schema(self._signature)


def _decoder(kind: type[msgspec.Struct], signature: ToolSignature) -> Callable[[str], msgspec.Struct]:
    decode = msgspec.json.Decoder(kind).decode
    if not has_own_fields(signature.parameters):
        return decode
    arguments = arguments_of(signature)
    return lambda raw: decode(without_own_fields(raw, arguments))


def _is_json(value: object) -> bool:
    try:
        plain_json(value)
    except TypeError:
        return False
    return True


def _places_of_integers(parameters: tuple[ToolParameter, ...]) -> tuple[int, ...] | None:
    """Where an integer stands, if all that are there are arguments of their own; None where one may stand anywhere."""
    places: list[int] = []
    for place, parameter in enumerate(parameters):
        bare = get_args(parameter.type)[0] if get_origin(parameter.type) is Annotated else parameter.type
        members = get_args(bare) if get_origin(bare) in {Union, UnionType} else (bare,)
        if bare is int and (parameter.default is msgspec.NODEFAULT or isinstance(parameter.default, int)):
            places.append(place)
        elif not NO_INTEGERS.issuperset(members):
            return None
    return tuple(places)
