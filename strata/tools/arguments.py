"""The arguments of a call, read from what a model sent; or why they cannot be (strata-tools.md 6)."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

import msgspec
from msgspec.structs import astuple

from strata.errors import ToolArgumentParseFailure
from strata.graph.nesting import depth_of
from strata.graph.shapes import RECORD_DEPTH
from strata.tools.duplicates import name_given_twice
from strata.tools.explaining import words_for
from strata.tools.problems import argument_problems
from strata.tools.providers import without_default_nulls
from strata.tools.schema import arguments_type, input_schema
from strata.tools.signature import ToolSignature

BEYOND_64_BITS: Final = len('{"n":-9223372036854775809}')
"""No shorter text holds an integer of more."""

PLAIN: Final = (str, int, float, type(None))
"""Defaults of which there is one object, so that a field that was not given can be told from another value."""


class ArgumentReader:
    """Of one tool.

    Attributes:
        type: the struct that `read` gives; its fields are the parameters.
    """

    def __init__(self, signature: ToolSignature) -> None:
        """Raises ToolInvalid: there is a parameter that cannot be read from JSON."""
        self.type = arguments_type(signature)
        self._signature = signature
        self._decode = msgspec.json.Decoder(self.type).decode
        defaults = [parameter.default for parameter in signature.parameters]
        self._needed = defaults.count(msgspec.NODEFAULT)
        self._defaults = tuple((place, default) for place, default in enumerate(defaults) if isinstance(default, PLAIN))

    def read(self, raw: str) -> msgspec.Struct:
        """The arguments, each of the type that it is declared with.

        Raises:
            ToolArgumentParseFailure: they are none of the tool's; the text is for the model.
            TypeError: they are no text.
        """
        if not isinstance(raw, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"the arguments of a call are JSON as text, not {raw!r:.80}")
        try:
            arguments = self._decode(raw)
        except (ValueError, RecursionError) as error:  # a ValueError is what all faults of msgspec and of UTF-8 are
            arguments = self._read_without_nulls(raw, error)
        given, values = self._needed, astuple(arguments)
        for place, default in self._defaults:
            if values[place] is not default:  # one that is as its default may not have been given
                given += 1
        try:  # what the decoder lets pass
            if raw.count(":") != given and (twice := name_given_twice(raw)) is not None:
                raise ToolArgumentParseFailure(f"argument '{twice}' is given twice")
            if len(raw) >= BEYOND_64_BITS:
                msgspec.msgpack.encode(arguments)  # it holds no longer integers: 0.1 us, where a search for digits takes 0.8
            if len(raw) > 2 * RECORD_DEPTH and depth_of(raw.encode(), stop=RECORD_DEPTH + 1) > RECORD_DEPTH:
                raise RecursionError  # what this Python reads or skips, other engines refuse
        except (ValueError, RecursionError, OverflowError) as error:
            raise self._failure(raw, error) from error
        return arguments

    def _read_without_nulls(self, raw: str, error: Exception) -> msgspec.Struct:
        """Where every argument has to be sent, as under OpenAI's strict form, null is said of those that are left to their defaults."""
        without = without_default_nulls(raw, self._parameters)
        if without == raw:
            raise self._failure(raw, error) from error
        try:
            return self._decode(without)
        except (ValueError, RecursionError) as still:
            raise self._failure(without, still) from still

    def _failure(self, raw: str, error: Exception) -> ToolArgumentParseFailure:
        """In the words that all engines share; the decoder's own are for what those do not explain."""
        return ToolArgumentParseFailure(argument_problems(raw, self._parameters) or words_for(error, self._parameters))

    @cached_property
    def _parameters(self) -> dict[str, Any]:
        return input_schema(self._signature)
