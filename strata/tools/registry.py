"""The tools that somebody may call, by name, and what stands around their calls (strata-tools.md 5)."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from strata.engine.interrupt import requests_to_cancel
from strata.errors import DuplicateTool, ToolCancelled, ToolNotFound, ToolNotPermitted, ToolWarning
from strata.graph.clock import SYSTEM
from strata.graph.context import Context
from strata.ports.instrument import Instrument
from strata.tools.context import ToolContext
from strata.tools.dispatch import Answer, answered, raise_final
from strata.tools.entries import AnyTool, Entry, entry_of
from strata.tools.middleware import ToolCall, ToolMiddleware, told_of_refusal
from strata.tools.providers import ProviderTools, anthropic_tools, mcp_tools, openai_tools, provider_names
from strata.tools.recording import Audience, audience_of, recorded
from strata.tools.sites import site_of
from strata.tools.surprises import models_know
from strata.tools.telling import OnFailure, Told, ToolAnswer, object_text, refused, told_of_error

NOBODY: Final = ToolContext()
"""Whoever calls outside of a run and says nothing of it."""


class ToolRegistry:
    """Tools by their names, in the order in which they were registered.

        tools = ToolRegistry([refund, lookup], middleware=[Tenants()])
        text = await tools.dispatch("refund", '{"order_id": "o-1", "amount": 5}', ctx)

    Args:
        tools: declared functions, or anything that has a name, a manifest entry and `execute`.
        middleware: outermost first; one object may serve several registries.
        instrument: takes spans and metrics of calls outside of runs. Those of calls that a node makes go where its run's go.
    """

    def __init__(self, tools: Iterable[AnyTool] = (), middleware: Iterable[ToolMiddleware] = (), *, instrument: Instrument | None = None) -> None:
        self._entries: dict[str, Entry] = {}
        self._left_out: frozenset[str] = frozenset()
        self._known_as: Mapping[str, str] = {}
        self._middleware: tuple[ToolMiddleware, ...] = ()
        self._instrument = instrument
        self._audience = audience_of(None, instrument)
        for tool in tools:
            self.register(tool)
        for one in middleware:
            self.use(one)

    def register(self, tool: AnyTool) -> None:
        """Append a tool. In a subset that left its name out, it is there from now on.

        Raises:
            DuplicateTool: there is one of that name, which stays.
            ToolInvalid: it is no tool, or cannot be one.

        Warns:
            ToolWarning: a model will know it by a name that nobody expects.
        """
        entry = entry_of(tool)
        if entry.name in self._entries:
            raise DuplicateTool(entry.name)
        known = models_know(entry.name, self._known_as)
        if known.surprise is not None:
            warnings.warn(known.surprise, ToolWarning, stacklevel=2)
        self._entries[entry.name] = entry
        self._known_as = {**self._known_as, known.name: entry.name}

    def use(self, middleware: ToolMiddleware) -> None:
        """Append a middleware, inside those that are there. It does not reach subsets that were made before.

        Raises:
            TypeError: it is none.
        """
        if not (callable(getattr(middleware, "invoke", None)) and callable(getattr(middleware, "on_refused", None))):
            raise TypeError(f"{middleware!r:.80} is no middleware: make it a subclass of ToolMiddleware")
        self._middleware = (*self._middleware, middleware)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self._entries)

    def manifest(self) -> list[Mapping[str, Any]]:
        """Each tool's name, description and parameters."""
        return [entry.manifest() for entry in self._entries.values()]

    @property
    def provider_names(self) -> Mapping[str, str]:
        """What models call the tools, and the tools that they mean by it: `k8s_pods` is `k8s.pods`."""
        return self._known_as

    def openai_tools(self, *, strict: bool = True) -> ProviderTools:
        """The tools in a request of OpenAI's Chat Completions; see `strata.tools.openai_tools`."""
        return openai_tools(self.manifest(), strict=strict)

    def anthropic_tools(self, *, strict: bool = True) -> ProviderTools:
        """The tools in a request of Anthropic's Messages; see `strata.tools.anthropic_tools`."""
        return anthropic_tools(self.manifest(), strict=strict)

    def mcp_tools(self) -> list[dict[str, Any]]:
        """The tools as a server of the Model Context Protocol lists them."""
        return mcp_tools(self.manifest())

    def subset(self, names: Iterable[str]) -> ToolRegistry:
        """Only these tools, in the order of this registry, with the middleware that it has now. It can narrow, never widen.

        Raises:
            ToolNotFound: there is no such tool. Of several bad names the first one given is told.
            ToolNotPermitted: this registry is a subset itself that leaves it out.
        """
        wanted = dict.fromkeys(names)
        for name in wanted:
            if name not in self._entries:
                raise self._refusal(name)
        narrowed = self.copy()
        narrowed._entries = {name: entry for name, entry in self._entries.items() if name in wanted}
        narrowed._left_out = self._left_out | self._entries.keys() - narrowed._entries.keys()
        narrowed._known_as = provider_names(narrowed._entries)
        return narrowed

    def copy(self) -> ToolRegistry:
        """Another one with the same tools and middleware; what is registered in either does not reach the other."""
        other = ToolRegistry(middleware=self._middleware, instrument=self._instrument)
        other._entries, other._left_out, other._known_as = dict(self._entries), self._left_out, self._known_as
        return other

    async def dispatch(self, name: str, arguments: str, context: ToolContext | Context | None = None) -> str:
        """Call the tool of that name with arguments that are JSON, and give what the model is to be told.

        Every call is told to observers, spans and metrics once when it starts and once when it ends, refused or not.

        Args:
            name: as registered; it may be anything that a model made up.
            arguments: the text as it came.
            context: of the call, or of the node that makes it; without one the call is made outside of runs.

        Raises:
            ToolNotFound: there is no such tool.
            ToolNotPermitted: this is a subset that leaves it out.
            ToolArgumentParseFailure: these are no arguments of the tool, which was not called.
            ToolCallDenied: a middleware does not want the call, or a person has rejected it.
            ToolExecutionFailure: the tool's function raised; that is the cause.
            ToolCallFailed: the call failed otherwise; the text says how.
            ToolCancelled: the call's token has fired, or the node is being stopped.
            Pause: a person has to approve the call first, who is asked now.
            Exception: a middleware raised it, or a tool that is no declared function.
        """
        entry = self._entries.get(name)
        known = context if context is None or isinstance(context, ToolContext) else ToolContext.of(context)
        audience = self._audience if known is None or known.node is None else audience_of(site_of(known), self._instrument)
        if entry is None or audience is not None or self._middleware:
            return await self._recorded(name, arguments, identified(known), entry, audience)
        if entry.wants_context:
            known = identified(known)
        if known is not None and known.cancelled:
            raise ToolCancelled(name)
        before = requests_to_cancel()
        try:  # nobody looks at this call: it is spared what takes thrice as long as all else of it
            return await entry.execute(arguments, known)
        except (Exception, asyncio.CancelledError) as error:
            raise_final(name, error, known, before)

    async def answer(
        self,
        provider_name: str,
        arguments: str | Mapping[str, Any],
        context: ToolContext | Context | None = None,
        *,
        on_failure: OnFailure = "fail_node",
        with_details: bool = False,
        cut_off: bool = False,
    ) -> ToolAnswer:
        """Dispatch a call as a model made it, and give what it is told: also of one that was refused (strata-tools.md 13).

        Args:
            provider_name: what the model calls the tool (`k8s_pods`).
            arguments: as they came: text, or an object.
            context: of the call, or of the node that makes it. With the model's call id: `ToolContext.of(ctx, call_id=...)`.
            on_failure: what becomes of a call that failed: its node does, by default; or the model is told (`tell_model`).
            with_details: tell the model what the tool's function raised, too. It may hold what no model should see.
            cut_off: the model's turn ended before its arguments did; then they are not looked at.

        Raises:
            ToolCallFailed: the call failed, and so shall the node. What it failed of is the cause, which `@retry` looks at.
            ToolCancelled: the call's token has fired, or the node is being stopped.
            Pause: a person has to approve the call first, who is asked now.
        """
        name, known = self.provider_names.get(provider_name, provider_name), identified(context)
        if cut_off:
            told = refused(f"the arguments for tool '{provider_name}' were cut off before their end: send the call again")
        elif (raw := object_text(arguments)) is None:
            told = refused(f"the arguments for tool '{provider_name}' aren't a JSON object")
        else:
            try:
                told = Told(await self.dispatch(name, raw, known), "succeeded")
            except Exception as error:
                told = told_of_error(error, tool=name, provider_name=provider_name, on_failure=on_failure, with_details=with_details)
        return ToolAnswer(tool=name, call_id=known.call_id or "", content=told.content, result=told.result)

    async def _recorded(self, name: str, arguments: str, context: ToolContext, entry: Entry | None, audience: Audience | None) -> str:
        call = ToolCall(tool=name, arguments=arguments, context=context, manifest=None if entry is None else entry.manifest())
        if audience is None:
            return (await self._answered(call, entry)).text
        with recorded(name, context, audience, is_known=entry is not None or name in self._left_out) as record:
            answer = await self._answered(call, entry)
            record.is_short_circuited = not answer.has_run
        return answer.text

    async def _answered(self, call: ToolCall, entry: Entry | None) -> Answer:
        if entry is None:
            raise await told_of_refusal(self._middleware, call, self._refusal(call.tool))
        return await answered(call, entry, self._middleware)

    def _refusal(self, name: str) -> ToolNotFound | ToolNotPermitted:
        return ToolNotPermitted(name) if name in self._left_out else ToolNotFound(name)


def identified(context: ToolContext | Context | None) -> ToolContext:
    """The context with the id of the call: its own, or a fresh one."""
    known = NOBODY if context is None else context if isinstance(context, ToolContext) else ToolContext.of(context)
    if known.call_id:
        return known
    site = site_of(known)
    return known.replace(call_id=(SYSTEM if site is None else site.clock).new_id())
