"""Text that a definition holds, which every engine reads as UTF-8."""

from __future__ import annotations


def is_text(value: object) -> bool:
    """Whether it is text that UTF-8 can encode; half a surrogate pair it cannot."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def text_of(value: object, what: str) -> str:
    """`value`, found to be text; `what` opens the text of the error.

    Raises:
        TypeError: it is no text that UTF-8 can encode.
    """
    if not isinstance(value, str):
        raise TypeError(f"{what} is text, not {value!r}")
    if not is_text(value):
        raise TypeError(f"{what} is text that UTF-8 can encode, and {value!r} has half a surrogate pair")
    return value
