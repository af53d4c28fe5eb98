"""Annotations that may be text, read in the namespaces that their function was written in."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import isclass
from types import SimpleNamespace
from typing import Any, ForwardRef, get_args, get_origin, get_type_hints


class Annotations:
    """Reads what annotates the parameters of a function.

    `layers` are the function and what it stands for (`layers_of`), `names` those that may be used beside its own globals.
    """

    def __init__(self, layers: tuple[Any, ...], names: Mapping[str, Any]) -> None:
        self._globals: dict[str, Any] = {}
        self._locals: dict[str, Any] = dict(names)
        for layer in layers:
            self._globals = getattr(layer, "__globals__", self._globals)
            self._locals.update(_closure(layer))

    def read(self, annotation: Any) -> Any:
        """What is meant.

        Raises:
            Exception: of any kind: a name may be for checkers only, or of a scope that is gone, or defined further down.
        """
        text = text_of(annotation)
        return annotation if text is None else self._evaluate(text)

    def read_to_the_end(self, annotation: Any) -> Any:
        """What is meant, with what is quoted inside it (`list["Payment"]`) read as well; raises as `read` does."""
        written = SimpleNamespace(__annotations__={"it": annotation})
        return get_type_hints(written, self._globals, self._locals, include_extras=True)["it"]

    def as_class(self, annotation: Any) -> type[Any] | None:
        """The class that is meant; None if it cannot be told, or is no plain class."""
        try:
            found = self.read(annotation)
        except Exception:
            return None
        return found if isclass(found) else None

    def unresolved(self, annotation: Any) -> str | None:
        """Why the annotation cannot be read, or None if it can."""
        try:
            self.read(annotation)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return None

    def mentions(self, annotation: Any, classes: tuple[type[Any], ...]) -> bool:
        """Whether one of these classes is meant, or stands anywhere inside; where nothing can be read, by its name."""
        try:
            return _mentions(self.read(annotation), classes)
        except Exception:
            return any(has_word(text_of(annotation) or "", kind.__name__) for kind in classes)

    def _evaluate(self, text: str) -> Any:
        value = eval(text, self._globals, self._locals)
        return self._evaluate(value) if isinstance(value, str) else value  # quoted, and postponed on top


def text_of(annotation: Any) -> str | None:
    """An annotation that is text, as text."""
    if isinstance(annotation, ForwardRef):
        return annotation.__forward_arg__
    return annotation if isinstance(annotation, str) else None


def has_word(text: str, word: str) -> bool:
    """Whether `word` is one of the words of an annotation."""
    words = "".join(character if character.isidentifier() or character.isdigit() else " " for character in text).split()
    return word in words


def _closure(function: Any) -> dict[str, Any]:
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None)
    if code is None or not cells:
        return {}
    found: dict[str, Any] = {}
    for name, cell in zip(code.co_freevars, cells, strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # assigned further down in the enclosing function
            continue
    return found


def _mentions(meant: Any, classes: tuple[type[Any], ...]) -> bool:
    if isclass(meant) and issubclass(meant, classes):
        return True
    if (text := text_of(meant)) is not None:  # quoted inside: list["Payment"]
        return any(has_word(text, kind.__name__) for kind in classes)
    if (aliased := getattr(meant, "__value__", None)) is not None:  # `type Results = ...`
        return _mentions(aliased, classes)
    origin = get_origin(meant)
    return origin is not None and (_mentions(origin, classes) or any(_mentions(part, classes) for part in get_args(meant)))
