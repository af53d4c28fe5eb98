"""A module of a graph, broken in every way that a pattern finds in its text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from strata.rules import codes
from tests.console import ROOT

EXAMPLES = ROOT / "examples"
GRAPHS_OF_EXAMPLES = sorted(path for path in EXAMPLES.rglob("*.py") if ".compile(" in path.read_text(encoding="utf-8"))
"""The modules of the examples that build a graph."""


def example_of(module: Path) -> str:
    """The name of its folder."""
    return module.relative_to(EXAMPLES).parts[0]


STRANGER = """

class Stranger(State):
    name: str = ""


def always(state: Any) -> bool:
    return True


"""


class Mutant(NamedTuple):
    """`code` is what must be told of it; None: what `compile()` tells, if anything."""

    what: str
    text: str
    code: str | None


class _Mutation(NamedTuple):
    what: str
    pattern: str
    change: str | Callable[[re.Match[str]], str]
    code: str | None = None


def _with_stranger(found: re.Match[str]) -> str:
    return f"{found[1]}Stranger{found[2]}"


MUTATIONS = (
    # names
    _Mutation("a target is misspelt", r'(@edge\("\w+)("\))', r"\1_\2", codes.DANGLING_EDGE),
    _Mutation("the target of a guard is misspelt", r'(@when\(\w+, to="\w+)("\))', r"\1_\2", codes.DANGLING_EDGE),
    _Mutation("a route is misspelt", r'(@on_(?:reject|timeout|failure)\("\w+)(")', r"\1_\2", codes.DANGLING_EDGE),
    _Mutation("a node has another name", r"^@node$", '@node("renamed")'),
    _Mutation("a node has a blank name", r"^@node$", '@node(" ")', codes.BLANK_NAME),
    _Mutation("a name has a slash", r"^@node$", '@node("a/b")', codes.SLASH_IN_NAME),
    _Mutation("the first node is not listed", r"\.nodes\(\w+, ", ".nodes("),
    _Mutation("the last node is not listed", r", \w+\)\.compile", ").compile"),
    _Mutation("a node is listed twice", r"\.nodes\((\w+)", r".nodes(\1, \1", codes.DOUBLED_NODE),
    _Mutation("the start is listed again", r"\.start\((\w+)\)\.nodes\(", r".start(\1).nodes(\1, ", codes.DOUBLED_NODE),
    # edges
    _Mutation("an edge is gone", r"^@edge\(.*\n", ""),
    _Mutation("an edge stands twice", r"^(@edge\(.*\n)", r"\1\1", codes.DOUBLED_EDGE),
    _Mutation("an edge leads back to its own node", r'^@edge\("\w+"\)\n((?:async )?def (\w+))', r'@edge("\2")\n\1', codes.UNGUARDED_CYCLE),
    _Mutation("a guard is gone", r"^@when\(\w+, to=(.*)\)", r"@edge(\1)"),
    _Mutation("an edge is guarded", r"^@edge\((.*)\)", r"@when(always, to=\1)"),
    _Mutation("a guard is async", r"^def (needs_work|is_\w+|\w+_enough)\(", r"async def \1(", codes.ASYNC_GUARD),
    # decorators
    _Mutation("a node has no @node", r"^@node(\(.*\))?\n", "", codes.NOT_A_NODE),
    _Mutation("an edge stands above its node", r"^(@(?:node|parallel|subgraph|map_each|timer).*\n)(@edge\(.*\n)", r"\2\1", codes.MISPLACED_DECORATOR),
    _Mutation("a node has two top decorators", r"^@node$", "@node\n@node", codes.MISPLACED_DECORATOR),
    _Mutation("a boundary is gone", r"^@boundary.*\n(@on_reject)", r"\1", codes.MISPLACED_DECORATOR),
    _Mutation("a wait is tried again", r"^(@(?:wait_for_event|timer)\(.*\n)", r"\1@retry(2)\n", codes.MISPLACED_DECORATOR),
    # types
    _Mutation("a handler is over another state", r"(^@\w+.*\n(?:async )?def \w+\(\w+: )\w+(\b)", _with_stranger, codes.OTHER_STATE),
    _Mutation("a handler gives nothing", r"(^@\w+.*\n(?:async )?def \w+\(.*\)) -> \w+:", r"\1 -> None:", codes.NOTHING_RETURNED),
    _Mutation("a handler forgets to return", r"(^@\w+.*\n(?:async )?def \w+\(.*\) -> \w+:\n    )return ", r"\1", codes.NOTHING_RETURNED),
    _Mutation("a handler takes one parameter more", r"(^@node.*\n(?:@.*\n)*(?:async )?def \w+\(\w+: \w+)", r"\1, more: int", codes.WRONG_FUNCTION),
    _Mutation(
        "a merge or fold is async", r"(^@(?:parallel|map_each|subgraph|wait_for_event|timer).*\n(?:@.*\n)*)def", r"\1async def", codes.WRONG_FUNCTION
    ),
    _Mutation(
        "a field cannot be stored",
        r"(^class \w+\(State\):\n(?:    \"\"\"[^\"]*\"\"\"\n\n?)?    \w+: )[^=\n]+",
        r"\1object ",
        codes.UNSTORABLE_FIELD,
    ),
    # settings
    _Mutation("no hop is allowed", r"\.compile\((?!.*max_node_hops)", ".compile(max_node_hops=0, ", codes.HOP_LIMIT),
    _Mutation("less than one hop is allowed", r"\bmax_node_hops=\d+", "max_node_hops=-1", codes.HOP_LIMIT),
    _Mutation("the id is blank", r"\bid=\"[^\"]+\"", 'id=" "', codes.BLANK_GRAPH_ID),
    _Mutation("the version is blank", r"\bversion=\"[^\"]+\"", 'version=""', codes.BLANK_GRAPH_VERSION),
    _Mutation("a version has no id", r"\bid=\"[^\"]+\", (version=)", r"\1", codes.VERSION_WITHOUT_ID),
    _Mutation("a timeout is zero", r"\btimeout=(?:timedelta\(\w+=\d+\)|[\d.]+)", "timeout=0", codes.TIMEOUT_NOT_POSITIVE),
    _Mutation("a timer has no delay", r"^@timer\(timedelta\(\w+=\d+\)\)", "@timer(0)", codes.DELAY_NOT_POSITIVE),
    _Mutation("a quorum is out of reach", r"\bquorum\(\d+\)", "quorum(99)", codes.INVALID_QUORUM),
    _Mutation("nothing runs at a time", r"\bmax_concurrency=\d+", "max_concurrency=0", codes.CONCURRENCY_NOT_POSITIVE),
)


def mutants_of(text: str) -> Iterator[Mutant]:
    """One for each place where a mutation can be made; texts that would be no Python, or the same, are left out."""
    for mutation in MUTATIONS:
        for found in re.finditer(mutation.pattern, text, re.MULTILINE):
            changed = found.expand(mutation.change) if isinstance(mutation.change, str) else mutation.change(found)
            if changed != found[0]:
                yield Mutant(mutation.what, _with_names(text[: found.start()] + changed + text[found.end() :]), mutation.code)


def _with_names(text: str) -> str:
    """What mutations use is imported behind the first import of strata, or defined there."""
    return re.sub(
        r"^from strata import .*$",
        lambda found: f"{found[0]}\nfrom typing import Any\nfrom strata import State, edge, node, retry, when{STRANGER}",
        text,
        count=1,
        flags=re.MULTILINE,
    )
