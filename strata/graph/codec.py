"""A state as JSON bytes, and the promise that what is stored comes back."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from inspect import isawaitable
from typing import Any, Generic, Literal, TypeAlias, cast

import msgspec
from msgspec import inspect
from typing_extensions import TypeVar

from strata.errors import OverrideRefused, StateRefused, StateUnreadable
from strata.graph.nesting import depth_of
from strata.graph.quick_fit import Fits, FitsSince, all_fields_fit, changed_fields_fit
from strata.graph.quick_same import Same, comes_back
from strata.graph.shapes import RECORD_DEPTH, class_of, depth_bound, may_be_unset, name_of, shape_of
from strata.graph.state import State, did_you_mean
from strata.graph.unfit import Unfit, first_difference, first_unfit, found

S = TypeVar("S", bound=State)

Check: TypeAlias = Literal["full", "fields", "type"]

STATE_DEPTH = RECORD_DEPTH - 1
"""Levels a state may nest in the outermost record, which is one itself; the state of a graph `level` deep has so many fewer."""

STUMBLES = (AttributeError, RecursionError, TypeError, ValueError, ArithmeticError)
"""What a generated check may stumble over (a field never set, thousands of levels); it has not called the state fine then."""


class StateCodec(Generic[S]):
    """Encodes, decodes and checks the states of one type; made once for a compiled graph.

    JSON is written in field order under the encoded names, as msgspec writes it. How much is checked (`check`, design
    "State"):

    * `type`: what a node returned is exactly of the state's type (a subclass would lose fields).
    * `fields`: and each top-level field that is not the very object of the state before is looked at to its depth:
      exact types, finite floats, integers of 64 bits, text that UTF-8 can encode, times whose zone JSON keeps, bounds
      of `msgspec.Meta`. An object that was changed in place is not looked into. 0.3 us where a number
      of a 1 KB state changed, 1.6 where one of 20 messages did (encoding it takes 2).
    * `full`: and where a state is stored, the bytes are decoded and compared with it (`storable`): this finds what no
      look at a value can, such as a `__post_init__` or a converter that makes another value on reading, and changes made
      in place.

    Raises:
        TypeError: the type cannot be stored; `storable_faults` has the fields.
    """

    def __init__(self, state: type[S], *, check: Check = "full") -> None:
        self.state, self.check = state, check
        self._shape = shape_of(state)
        self._class: type[S] = class_of(self._shape)
        self._write = msgspec.json.Encoder().encode
        self._read: Callable[[bytes | msgspec.Raw], S] = msgspec.json.Decoder(state).decode
        self._reads_back = check == "full"
        deepest = depth_bound(self._shape)
        self._safe_level = -1 if deepest is None else STATE_DEPTH - deepest  # down to there no state can be too deep

    @cached_property
    def _changed_fit(self) -> FitsSince:
        return self._is_of_the_type if self.check == "type" else changed_fields_fit(self._shape)

    @cached_property
    def _all_fit(self) -> Fits:
        return partial(self._is_of_the_type, None) if self.check == "type" else all_fields_fit(self._shape)

    @cached_property
    def _comes_back(self) -> Same:
        return comes_back(self._shape)

    def encode(self, state: S, *, level: int = 0) -> bytes:
        """The state as it is stored; `level` is how many records are around its own (each costs one level of nesting).

        Raises:
            StateRefused: it cannot be written, or is nested deeper than other engines read (127 levels in one record).
        """
        try:
            data = self._write(state)
        except Exception as error:
            raise self._refused(self._first_unfit(state, level) or self._unexplained(error), "the state") from error
        if level > self._safe_level and depth_of(data) > STATE_DEPTH - level:
            raise self._refused(self._first_unfit(state, level) or self._unexplained("is nested too deeply"), "the state")
        return data

    def decode(self, data: bytes | msgspec.Raw) -> S:
        """The state that the bytes hold. Unknown keys are dropped, missing ones take their default.

        Raises:
            StateUnreadable: they are no JSON, or do not fit the type; `path` is the place as msgspec names it.
        """
        try:
            return self._read(data)
        except Exception as error:
            raise _unreadable(self._name, error) from error

    def check_result(self, before: S | None, after: object, node: str) -> S:
        """What the node returned, as the state that it must be; `before` is what it was given (None: look at all fields).

        Raises:
            StateRefused: it is not a state, or has a value that would not come back.
        """
        try:
            if self._all_fit(after) if before is None else self._changed_fit(before, after):
                return cast("S", after)
        except STUMBLES:
            pass
        state = self._check_type(after, node)
        if (unfit := self._first_unfit(state, 0)) is not None:
            raise self._refused(unfit, f"node '{node}' returned a state that")
        return state

    def storable(self, before: S | None, after: object, node: str, *, level: int = 0) -> bytes:
        """The bytes of what the node returned, `level` records deep, once it is found to come back as far as `check` looks.

        Reading the bytes back (`full`) finds all that a look at the fields does, and more, at once: that look is spared.

        Raises:
            StateRefused: it is not a state, or would not come back as it is, types and all.
        """
        state = self._check_type(after, node) if self._reads_back else self.check_result(before, after, node)
        try:
            data = self.encode(state, level=level)
        except StateRefused:
            self.check_result(None, state, node)  # says the same of the node that returned it
            raise
        if self._reads_back:
            self.check_stored(state, data, node)
        return data

    def check_stored(self, state: S, data: bytes, node: str) -> None:
        """Hold what the bytes say against the state.

        Raises:
            StateRefused: they do not come back as the state, types and all.
        """
        who = f"node '{node}' returned a state that"
        try:
            back = self._read(data)
        except Exception as error:
            unfit = self._first_unfit(state, 0) or self._unread(error)
            raise self._refused(unfit, who) from error
        try:
            if self._comes_back(state, back):
                return
        except STUMBLES:
            pass
        if (different := self._first_unfit(state, 0) or first_difference(self._shape, state, back, self._name)) is not None:
            raise self._refused(different, who)

    def changed_since(self, state: S, data: bytes | msgspec.Raw) -> str | None:
        """The path of the first thing in `state` that is no longer as `data` has it; None where nothing was changed in place."""
        try:
            if self._write(state) == bytes(data):
                return None
            back = self._read(data)
        except Exception:
            unfit = self._first_unfit(state, 0)
            return None if unfit is None else unfit.path
        different = self._first_unfit(state, 0) or first_difference(self._shape, state, back, self._name)
        return None if different is None else different.path

    def override_bytes(self, changes: Mapping[str, object]) -> dict[str, bytes]:
        """The changed fields by their encoded names, as JSON.

        A value is of the field's type, or plain JSON data that msgspec converts to it without guessing (a dict for a
        struct, an ISO text for a date, an int for a float). None is stored as null, where the field takes None.

        Raises:
            OverrideRefused: no such field, or not such a value.
        """
        return {self._encoded_name(name): self._override(name, value) for name, value in changes.items()}

    def with_overrides(self, data: bytes | msgspec.Raw, overrides: Mapping[str, bytes]) -> bytes:
        """The stored state with these top-level keys replaced; others keep their bytes and places, new ones come last.

        Raises:
            StateUnreadable: the stored state is not an object.
        """
        try:
            keys = _OBJECT.decode(data)
        except Exception as error:
            raise _unreadable(self._name, error) from error
        keys.update((name, msgspec.Raw(value)) for name, value in overrides.items())
        return self._write(keys)

    @property
    def _name(self) -> str:
        return name_of(self.state)

    def _encoded_name(self, name: str) -> str:
        for field in self._shape.fields:
            if field.name == name:
                return field.encode_name
        names = tuple(field.name for field in self._shape.fields)
        stored = next((field.name for field in self._shape.fields if field.encode_name == name), None)
        hint = did_you_mean(name, names) if stored is None else f": '{stored}' is stored under that name; overrides take Python names"
        raise OverrideRefused(f"{self._name} has no field '{name}'{hint}", field=name)

    def _override(self, name: str, value: object) -> bytes:
        field = next(field for field in self._shape.fields if field.name == name)
        if may_be_unset(field) and value is msgspec.UNSET:
            raise OverrideRefused(f"override of '{name}': UNSET cannot be stored, it is the absence of the field", field=name)
        unfit = first_unfit(field.type, value, f"{self._name}.{name}", STATE_DEPTH - 1)
        if unfit is None:
            return self._write(value)
        return self._write(self._converted(name, value, unfit))

    def _converted(self, name: str, value: object, unfit: Unfit) -> object:
        """Plain data as the field's type. It goes through bytes because msgspec's `convert` does not look into instances."""
        if first_unfit(inspect.AnyType(), value, name, STATE_DEPTH - 1) is not None:
            raise _override_refused(name, unfit)
        hint = next(field.type for field in msgspec.structs.fields(self.state) if field.name == name)
        try:
            return msgspec.json.decode(self._write(value), type=hint)
        except msgspec.ValidationError as error:
            if isinstance(value, dict | list):
                raise OverrideRefused(f"override of '{name}': {error}", field=name) from None
            raise _override_refused(name, unfit) from None

    def _is_of_the_type(self, _before: object, after: object) -> bool:
        return type(after) is self._class

    def _check_type(self, after: object, node: str) -> S:
        if type(after) is not self._class:
            raise _not_the_state(self._name, self._class, after, node)
        return after

    def _first_unfit(self, state: S, level: int) -> Unfit | None:
        try:
            return first_unfit(self._shape, state, self._name, STATE_DEPTH - level)
        except RecursionError:  # the caller's own stack is nearly full
            return Unfit(self._name, f"at most {STATE_DEPTH - level} levels of nesting", "more than this stack can look at")

    def _refused(self, unfit: Unfit, who: str) -> StateRefused:
        forgotten = ": an await was forgotten" if unfit.found == "coroutine" else ""
        text = f"{who} cannot be stored: {unfit.path}: expected {unfit.expected}, found {unfit.found}{forgotten}"
        return StateRefused(text, path=unfit.path, expected=unfit.expected, found=unfit.found)

    def _unexplained(self, why: object) -> Unfit:
        return Unfit(self._name, "a state that can be written", str(why))

    def _unread(self, error: Exception) -> Unfit:
        text, path = _split(error)
        return Unfit(self._name + path.removeprefix("$"), "a state that can be read back", text)


def _not_the_state(name: str, state: type[Any], after: object, node: str) -> StateRefused:
    what, hint = _what_was_returned(name, state, after)
    return StateRefused(f"node '{node}' returned {what}", path=name, expected=name, found=found(after), hint=hint)


def _what_was_returned(name: str, state: type[Any], after: object) -> tuple[str, str]:
    if after is None:
        return "None: did you forget to return the state?", f"end the function with `return state` or `return state.replace(...)`, of type {name}"
    if isinstance(after, types.CoroutineType):
        after.close()  # nobody will await it, and Python would warn of that too
        return "a coroutine: an await was forgotten, or the function is not declared async", "await the call, in an async def"
    if isawaitable(after):
        return f"a {found(after)}: an await was forgotten", "await it, and declare the function async"
    if isinstance(after, state):
        return (
            f"{found(after)}, a subclass of {name}: its own fields would be lost",
            f"return exactly {name}, or make {found(after)} the state of the graph",
        )
    return f"{found(after)} where {name} is expected", f"return the state itself, or state.replace(...), of type {name}"


def _unreadable(name: str, error: Exception) -> StateUnreadable:
    text, path = _split(error)
    if isinstance(error, RecursionError):
        text = "it is nested too deeply"
    at = f" at {path}" if path else ""
    return StateUnreadable(f"the stored state is not a readable {name}{at}: {text}", path=path or None)


def _split(error: Exception) -> tuple[str, str]:
    """msgspec's words and its path (`$.lines[0]`); other errors are the type's own, from `__post_init__` say."""
    if not isinstance(error, msgspec.MsgspecError):
        return f"{type(error).__name__}: {error}", ""
    text, _, path = str(error).partition(" - at `")
    return text, path.removesuffix("`")


def _override_refused(name: str, unfit: Unfit) -> OverrideRefused:
    where = unfit.path.split(".", 1)[-1]
    inside = "" if where == name else f" at {where}"
    return OverrideRefused(f"override of '{name}'{inside}: expected {unfit.expected}, found {unfit.found}", field=name)


_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
