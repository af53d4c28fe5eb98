"""Every public call says which of its arguments is wrong, in words of ours, and takes none that fails later."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import pytest

import strata
from strata import Runner, RunOptions, StateGraph
from strata.runtime.options import SweepOptions
from strata.stores import StoreBase
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore
from tests.public_calls import BUILDER, CALLS, DECORATORS, RUNNER, STORE, World
from tests.wrong_arguments import VALUES, answer, fault_of


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore(tmp_path / "t.db") as store:
        yield store


@pytest.mark.leaves_leases
@pytest.mark.parametrize("call", CALLS)
async def test_a_wrong_argument_is_named(sqlite: SqliteStore, call: str) -> None:
    asked = CALLS[call]
    right = {name: parameter.right for name, parameter in asked.parameters.items()}
    faults: list[str] = []
    world = await World.around(sqlite)
    for name, parameter in asked.parameters.items():
        for value_name, value in VALUES.items():
            error = await error_of(world, call, {**right, name: value})
            fault = fault_of(error, name, parameter, value_name)
            if fault is not None:
                faults.append(f"{name} = {value_name} {fault}")
            if error is None:  # else nothing has changed
                world = await World.around(sqlite)
    assert not faults, "\n".join(faults)


@pytest.mark.leaves_leases
@pytest.mark.parametrize("call", CALLS)
async def test_right_arguments_are_taken(sqlite: SqliteStore, call: str) -> None:
    """Or what stands above would say nothing of the one that is wrong."""
    right = {name: parameter.right for name, parameter in CALLS[call].parameters.items()}
    error = await error_of(await World.around(sqlite), call, right)
    assert error is None, repr(error)


@pytest.mark.parametrize("call", CALLS)
def test_every_parameter_is_tried(call: str) -> None:
    signature = inspect.signature(CALLS[call].function(World(MemoryStore(), SqliteStore("unused.db"))))
    assert set(names_of(signature.parameters.values())) == set(CALLS[call].parameters)


def test_every_call_is_tried() -> None:
    assert RUNNER.keys() - {"__init__"} == set(methods_of(Runner))
    assert (
        STORE.keys() | {"open", "close", "run_in_loop"} == set(methods_of(StoreBase)) == set(methods_of(MemoryStore)) == set(methods_of(SqliteStore))
    )
    assert BUILDER.keys() - {"__init__"} == set(methods_of(StateGraph)) - {"definition", "mermaid", "state_schemas", "validate"}
    assert DECORATORS.keys() - {"Backoff"} == set(functions_of("strata.graph"))


async def error_of(world: World, call: str, arguments: dict[str, Any]) -> Exception | None:
    try:
        await answer(CALLS[call].function(world), CALLS[call].then, arguments)
    except Exception as error:
        return error
    return None


def functions_of(room: str) -> Iterable[str]:
    for name in strata.__all__:
        found = getattr(strata, name)
        if inspect.isfunction(found) and found.__module__.startswith(room):
            yield name


def methods_of(cls: type[Any]) -> list[str]:
    return [name for name, _ in inspect.getmembers(cls, inspect.isfunction) if not name.startswith("_")]


def names_of(parameters: Iterable[inspect.Parameter]) -> Iterable[str]:
    """Those of options that are passed on by their type come from it."""
    for parameter in parameters:
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            yield parameter.name
        elif "Options" in str(parameter.annotation):
            yield from (RunOptions if "RunOptions" in str(parameter.annotation) else SweepOptions).__annotations__
