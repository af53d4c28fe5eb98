"""What a run is given beside its thread and state."""

from __future__ import annotations

from typing import Any, cast

import pytest

from strata import OptionRefused, Runner
from strata.stores.memory import MemoryStore
from tests.graphs.trails import Trail, line


async def test_an_option_of_an_unknown_name_is_refused_with_the_near_one() -> None:
    run: Any = Runner(line("A").compile()).run
    with pytest.raises(TypeError, match=r"a run has no option 'max_hops': did you mean 'max_node_hops'\?"):
        await run("t", Trail(), max_hops=4)


async def test_a_hop_limit_that_is_no_number_is_refused() -> None:
    run: Any = Runner(line("A").compile(), MemoryStore()).run
    with pytest.raises(OptionRefused, match="a run's max_node_hops is a whole number, not '4'"):
        await run("t", Trail(), max_node_hops="4")


def test_a_store_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match=r"'essays.db' does not"):
        Runner(line("A").compile(), cast("Any", "essays.db"))


def test_a_compiled_graph_cannot_change() -> None:
    graph: Any = line("A").compile()
    with pytest.raises(AttributeError, match="a compiled graph cannot change"):
        graph.durable = False
