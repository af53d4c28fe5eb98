"""The book: planned, written by a graph inside a node, printed; and the shelf, which makes books. The graphs of the recorded levels."""

from __future__ import annotations

from typing import Any

from strata import CompiledGraph, State, StateGraph, edge, node, subgraph
from strata.graph.builder import Wiring
from tests.graphs.essays import Essay
from tests.graphs.orders import Order


class Book(State):
    title: str
    chapters: list[str] = []  # noqa: RUF012 (msgspec copies it)
    quality: int = 7
    printed: bool = False


class Shelf(State):
    name: str
    books: list[str] = []  # noqa: RUF012 (msgspec copies it)


@node("plan")
@edge("write")
def plan(book: Book) -> Book:
    return book.replace(chapters=[*book.chapters, "plan"])


@node("print")
def print_book(book: Book) -> Book:
    return book.replace(printed=True)


def to_essay(book: Book) -> Essay:
    return Essay(topic=book.title, min_score=book.quality)


def books_over(child: CompiledGraph[Essay], *, timeout: float | None = None) -> Wiring[Book, Any, Any]:
    """plan -> write, which is the child -> print."""

    @subgraph(child, enter=to_essay, name="write", timeout=timeout)
    @edge("print")
    def write(book: Book, essay: Essay) -> Book:
        chapter = f"{essay.topic} r{essay.revision} s{essay.score} q{book.quality}"
        return book.replace(chapters=[*book.chapters, chapter])

    return StateGraph(Book).start(plan).nodes(write, print_book)


@node("open")
@edge("make")
def open_shelf(shelf: Shelf) -> Shelf:
    return shelf.replace(books=[*shelf.books, "open"])


@node("close")
def close_shelf(shelf: Shelf) -> Shelf:
    return shelf.replace(books=[*shelf.books, "close"])


def to_book(shelf: Shelf) -> Book:
    return Book(title=shelf.name)


def shelves_over(child: CompiledGraph[Book]) -> Wiring[Shelf, Any, Any]:
    """open -> make, which is the child -> close."""

    @subgraph(child, enter=to_book, name="make")
    @edge("close")
    def make(shelf: Shelf, book: Book) -> Shelf:
        made = f"{book.title} x{len(book.chapters)} printed {str(book.printed).lower()}"
        return shelf.replace(books=[*shelf.books, made])

    return StateGraph(Shelf).start(open_shelf).nodes(make, close_shelf)


@node("plan")
@edge("order")
def plan_order(book: Book) -> Book:
    return plan(book)


def to_order(book: Book) -> Order:
    return Order(order_id=book.title, amount=5)


def books_over_orders(child: CompiledGraph[Order]) -> StateGraph[Book]:
    """plan -> order, which is the child -> print; from data, since tests add a policy."""

    def ordered(book: Book, order: Order) -> Book:
        return book.replace(chapters=[*book.chapters, order.status])

    return (
        StateGraph(Book)
        .add_node("plan", plan_order)
        .add_subgraph("order", child, enter=to_order, leave=ordered)
        .add_node("print", print_book)
        .add_edge("plan", "order")
        .add_edge("order", "print")
    )
