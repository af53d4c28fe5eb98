"""Right graphs of every kind of node, as source text: the same seed gives the same module."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

OPENING = """\
from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import strata
from strata import Backoff, Outcomes, State, StateGraph, branch, map_each, on_failure, on_reject, on_timeout, parallel, quorum
from strata import boundary as pause, edge, node, retry, subgraph, timer, wait_for_event, when

if TYPE_CHECKING:
    from strata import Context


class Base(State):
    parts: tuple[str, ...] = ()


class Count(Base):
    count: int = 0


def same(state: Count) -> Count:
    return state


async def slow(state: Count, ctx: Context) -> Count:
    return state


def is_even(state: "Base") -> bool:
    return True


def always(state: Any) -> bool:
    return True


def parts(state: Count) -> tuple[str, ...]:
    return state.parts


def enter_part(state: Count, part: str) -> Count:
    return state


inner = StateGraph(Count).start(node("only")(same)).compile(id="inner")

"""


def right_graph(seed: int) -> str:
    """A module with `builder`, and `graph` that is compiled of it. Every node leads to the next, so each is reached and the last is the end."""
    random = Random(seed)
    names = [f"n{at}" for at in range(random.randint(1, 9))]
    nodes = [_node(random, names, at) for at in range(len(names))]
    return OPENING + "\n\n".join(nodes) + "\n\n" + random.choice(_GRAPHS)(random, names)


def _node(random: Random, names: list[str], at: int) -> str:
    kind = random.choice(_KINDS)
    top, signature, is_wait = kind(random)
    lines = [top, *_marks(random, names, at, is_wait=is_wait), f"def {names[at]}({signature}) -> Count:", "    return state", ""]
    if is_wait is False and top.startswith("@node") and "inline" not in top and random.random() < 0.4:
        lines[-3] = f"async {lines[-3]}"
    return "\n".join(lines)


def _marks(random: Random, names: list[str], at: int, *, is_wait: bool) -> list[str]:
    """Edges in an order in which each may be taken; a pause has no guards."""
    has_next = at + 1 < len(names)
    marks: list[str] = []
    pauses = is_wait or (has_next and random.random() < 0.2)
    if pauses and not is_wait:
        marks += random.choice([["@pause"], ["@pause(timeout=60)", f'@on_timeout("{names[-1]}")'], ["@pause", f'@on_reject("{names[-1]}")']])
    if not is_wait and random.random() < 0.2:
        marks += random.choice(
            [["@retry(2)"], ["@retry(3, backoff=Backoff(initial=1, maximum=timedelta(minutes=1)))", f'@on_failure("{names[-1]}")']]
        )
        if at + 1 == len(names):
            marks = [mark for mark in marks if "on_failure" not in mark]  # it would lead to itself
    if has_next:
        if not pauses and random.random() < 0.4:
            marks.append(f"@when(is_even, to={_target(random, names, at)})")
        marks.append(f'@edge("{names[at + 1]}")' if random.random() < 0.8 else f'@strata.edge("{names[at + 1]}")')
    return marks


def _target(random: Random, names: list[str], at: int) -> str:
    """Any node: one above by itself or by its name, another by its name."""
    to = random.randrange(len(names))
    return names[to] if to < at and random.random() < 0.5 else f'"{names[to]}"'


def _plain(random: Random) -> tuple[str, str, bool]:
    top = random.choice(["@node", "@node()", "@strata.node", "@node(timeout=5)", "@node(inline=True)", '@node(metadata={"team": "shop"})'])
    return top, random.choice(["state: Count", "state: Base", "state: Count, ctx: Context"]), False


def _group(random: Random) -> tuple[str, str, bool]:
    options = random.choice(["", ", join=quorum(2)", ", max_concurrency=1", ", branch_timeout=timedelta(seconds=2)"])
    return f'@parallel(same, branch("again", slow){options})', "state: Count, results: list[Count]", False


def _map(random: Random) -> tuple[str, str, bool]:
    options = random.choice(["", ", join=quorum(9)", ", max_items=5, item_timeout=60 * 5", ', partial="keep_succeeded"'])
    return f"@map_each(inner, items=parts, key=str, enter=enter_part{options})", "state: Count, outcomes: Outcomes[Count]", False


def _subgraph(random: Random) -> tuple[str, str, bool]:
    return "@subgraph(inner, enter=same)", "state: Count, child: Count", False


def _wait(random: Random) -> tuple[str, str, bool]:
    top = random.choice(['@wait_for_event("paid")', '@wait_for_event("paid", timeout=timedelta(days=1))'])
    return top, random.choice(["state: Count", "state: Count, amount: int"]), True


def _timer(random: Random) -> tuple[str, str, bool]:
    return random.choice(["@timer(60)", "@timer(timedelta(hours=2))"]), "state: Count", True


_KINDS: list[Callable[[Random], tuple[str, str, bool]]] = [_plain, _plain, _plain, _group, _map, _subgraph, _wait, _timer]


def _chained(random: Random, names: list[str]) -> str:
    listed = f".nodes({', '.join(names[1:])})" if names[1:] else ""
    return f'builder = StateGraph(Count).start({names[0]}){listed}\ngraph = builder.compile(id="g", version="1", max_node_hops=2**10)\n'


def _step_by_step(random: Random, names: list[str]) -> str:
    steps = [f"builder = builder.nodes({name})" for name in names[1:]]
    return "\n".join([f"builder = strata.StateGraph(Count).start({names[0]})", *steps, "graph = builder.compile(durable=True)", ""])


def _of_a_tuple(random: Random, names: list[str]) -> str:
    rest = f"REST = ({''.join(f'{name}, ' for name in names[1:])})\n"
    return f"{rest}builder = StateGraph(Count).start({names[0]}).nodes(*REST)\ngraph = builder.compile()\n"


def _in_a_function(random: Random, names: list[str]) -> str:
    return (
        f"def build():\n    wiring = StateGraph(Count).start({names[0]})\n    return wiring.nodes({', '.join(names[1:])}).compile()\n\n\n"
        f"builder = StateGraph(Count).start({names[0]}).nodes({', '.join(names[1:])})\ngraph = build()\n"
    )


_GRAPHS: list[Callable[[Random, list[str]], str]] = [_chained, _step_by_step, _of_a_tuple, _in_a_function]
