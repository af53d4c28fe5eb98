"""What a tool is told of the call that it answers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypedDict, TypeVar, Unpack, cast

import msgspec

from strata.graph.context import Context

if TYPE_CHECKING:
    from strata.tools.cancellation import Cancellation

T = TypeVar("T")

NOTHING: Final[Mapping[Any, Any]] = MappingProxyType({})


class ToolContextFields(TypedDict, total=False):
    """What `replace` may change; each as in `ToolContext`."""

    thread_id: str | None
    run_id: str | None
    node_path: str | None
    attempt: int | None
    metadata: Mapping[str, str]
    caller_id: str | None
    call_id: str | None
    services: Mapping[type[Any], object]
    cancellation: Cancellation | None


class ToolContext(msgspec.Struct, frozen=True, kw_only=True, eq=False, repr_omit_defaults=True):
    """Handed to the parameter annotated `ToolContext`, wherever it stands, and to every middleware (strata-tools.md 8).

    A model never sees it. All of it is optional: a context made by hand may say as little as a test needs. It cannot be
    changed; `replace` gives another one.

        context = ToolContext.of(ctx, caller_id="triage")       # in a node, of the node's own context

    Attributes:
        thread_id, run_id: of the outermost call, at every depth.
        node_path: the calling node's qualified path (`Work/Gather/Acme`).
        attempt: the calling node's, from 1.
        metadata: the run's.
        caller_id: who calls, in the caller's own words; no node gives one.
        call_id: kept when given, else a registry makes one for each call: a UUID of version 7.
        services: found by their type, before those of the run.
        cancellation: the token that this call listens to, beside the node.
        node: the context of the node that calls; None in one made by hand, whose calls no observer is told of.
    """

    thread_id: str | None = None
    run_id: str | None = None
    node_path: str | None = None
    attempt: int | None = None
    metadata: Mapping[str, str] = NOTHING
    caller_id: str | None = None
    call_id: str | None = None
    services: Mapping[type[Any], object] = NOTHING
    cancellation: Cancellation | None = None
    node: Context | None = None

    @classmethod
    def of(cls, node: Context, /, *, caller_id: str | None = None, call_id: str | None = None) -> ToolContext:
        """The context of a call that this node makes.

        Raises:
            TypeError: `node` is no context of one.
        """
        if not isinstance(node, Context):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"a call has a ToolContext, or the Context of the node that makes it, not {node!r:.80}")
        return cls(
            thread_id=node.thread_id,
            run_id=node.run_id or None,
            node_path=node.path,
            attempt=node.attempt,
            metadata=node.metadata,
            caller_id=caller_id,
            call_id=call_id,
            node=node,
        )

    def replace(self, **fields: Unpack[ToolContextFields]) -> ToolContext:
        """This context with these fields instead of its own."""
        return msgspec.structs.replace(self, **fields)

    def with_service(self, service: object, /) -> ToolContext:
        """This context with a service of exactly its type, in place of one it had."""
        return self.replace(services={**self.services, type(service): service})

    def service(self, type_: type[T], /) -> T | None:
        """The service of that type: of the call's own exactly that, else an instance of it; else the run's; else None."""
        found = self.services.get(type_)
        if found is None:
            found = next((service for service in self.services.values() if isinstance(service, type_)), None)
        if found is None and self.node is not None:
            return self.node.service(type_)
        return cast("T | None", found)

    @property
    def cancelled(self) -> bool:
        """The call's token has fired, or the node that made it is being stopped."""
        if self.cancellation is not None and self.cancellation.has_fired:
            return True
        return self.node is not None and self.node.cancelled

    def raise_if_cancelled(self) -> None:
        """Raise `asyncio.CancelledError` if the call is cancelled: for sync tools, which nobody can interrupt."""
        if self.cancelled:
            from asyncio import CancelledError

            raise CancelledError

    async def wait_cancelled(self) -> None:
        """Return when the call's token fires. Where the node is stopped instead, the task that waits here is cancelled."""
        from strata.tools.cancellation import Cancellation

        await (self.cancellation or Cancellation()).wait()
