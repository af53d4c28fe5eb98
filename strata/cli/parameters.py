"""Parameters that several commands take."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from cyclopts import Parameter

AsJson: TypeAlias = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON, for programs.")]
HttpAddress: TypeAlias = Annotated[
    str | None,
    Parameter(name="--http", help="Listen at HOST:PORT, or a port, in place of stdin. There is no authentication: anybody who reaches it may call."),
]
StoreUrl: TypeAlias = Annotated[
    str,
    Parameter(name="--store", env_var="STRATA_STORE", help="Where the threads are: sqlite:PATH, or a path that ends in .db, .sqlite or .sqlite3."),
]
Target: TypeAlias = Annotated[str, Parameter(help="A definition (JSON), or module:graph.")]
ThreadId: TypeAlias = Annotated[str, Parameter(name="ID", help="The thread's id; write -- before one that begins with a dash.")]
