"""The command as a process: how it is started, what it needs, where its output goes."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from strata import Runner, State, StateGraph, node
from strata.stores.sqlite import SqliteStore
from tests.cli.conftest import Call
from tests.console import ROOT, pattern, trimmed

STRATA = [sys.executable, "-m", "strata"]
BLOCKED = "import sys; sys.modules[{!r}] = None; from strata.cli import main; main()"


class Note(State):
    text: str = ""


@node
def keep(note: Note) -> Note:
    return note


def start(*command: str, folder: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    plain = {key: value for key, value in os.environ.items() if key not in {"STRATA_STORE", "NO_COLOR", "FORCE_COLOR"}}
    environment = {**plain, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(command, cwd=folder or ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_the_installed_command_and_the_module_are_the_same() -> None:
    script = Path(sys.executable).with_name("strata")
    assert script.exists()
    help_text = start(*STRATA, "--help").stdout
    assert start(str(script), "--help").stdout == help_text
    assert all(word in help_text for word in ("graph", "thread", "demo"))


@pytest.mark.parametrize("extra", ["cyclopts", "rich"])
def test_without_the_extra_one_line_says_what_to_install(extra: str) -> None:
    done = start(sys.executable, "-c", BLOCKED.format(extra), "graph", "validate", "x.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == f"the command line needs {extra}, which is not installed: install strata with its extra `cli`, as in pip install '.[cli]' in a checkout\n"
    )


@pytest.mark.parametrize(
    "command",
    ["graph validate", "graph view", "graph export", "thread list", "thread inspect", "thread log", "thread end", "demo"],
)
def test_help_of_every_command_can_be_asked_for(command: str, call: Call) -> None:
    answer = call(*command.split(), "--help")
    assert answer.code == 0
    assert answer.out.startswith(f"Usage: strata {command} ")


def test_a_command_that_is_not_there_is_an_error() -> None:
    done = start(*STRATA, "graph", "vew")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith('error: Unknown command "vew". Did you mean "view"?')


def test_the_current_folder_is_where_modules_are_looked_for(tmp_path: Path) -> None:
    (tmp_path / "papers.py").write_text("import essays_of_mine\nessays = essays_of_mine.essays\n", encoding="utf-8")
    (tmp_path / "essays_of_mine.py").write_text(
        f"from strata import StateGraph\nfrom {__name__} import Note, keep\nessays = StateGraph(Note).start(keep).compile()\n", encoding="utf-8"
    )
    script = str(Path(sys.executable).with_name("strata"))
    done = start(script, "graph", "validate", "papers:essays", folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "papers:essays: valid\n", "")


def test_output_into_a_pipe_has_no_colour() -> None:
    done = start(*STRATA, "graph", "validate", "missing.json")
    assert done.returncode == 2
    assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize(("no_color", "is_plain"), [("", False), ("1", True)])
def test_a_terminal_has_colour_unless_it_is_told_not_to(no_color: str, is_plain: bool) -> None:
    leader, follower = pty.openpty()
    environment = {**os.environ, "NO_COLOR": no_color, "TERM": "xterm-256color"}
    done = subprocess.run(
        [*STRATA, "graph", "validate", "missing.json"], cwd=ROOT, env=environment, stderr=follower, stdout=subprocess.PIPE, timeout=60, check=False
    )
    os.close(follower)
    said = os.read(leader, 10_000)
    os.close(leader)
    assert done.returncode == 2
    assert b"missing.json" in said
    assert (b"\x1b[" not in said) is is_plain


def test_an_output_that_lacks_characters_gets_them_escaped() -> None:
    done = start(*STRATA, "graph", "view", "schema/wire/definitions/essays.json", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "\\u25cf draft" in done.stdout


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "notes.db") as store:
        runner = Runner(StateGraph(Note).start(keep).compile(), store)
        runner.run_sync("n-1", Note(text="x" * 1_000_000))
    command = [*STRATA, "thread", "log", "--store", str(tmp_path / "notes.db"), "n-1", "--json"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        said = process.stderr.read()
    assert said == b""
    assert process.returncode == 141


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk here that is always full")
@pytest.mark.parametrize("command", [("thread", "list", "--store", "memory:"), ("graph", "validate", "--json", "no.json")])
def test_an_output_that_cannot_be_written_is_an_error(command: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([*STRATA, *command], cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "the output cannot be written: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_demonstration_is_killed_recovered_and_counted(tmp_path: Path) -> None:
    done = start(*STRATA, "demo", "--folder", str(tmp_path / "demo"))
    assert (done.returncode, done.stderr) == (0, "")
    assert pattern(DEMONSTRATION.format(folder=tmp_path / "demo")).fullmatch(trimmed(done.stdout)), done.stdout
    again = start(*STRATA, "demo", "--folder", str(tmp_path / "demo"))
    assert again.returncode == 2
    assert again.stderr.endswith("cannot be made: File exists\nhint: name one that is not there yet\n")


DEMONSTRATION = """\
...
1. A process takes the order. It pauses for a person, and the process ends.
   [...] ran order
   [...] ran price
   [...] ran approve
   [...] came to a pause at approve: the order over 270 is awaiting approval
   [...] ended with code 0

2. ann approves, and lowers the amount to 250. A second process goes on,
   and is killed (SIGKILL) in the middle of `pay`: the bank has the money, and nobody heard so.
   [...] ran pay
   [...] bank takes 250 for order-1/pay#4
   [...] ended with code -9

3. This is all that the store knows:
   order-1 is running since its record 4, the order is awaiting approval

4. A third process recovers the thread. `pay` runs again, with the same key.
   [...] ran pay
   [...] bank knows order-1/pay#4 already, and takes nothing
   [...] ran ship
   [...] came to the end: the order is shipped, 250 paid, approved by ann
   [...] ended with code 0

5. The log: one record before the first node, after each node, and at every answer.
   record   thread is     hops   after     next      order is            amount
...
   #0       running       0                order     new                 0
   #1       running       1      order     price     ordered             0
   #2       running       2      price     approve   priced              270
   #3       interrupted   3      approve   pay       awaiting approval   270
   #4       running       3      approve   pay       awaiting approval   250
   #5       running       3      approve   pay       awaiting approval   250
   #6       running       4      pay       ship      paid                250
   #7       completed     5      ship                shipped             250

6. The side files: how often each node ran, and what the bank took.
   node      ran
...
   order     1
   price     1
   approve   1
   pay       2     its first run was killed before it could be committed
   ship      1
   the bank took money 1 time(s): 250 order-1/pay#4

Nothing that was committed ran twice.
Look yourself: strata thread log --store {folder}/orders.db order-1
"""
