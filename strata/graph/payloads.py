"""The types of what events carry: their annotations, read once all of a module is there."""

from __future__ import annotations

import msgspec

from strata.graph.draft import Draft
from strata.graph.mappers import Payload
from strata.graph.spec import EventWaitBody, NodeSpec
from strata.rules.facts import PayloadFault


def payload_faults(draft: Draft) -> tuple[PayloadFault, ...]:
    """The payload types that cannot be found, or that nothing can be read as."""
    return tuple(fault for spec in draft.nodes.values() if (fault := _fault_of(spec)) is not None)


def with_payload(spec: NodeSpec) -> NodeSpec:
    """The node with its payload's type in place of the annotation; for one that has no fault."""
    if not isinstance(spec.body, EventWaitBody) or not isinstance(spec.body.payload, Payload):
        return spec
    return msgspec.structs.replace(spec, body=msgspec.structs.replace(spec.body, payload=spec.body.payload.meant()))


def _fault_of(spec: NodeSpec) -> PayloadFault | None:
    body = spec.body
    if not isinstance(body, EventWaitBody) or not body.takes_payload:
        return None
    written = body.payload
    try:
        meant = written.meant() if isinstance(written, Payload) else written
    except Exception as error:
        reason = f"its annotation cannot be resolved ({type(error).__name__}: {error}); import it at run time too"
        return PayloadFault(node=spec.name, type=str(written), reason=reason, place=spec.place)
    try:
        msgspec.json.Decoder(meant)
    except Exception as error:
        return PayloadFault(node=spec.name, type=str(written), reason=str(error), place=spec.place)
    return None
