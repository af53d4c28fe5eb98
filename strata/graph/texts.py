"""Text that definitions and records hold, which every engine reads as UTF-8."""

from __future__ import annotations


def is_utf8(text: str) -> bool:
    """Whether UTF-8 can encode the text; half a surrogate pair it cannot."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_text(value: object) -> bool:
    """Whether it is text that UTF-8 can encode."""
    return isinstance(value, str) and is_utf8(value)


def text_of(value: object, what: str) -> str:
    """`value`, found to be text; `what` opens the text of the error.

    Raises:
        TypeError: it is no text that UTF-8 can encode.
    """
    if not isinstance(value, str):
        raise TypeError(f"{what} is text, not {value!r}")
    if not is_utf8(value):
        raise TypeError(f"{what} is text that UTF-8 can encode, and {value!r} has half a surrogate pair")
    return value
