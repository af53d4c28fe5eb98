"""Where a server of the command line listens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strata.cli.faults import CannotDo

if TYPE_CHECKING:
    from strata.hosting.mcp.offers import Offers


async def serve(offers: Offers, *, name: str, version: str, http: str | None) -> None:
    """Serve until the client closes stdin, or, at the address `http`, until the process is told to stop.

    Raises:
        CannotDo: `http` is no address, or the extra `mcp` is not installed.
    """
    try:
        from strata.hosting.mcp.server import serve_http, serve_pipes, server_of
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"mcp", "mcp_types"}:
            raise
        raise CannotDo("serving needs mcp, which is not installed", hint="install strata with its extra `mcp`") from error
    server = server_of(offers, name=name, version=version)
    if http is None:
        await serve_pipes(server)
    else:
        host, port = _address(http)
        await serve_http(server, host=host, port=port)


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdecimal()) or int(port) > 65535:
        raise CannotDo(f"'{text}' is no address to listen at", hint="write HOST:PORT, or the port alone, as in 127.0.0.1:8000")
    return host.strip("[]") or "127.0.0.1", int(port)
