"""For each code of the plugin a graph that is wrong, and the same one put right: what the documentation shows and tests run."""

from __future__ import annotations

from typing import Final, NamedTuple

PRELUDE: Final = """\
import socket
from typing import Annotated

from strata import (
    Backoff,
    State,
    StateGraph,
    boundary,
    branch,
    edge,
    first_matching,
    map_each,
    node,
    on_failure,
    on_reject,
    on_timeout,
    parallel,
    quorum,
    retry,
    strata_tool,
    subgraph,
    timer,
    wait_for_event,
    when,
)


class Order(State):
    total: int = 0


def is_large(order: Order) -> bool:
    return order.total > 100


def legal(order: Order) -> Order:
    return order


def credit(order: Order) -> Order:
    return order


def into(order: Order) -> Order:
    return order


def totals(order: Order) -> list[int]:
    return [order.total]


def of_item(order: Order, item: int) -> Order:
    return Order(total=item)


@node
def done(order: Order) -> Order:
    return order


@node
@boundary
@edge("done")
def sign_off(order: Order) -> Order:
    return order


@wait_for_event("paid")
@edge("done")
def await_payment(order: Order) -> Order:
    return order


asks = StateGraph(Order).start(sign_off).nodes(done).compile()
waits = StateGraph(Order).start(await_payment).nodes(done).compile()
plain = StateGraph(Order).start(done).compile()
"""
"""What all examples begin with."""


class Example(NamedTuple):
    """`code` as mypy shows it."""

    code: str
    wrong: str
    right: str


def _of(code: str, wrong: str, right: str) -> Example:
    return Example(f"strata-{code}", wrong.strip("\n") + "\n", right.strip("\n") + "\n")


def _node(decorators: str, *, function: str = "def work(order: Order) -> Order:\n    return order", listed: str = "done", options: str = "") -> str:
    """A node with these decorators, in a graph with others."""
    return f"{decorators}\n{function}\n\n\nStateGraph(Order).start(work).nodes({listed}).compile({options})"


def _reducing(kind: str) -> str:
    """A field of texts with a reducer of that kind of values."""
    function = f"def add(old: {kind}, new: {kind}) -> {kind}:\n    return old + new"
    return f"{function}\n\n\nclass Research(State):\n    notes: Annotated[list[str], add]"


def _tool(parameters: str) -> str:
    return f'@strata_tool\ndef refund(order: str, {parameters}) -> str:\n    """Refund orders."""\n    return ", ".join([order, *orders])'


def _compiled(options: str) -> str:
    return f"StateGraph(Order).start(done).compile({options})"


MERGE: Final = "def work(order: Order, results: list[Order]) -> Order:\n    return order"
FOLD: Final = "def work(order: Order, child: Order) -> Order:\n    return order"
EACH: Final = "items=totals, key=str, enter=of_item"

EXAMPLES: Final = (
    # Nodes by themselves
    _of(
        "wrong-function",
        _node('@node\n@edge("done")', function="def work(order: Order, total: int) -> Order:\n    return order.replace(total=total)"),
        _node('@node\n@edge("done")', function="def work(order: Order, total: int = 3) -> Order:\n    return order.replace(total=total)"),
    ),
    _of(
        "nothing-returned",
        _node('@node\n@edge("done")', function="def work(order: Order) -> None:\n    order.replace(total=3)"),
        _node('@node\n@edge("done")', function="def work(order: Order) -> Order:\n    return order.replace(total=3)"),
    ),
    _of("misplaced-decorator", _node('@node\n@on_reject("done")\n@edge("done")'), _node('@node\n@boundary\n@on_reject("done")\n@edge("done")')),
    # Structure
    _of(
        "dangling-edge",
        _node('@node\n@when(is_large, to="dine")\n@edge("done")'),
        _node('@node\n@when(is_large, to="done")\n@edge("done")'),
    ),
    _of("orphan", _node('@node\n@edge("done")', listed="sign_off, done"), _node('@node\n@edge("sign_off")', listed="sign_off, done")),
    _of("unguarded-cycle", _node('@node\n@edge("work")', listed=""), _node('@node\n@when(is_large, to="work")\n@edge("done")')),
    _of("no-terminal", _node('@node\n@when(is_large, to="work")', listed=""), _node('@node\n@when(is_large, to="work")\n@edge("done")')),
    _of(
        "dead-edge",
        _node('@node\n@edge("done")\n@when(is_large, to="sign_off")', listed="sign_off, done"),
        _node('@node\n@when(is_large, to="sign_off")\n@edge("done")', listed="sign_off, done"),
    ),
    _of("doubled-edge", _node('@node\n@edge("done")\n@edge("done")'), _node('@node\n@edge("done")')),
    _of("doubled-node", _node('@node\n@edge("done")', listed="done, done"), _node('@node\n@edge("done")')),
    _of("blank-name", _node('@node(" ")\n@edge("done")'), _node('@node("work")\n@edge("done")')),
    _of("slash-in-name", _node('@node("a/b")\n@edge("done")'), _node('@node("a-b")\n@edge("done")')),
    _of("star-in-name", _node('@node("work*")\n@edge("done")'), _node('@node("work")\n@edge("done")')),
    # Pauses
    _of("no-way-out", _node("@node\n@boundary", listed=""), _node('@node\n@boundary\n@edge("done")')),
    _of(
        "guard-behind-boundary",
        _node('@node\n@boundary\n@when(is_large, to="sign_off")\n@edge("done")', listed="sign_off, done"),
        _node('@node\n@boundary\n@edge("judge")', listed="judge, sign_off, done").replace(
            "\n\n\nStateGraph",
            '\n\n\n@node\n@when(is_large, to="sign_off")\n@edge("done")\ndef judge(order: Order) -> Order:\n    return order\n\n\nStateGraph',
        ),
    ),
    _of(
        "guard-behind-wait",
        _node('@wait_for_event("asked")\n@when(is_large, to="sign_off")\n@edge("done")', listed="sign_off, done"),
        _node('@wait_for_event("asked")\n@edge("judge")', listed="judge, sign_off, done").replace(
            "\n\n\nStateGraph",
            '\n\n\n@node\n@when(is_large, to="sign_off")\n@edge("done")\ndef judge(order: Order) -> Order:\n    return order\n\n\nStateGraph',
        ),
    ),
    _of(
        "route-without-timeout",
        _node('@node\n@boundary\n@on_timeout("done")\n@edge("done")'),
        _node('@node\n@boundary(timeout=60)\n@on_timeout("done")\n@edge("done")'),
    ),
    _of("wait-is-boundary", _node('@wait_for_event("asked")\n@boundary\n@edge("done")'), _node('@wait_for_event("asked")\n@edge("done")')),
    _of("blank-event-type", _node('@wait_for_event("")\n@edge("done")'), _node('@wait_for_event("asked")\n@edge("done")')),
    _of("delay-not-positive", _node('@timer(0)\n@edge("done")'), _node('@timer(60)\n@edge("done")')),
    _of("timeout-not-positive", _node('@node(timeout=0)\n@edge("done")'), _node('@node(timeout=60)\n@edge("done")')),
    _of("timeout-below-millisecond", _node('@node(timeout=0.0005)\n@edge("done")'), _node('@node(timeout=0.5)\n@edge("done")')),
    _of("timeout-on-inline", _node('@node(timeout=60, inline=True)\n@edge("done")'), _node('@node(timeout=60)\n@edge("done")')),
    # Failures
    _of(
        "backoff-below-initial",
        _node('@node\n@retry(3, backoff=Backoff(initial=60, maximum=1))\n@edge("done")'),
        _node('@node\n@retry(3, backoff=Backoff(initial=1, maximum=60))\n@edge("done")'),
    ),
    _of("fallback-loop", _node('@node\n@on_failure("work")\n@edge("done")'), _node('@node\n@on_failure("done")\n@edge("done")')),
    # Kinds
    _of(
        "empty-group",
        _node('@parallel(join=first_matching(is_large))\n@edge("done")', function=MERGE),
        _node('@parallel(legal, join=first_matching(is_large))\n@edge("done")', function=MERGE),
    ),
    _of(
        "duplicate-branch",
        _node('@parallel(legal, branch("legal", credit))\n@edge("done")', function=MERGE),
        _node('@parallel(legal, branch("credit", credit))\n@edge("done")', function=MERGE),
    ),
    _of(
        "invalid-quorum",
        _node('@parallel(legal, credit, join=quorum(3))\n@edge("done")', function=MERGE),
        _node('@parallel(legal, credit, join=quorum(2))\n@edge("done")', function=MERGE),
    ),
    _of(
        "concurrency-not-positive",
        _node('@parallel(legal, credit, max_concurrency=0)\n@edge("done")', function=MERGE),
        _node('@parallel(legal, credit, max_concurrency=1)\n@edge("done")', function=MERGE),
    ),
    _of(
        "wait-in-map",
        _node(f'@map_each(waits, {EACH})\n@edge("done")', function=MERGE),
        _node(f'@map_each(plain, {EACH})\n@edge("done")', function=MERGE),
    ),
    _of(
        "boundary-in-map",
        _node(f'@map_each(asks, {EACH})\n@edge("done")', function=MERGE),
        _node(f'@map_each(plain, {EACH})\n@edge("done")', function=MERGE),
    ),
    _of(
        "max-items-not-positive",
        _node(f'@map_each(plain, {EACH}, max_items=0)\n@edge("done")', function=MERGE),
        _node(f'@map_each(plain, {EACH}, max_items=100)\n@edge("done")', function=MERGE),
    ),
    _of(
        "child-durability",
        _node('@subgraph(asks, enter=into)\n@edge("done")', function=FOLD, options="durable=False"),
        _node('@subgraph(asks, enter=into)\n@edge("done")', function=FOLD),
    ),
    # Metadata, options
    _of("metadata-empty-key", _node('@node(metadata={"": "sales"})\n@edge("done")'), _node('@node(metadata={"team": "sales"})\n@edge("done")')),
    _of(
        "metadata-reserved-key",
        _node('@node(metadata={"strata.team": "sales"})\n@edge("done")'),
        _node('@node(metadata={"team": "sales"})\n@edge("done")'),
    ),
    _of("hop-limit", _compiled("max_node_hops=0"), _compiled("max_node_hops=20")),
    _of("version-without-id", _compiled('version="2"'), _compiled('id="orders", version="2"')),
    _of("migration-without-id", _compiled("migrate=lambda old: old"), _compiled('id="orders", version="2", migrate=lambda old: old')),
    _of("blank-graph-id", _compiled('id=""'), _compiled('id="orders"')),
    _of("blank-graph-version", _compiled('id="orders", version=""'), _compiled('id="orders", version="2"')),
    # States
    _of("unstorable-field", "class Session(State):\n    connection: socket.socket", "class Session(State):\n    address: str"),
    _of("reducer", _reducing("int"), _reducing("list[str]")),
    # Tools
    _of("tool-invalid", _tool("*orders: str"), _tool("orders: list[str]")),
)
