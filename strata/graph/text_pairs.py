"""What a definition says of a node or a branch: text to text, as the other engines read it."""

from __future__ import annotations

from collections.abc import Mapping

from strata.graph.texts import is_text


def text_pairs(metadata: Mapping[str, str], owner: str) -> dict[str, str]:
    """A copy, so that later changes do not reach the graph.

    Raises:
        TypeError: it is no mapping, or a key or value is no text that JSON can hold.
    """
    if not isinstance(metadata, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"the metadata of {owner} is a dict of text to text, not {metadata!r}")
    for key, value in metadata.items():
        if not is_text(key):
            raise TypeError(f"the metadata of {owner} has the key {key!r}, which is no text: it is text to text")
        if not is_text(value):
            raise TypeError(f"the metadata of {owner} has the value {value!r} under '{key}', which is no text: it is text to text")
    return dict(metadata)
