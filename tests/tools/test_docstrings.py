"""What a docstring says of a function and of its parameters: Google, NumPy and Sphinx."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.tools.docstrings import Docstring, read_docstring

GOOGLE = """Refund part of an order.

    The money goes back
    the way it came.

    Args:
        order_id (str): as it stands
            on the invoice.
        amount (Annotated[int, "in: cents"], optional): in cents: never
            more than was paid.
        note:
            what the customer reads.

    Keyword Args:
        dry_run (bool): only look.

    Returns:
        text: what was done.

    Raises:
        ValueError: the amount is too high.
    """

NUMPY = """Refund part of an order.

    The money goes back
    the way it came.

    Parameters
    ----------
    order_id : str
        as it stands
        on the invoice.
    amount : int, optional
        in cents: never
        more than was paid.
    note
        what the customer reads.

    Other Parameters
    ----------------
    dry_run : bool
        only look.

    Returns
    -------
    str
        what was done.
    """

SPHINX = """Refund part of an order.

    The money goes back
    the way it came.

    :param order_id: as it stands
        on the invoice.
    :param int amount: in cents: never
      more than was paid.
    :type amount: int
    :param note: what the customer reads.
    :keyword bool dry_run: only look.
    :returns: what was done.
    :raises ValueError: the amount is too high.
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_every_style_says_the_same(text: str) -> None:
    assert read_docstring(text) == Docstring(
        "Refund part of an order.\n\nThe money goes back the way it came.",
        {
            "order_id": "as it stands on the invoice.",
            "amount": "in cents: never more than was paid.",
            "note": "what the customer reads.",
            "dry_run": "only look.",
        },
    )


@pytest.mark.parametrize("text", [None, "", "   \n  "])
def test_no_text_says_nothing(text: str | None) -> None:
    assert read_docstring(text) == Docstring()


def test_tool_08_notes_and_examples_stay_in_the_description() -> None:
    said = read_docstring(
        """Look up an order.

        Args:
            order_id: its number.

        Note:
            It is slow.

        Example:
            >>> look("o-1")
            'open'

        Returns:
            its state.
        """
    )
    assert said.description == "Look up an order.\n\nNote:\n    It is slow.\n\nExample:\n    >>> look(\"o-1\")\n    'open'"


def test_tool_08_star_arguments_and_typed_entries_are_read() -> None:
    said = read_docstring("Do.\n\nArgs:\n    *names (str): whom.\n    \\**more: what else.\n    f (Callable[[int], dict[str, int]]): how.\n")
    assert said.parameters == {"names": "whom.", "more": "what else.", "f": "how."}


def test_names_that_share_an_entry_share_its_text() -> None:
    assert read_docstring("Do.\n\nParameters\n----------\na, b : int\n    both of them.\n").parameters == {"a": "both of them.", "b": "both of them."}


def test_paragraphs_and_lists_of_an_entry_keep_their_lines() -> None:
    said = read_docstring("Do.\n\nArgs:\n    how: one of\n\n        - fast\n        - cheap\n\n    next: more.\n")
    assert said.parameters == {"how": "one of\n\n- fast\n- cheap", "next": "more."}


def test_a_title_that_is_of_no_section_stays_in_the_description() -> None:
    assert (
        read_docstring("Convert.\n\nSupported formats:\n    - png\n    - jpg\n").description == "Convert.\n\nSupported formats:\n    - png\n    - jpg"
    )


def test_a_sentence_that_begins_like_a_section_is_a_sentence() -> None:
    assert read_docstring("Returns: the sum of all. Raises: nothing.").description == "Returns: the sum of all. Raises: nothing."


def test_an_entry_without_text_says_nothing() -> None:
    assert read_docstring("Do.\n\nArgs:\n    a:\n    b: said.\n").parameters == {"b": "said."}


def test_tabs_indent_as_well() -> None:
    assert read_docstring("Do.\n\n\tArgs:\n\t\ta: said\n\t\t\tand more.\n").parameters == {"a": "said and more."}


@given(st.text(alphabet=st.sampled_from("abc :-\n\t()*[]\\_Args Parameters Returns:param="), max_size=200))
def test_every_text_is_read(text: str) -> None:
    assert all(re.fullmatch(r"\w+", name) for name in read_docstring(text).parameters)


@pytest.mark.parametrize("line", ["    a" + "(" * 100_000 + "\n", ":param " + "a " * 50_000 + "\n", "    a: b\n" * 20_000, "-" * 100_000 + "\n"])
def test_a_long_text_takes_time_in_proportion(line: str) -> None:
    before = time.perf_counter()
    read_docstring(f"Do.\n\nArgs:\n{line}")
    assert time.perf_counter() - before < 5
