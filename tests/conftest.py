"""What every test has: asyncio, a bounded Hypothesis, and a check that it leaves nothing behind."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from inspect import iscoroutinefunction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.leases import AskedForLeases, leases_asked_for

SLOW_MACHINE = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile("ci", max_examples=60, deadline=None, derandomize=True, database=None, print_blob=True, suppress_health_check=SLOW_MACHINE)
settings.register_profile("fuzz", max_examples=5_000, deadline=None, print_blob=True, suppress_health_check=SLOW_MACHINE)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

OURS = "strata"
"""How the names of our threads begin."""

GRACE_SECONDS = 5.0
ROUNDS = 50


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """asyncio only; of session scope, or Hypothesis refuses async tests."""
    return "asyncio"


@pytest.fixture(autouse=True)
def nothing_is_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """After a test no thread of ours runs, no task is pending, no lease is held and no file of its `tmp_path` is open.

    A test about leases that nobody gives back names who may keep one: `@pytest.mark.leaves_leases("worker-2")`, without names anybody.

    It is set up before the test's own fixtures and torn down after them, so what a fixture closes is not held against the test.
    """
    if _is_async(request.node):
        request.getfixturevalue("no_task_is_left")
    caplog: pytest.LogCaptureFixture = request.getfixturevalue("caplog")
    threads = set(threading.enumerate())
    with leases_asked_for() as asked:
        yield
    folder = _tmp_path(request)
    _arguments(request).clear()  # they would keep a fixture's runner alive, and its idle threads
    caplog.get_records("call").clear()  # and so would the traceback of an error that was logged
    _assert_no_lease(asked, _may_keep_one(request))
    _assert_no_thread(threads)
    _assert_no_open_file(folder)


@pytest.fixture
async def no_task_is_left(anyio_backend: str) -> AsyncIterator[None]:
    before, runner = asyncio.all_tasks(), asyncio.current_task()
    assert runner is not None
    cancellations = runner.cancelling()
    yield
    assert runner.cancelling() == cancellations, "the test cancelled the task that runs all tests, and has not taken it back"
    for _ in range(5):  # what was cancelled at the very end takes a few turns to finish
        await asyncio.sleep(0)
    left = [task for task in asyncio.all_tasks() - before if not _runs_the_tests(task)]
    assert not left, f"the test left tasks behind: {left}"


def _runs_the_tests(task: asyncio.Task[object]) -> bool:
    return "TestRunner" in getattr(task.get_coro(), "__qualname__", "")


def _is_async(item: object) -> bool:
    function = getattr(item, "obj", None)
    return iscoroutinefunction(getattr(getattr(function, "hypothesis", None), "inner_test", function))


def _assert_no_lease(asked: AskedForLeases, may_keep_one: Callable[[str], bool]) -> None:
    left = [held for held in asked.still_held() if not may_keep_one(held.owner)]
    assert not left, f"the test left leases behind: {left}"


def _may_keep_one(request: pytest.FixtureRequest) -> Callable[[str], bool]:
    marker: pytest.Mark | None = request.node.get_closest_marker("leaves_leases")
    return lambda owner: marker is not None and (not marker.args or owner in marker.args)


def _assert_no_thread(before: set[threading.Thread]) -> None:
    left = _our_threads() - before
    for _ in range(ROUNDS):  # a pool ends its threads when nobody can use it any more; one that is just handing over its result still can
        if left:
            gc.collect()
        for thread in left:
            thread.join(GRACE_SECONDS / ROUNDS)
        left = {thread for thread in left if thread.is_alive()}
    names = [thread.name for thread in left]
    assert not names, f"the test left threads behind: {names}"


def _our_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name.startswith(OURS)}


def _arguments(request: pytest.FixtureRequest) -> dict[str, object]:
    return getattr(request.node, "funcargs", {})


def _tmp_path(request: pytest.FixtureRequest) -> Path | None:
    path = _arguments(request).get("tmp_path")
    return path if isinstance(path, Path) else None


def _assert_no_open_file(folder: Path | None) -> None:
    if folder is None or not _open_files(folder):
        return
    gc.collect()
    left = _open_files(folder)
    assert not left, f"the test left files open: {left}"


def _open_files(folder: Path) -> list[str]:
    """Open files below `folder`; where the system has no /proc, none are known."""
    try:
        descriptors = os.listdir("/proc/self/fd")
    except OSError:
        return []
    names: list[str] = []
    for descriptor in descriptors:
        try:
            name = os.readlink(f"/proc/self/fd/{descriptor}")
        except OSError:
            continue  # closed since the listing, which had a descriptor of its own
        if name.startswith(f"{folder}{os.sep}"):
            names.append(name)
    return names
