"""What a comparison of two graphs found."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Effect: TypeAlias = Literal["breaks", "caution", "harmless"]
"""What becomes of a paused thread.

* `breaks`: a resume, an event or a wake is refused, a timeout ends the thread, or it goes on without what it held or against its answer.
* `caution`: it goes on, perhaps not as meant; or these descriptions cannot decide it.
* `harmless`: it goes on as it would have.
"""

Reach: TypeAlias = Literal["level", "node", "inside", "pause", "timeout"]
"""Which threads of the finding's level it concerns.

* `level`: all that have it.
* `node`: those that stand at the node, or go on with it.
* `inside`: those that stand in the graph inside the node.
* `pause`: those that the node itself has paused.
* `timeout`: those that it has paused until a time.
"""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A change, and what it does to paused threads. `level` are the subgraph nodes that lead to it, `field` is a path in its state."""

    code: str
    effect: Effect
    reach: Reach
    text: str
    level: tuple[str, ...] = ()
    node: str | None = None
    field: str | None = None
    hint: str | None = None
