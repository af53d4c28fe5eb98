"""A state that counts, and the smallest functions of each kind over it."""

from __future__ import annotations

from strata import State


class Count(State):
    n: int = 0


def same(count: Count) -> Count:
    return count


def first(count: Count, results: list[Count]) -> Count:
    """The first of them."""
    return results[0]


def is_even(count: Count) -> bool:
    return count.n % 2 == 0


def leave(count: Count, child: Count) -> Count:
    return child


def items(count: Count) -> list[int]:
    return list(range(count.n))


def enter_item(count: Count, item: int) -> Count:
    return Count(n=item)
