"""Mistakes in nodes of every kind that a checker finds without a plugin. Each line says who finds it."""

from __future__ import annotations

from datetime import datetime

import msgspec

from strata import (
    Backoff,
    Event,
    Outcomes,
    State,
    StateGraph,
    boundary,
    branch,
    edge,
    first_matching,
    map_each,
    node,
    on_failure,
    on_timeout,
    parallel,
    quorum,
    retry,
    subgraph,
    timer,
    wait_for_event,
)


class Order(State):
    total: int


class Check(State):
    item: str


class Payment(msgspec.Struct):
    amount: int


@node
def check(c: Check) -> Check:
    return c


checks = StateGraph(Check).start(check).compile(id="checks")


async def legal(o: Order) -> Order:
    return o


def other(c: Check) -> Check:
    return c


def is_check(c: Check) -> bool:
    return True


# Groups
@parallel(legal, other)  # error: mypy, pyright, pyrefly, ty
def mixed(o: Order, results: list[Order]) -> Order:
    return o


@parallel(legal)  # error: mypy, pyright, pyrefly, ty
def wrong_results(o: Order, results: list[Check]) -> Order:
    return o


@parallel(legal)  # error: mypy, pyright, pyrefly, ty
def wrong_outcomes(o: Order, outcomes: Outcomes[Check]) -> Order:
    return o


@parallel(legal)  # error: mypy, pyright, pyrefly, ty
async def slow_merge(o: Order, results: list[Order]) -> Order:
    return o


@parallel(legal)  # error: mypy, pyright, pyrefly, ty
def lone(o: Order) -> Order:
    return o


@parallel(legal, join=first_matching(is_check))  # error: mypy, pyright, pyrefly, ty
def wrong_join(o: Order, results: list[Order]) -> Order:
    return o


@parallel(legal, partial="some")  # error: mypy, pyright, pyrefly, ty
def wrong_partial(o: Order, results: list[Order]) -> Order:
    return o


@parallel(legal, item_timeout=3)  # error: mypy, pyright, pyrefly
def wrong_option(o: Order, results: list[Order]) -> Order:
    return o


branch("three", 3)  # error: mypy, pyright, pyrefly, ty
quorum("2")  # error: mypy, pyright, pyrefly, ty


# Graphs inside
def into_order(o: Order) -> Order:
    return o


def into(o: Order) -> Check:
    return Check(item="")


@subgraph(checks, enter=into_order)  # error: mypy, pyright, pyrefly, ty
def wrong_enter(o: Order, c: Check) -> Order:
    return o


@subgraph(checks, enter=into)  # error: mypy, pyright, pyrefly, ty
def wrong_child(o: Order, c: Order) -> Order:
    return o


@subgraph(StateGraph(Check).start(check), enter=into)  # error: mypy, pyright, pyrefly, ty
def not_compiled(o: Order, c: Check) -> Order:
    return o


# Maps
def items(o: Order) -> list[int]:
    return []


def text_key(i: str) -> str:
    return i


def number_key(i: int) -> str:
    return str(i)


def enter(o: Order, i: int) -> Check:
    return Check(item="")


@map_each(checks, items=items, key=text_key, enter=enter)  # error: mypy, pyright, pyrefly, ty
def wrong_key(o: Order, results: list[Check]) -> Order:
    return o


@map_each(checks, items=items, key=number_key, enter=enter)  # error: mypy, pyright, pyrefly, ty
def wrong_parts(o: Order, results: list[Order]) -> Order:
    return o


@map_each(checks, items=items, enter=enter)  # error: mypy, pyright, pyrefly, ty
def no_key(o: Order, results: list[Check]) -> Order:
    return o


# Waits
@wait_for_event("payment", name="w")
def w(o: Order, p: Payment) -> Order:
    return o


@wait_for_event("ping", name="ping")
def ping(o: Order) -> Order:
    return o


@wait_for_event("payment", name="slow")  # error: mypy, pyright, pyrefly
async def slow(o: Order, p: Payment) -> Order:
    return o


@wait_for_event("payment", name="number")  # error: mypy, pyright, pyrefly
def number(o: Order, p: Payment) -> int:
    return 3


w.event(3)  # error: mypy, pyright, pyrefly, ty
w.event()  # error: mypy, pyright, pyrefly, ty
ping.event(3)  # error: mypy, pyright, pyrefly, ty
Event()  # error: mypy, pyright, pyrefly, ty


def due_check(c: Check) -> datetime:
    return datetime.now()


@timer(60)  # error: mypy, pyright, pyrefly, ty
def fires(o: Order, more: int) -> Order:
    return o


@timer(until=due_check)  # error: mypy, pyright, pyrefly, ty
def fires_until(o: Order) -> Order:
    return o


timer("60")  # error: mypy, pyright, pyrefly, ty


# Policies
@node("tries")
@retry("3")  # error: mypy, pyright, pyrefly, ty
def tries(o: Order) -> Order:
    return o


@node("tries_nothing")
@retry(3, on=3)  # error: mypy, pyright, pyrefly, ty
def tries_nothing(o: Order) -> Order:
    return o


@node("falls")
@on_failure(3)  # error: mypy, pyright, pyrefly, ty
def falls(o: Order) -> Order:
    return o


@node("pauses")
@boundary(timeout="3")  # error: mypy, pyright, pyrefly, ty
@on_timeout(None)  # error: mypy, pyright, pyrefly, ty
def pauses(o: Order) -> Order:
    return o


Backoff(initial=1, maximum=2, jitter="some")  # error: mypy, pyright, pyrefly, ty


# Nodes that do not fit the graph, and targets that are none (mypy has no literal strings in type variables)
@parallel(other, name="checkers")
def checkers(c: Check, results: list[Check]) -> Check:
    return c


@wait_for_event("payment", name="lost")
@edge("nowhere")
def lost(o: Order, p: Payment) -> Order:
    return o


StateGraph(Order).start(checkers)  # error: mypy, pyright, pyrefly, ty
StateGraph(Order).start(w).nodes(checkers)  # error: mypy, pyright, pyrefly, ty
StateGraph(Order).start(lost).nodes(w).compile()  # error: pyright, pyrefly, ty

# Data
StateGraph(Order).add_parallel_group("g", [other], lambda o, results: o)  # error: mypy, pyright, pyrefly, ty
StateGraph(Order).add_subgraph("s", checks, enter=into)  # error: mypy, pyright, pyrefly, ty
StateGraph(Order).add_map("m", checks, items=items, key=text_key, enter=enter, merge=lambda o, r: o)  # error: mypy, pyright, pyrefly, ty
StateGraph(Order).add_wait_for_event("w", "payment", fold=other)  # error: mypy, pyright, pyrefly, ty
StateGraph(Order).add_timer("t", until=due_check)  # error: mypy, pyright, pyrefly, ty
StateGraph(Order).set_recovery_policy("a", retries="3")  # error: mypy, pyright, pyrefly, ty
StateGraph(Order).add_node("w", w)  # error: mypy, pyright, pyrefly, ty
