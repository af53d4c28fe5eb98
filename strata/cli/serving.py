"""Where a server of the command line listens."""

from __future__ import annotations

import sys
from signal import SIG_DFL, Signals, raise_signal
from signal import signal as set_handler
from typing import TYPE_CHECKING

from strata.cli.faults import CannotDo

if TYPE_CHECKING:
    from strata.hosting.mcp.offers import Offers


async def serve(offers: Offers, *, name: str, version: str, http: str | None) -> Signals | None:
    """Serve until the client closes stdin, or, at the address `http` too, until the process is told to stop: then by that signal.

    Raises:
        CannotDo: `http` is no address, or the extra `mcp` is not installed.
    """
    try:
        from strata.hosting.mcp.pipes import serve_pipes
        from strata.hosting.mcp.server import serve_http, server_of
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"mcp", "mcp_types"}:
            raise
        raise CannotDo("serving needs mcp, which is not installed", hint="install strata with its extra `mcp`") from error
    server = server_of(offers, name=name, version=version)
    if http is None:
        return await serve_pipes(server)
    host, port = _address(http)
    await serve_http(server, host=host, port=port)
    return None


def end_of(signal: Signals | None) -> None:
    """End the process as that signal does by itself, without waiting for threads in which functions of the user may stand for ever."""
    if signal is not None:
        sys.stdout.flush()
        sys.stderr.flush()
        set_handler(signal, SIG_DFL)
        raise_signal(signal)


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdecimal()) or int(port) > 65535:
        raise CannotDo(f"'{text}' is no address to listen at", hint="write HOST:PORT, or the port alone, as in 127.0.0.1:8000")
    return host.strip("[]") or "127.0.0.1", int(port)
