"""All commands, and what becomes of what they raise."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from cyclopts import App, CycloptsError

from strata.cli import terminal
from strata.cli.faults import CannotDo, exit_code
from strata.errors import StrataError

INTERRUPTED = 130
NOBODY_READS = 141
"""What a shell sees of a command that SIGINT or SIGPIPE ended."""


def answer(arguments: Sequence[str]) -> int:
    """Run a command and give its exit code; nothing but a fault of ours comes out as an exception."""
    terminal.write_anything()
    try:
        code = _run(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _let_go_of_stdout()
        return NOBODY_READS
    except OSError as error:  # the files that a command reads and writes are its own to explain
        _let_go_of_stdout()
        terminal.complain(f"the output cannot be written: {error.strerror}")
        return 2
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(arguments: Sequence[str]) -> int:
    try:
        code = strata()(arguments, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        terminal.complain(str(error), hint="add --help to see what the command takes")
        return 2
    except CannotDo as error:
        terminal.complain(error.text, hint=error.hint)
        return 2
    except StrataError as error:
        terminal.complain(str(error), hint=error.hint)
        return exit_code(error)
    return code if isinstance(code, int) else 0  # help and version give nothing


def strata() -> App:
    """The tree of commands; the file of a command is loaded when it is called."""
    graph = App(name="graph", help="Check, draw, export and compare graphs.")
    graph.command("strata.cli.graph_validate:graph_validate", name="validate", help="Check graphs for faults.")
    graph.command("strata.cli.graph_view:graph_view", name="view", help="Draw a graph.")
    graph.command("strata.cli.graph_export:graph_export", name="export", help="Write a graph's definition.")
    graph.command("strata.cli.graph_diff:graph_diff", name="diff", help="Say which paused threads a change breaks.")

    thread = App(name="thread", help="Look at threads in a store, answer and end them.")
    thread.command("strata.cli.thread_list:thread_list", name="list", help="List threads, newest first.")
    thread.command("strata.cli.thread_inspect:thread_inspect", name="inspect", help="Show where a thread stands.")
    thread.command("strata.cli.thread_log:thread_log", name="log", help="Show the records of a thread.")
    thread.command("strata.cli.thread_resume:thread_resume", name="resume", help="Answer a thread, and run it on.")
    thread.command("strata.cli.thread_end:thread_end", name="end", help="End a thread for good.")

    tools = App(name="tools", help="Functions that models may call.")
    tools.command("strata.cli.tools_generate:tools_generate", name="generate", help="Make schemas and typed calls of tools, from their source.")
    tools.command("strata.cli.tools_serve:tools_serve", name="serve", help="Serve tools over the Model Context Protocol.")

    mcp = App(name="mcp", help="Graphs as tools of models.")
    mcp.command("strata.cli.mcp_serve:mcp_serve", name="serve", help="Serve a graph over the Model Context Protocol.")

    app = App(name="strata", help="Durable graphs of decorated functions.", version=_version, help_format="plaintext")
    app.command("strata.cli.check:check_sources", name="check", help="Find the faults of graphs in source, without importing it.")
    app.command(graph)
    app.command(thread)
    app.command(tools)
    app.command(mcp)
    app.command("strata.cli.demo:demo", name="demo", help="See a thread paused, killed and recovered.")
    return app


def _version() -> str:
    try:
        return version("strata")
    except PackageNotFoundError:  # run from its source
        return "unknown"


def _let_go_of_stdout() -> None:
    """Python flushes stdout once more at its end, and would complain of the closed pipe then."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
