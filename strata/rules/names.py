"""Names that other engines accept and that paths, drawings or people could not tell apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from strata.rules import codes
from strata.rules.facts import NodeFacts
from strata.rules.levels import Level
from strata.rules.problem import Problem

WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
"""What the other engines trim; `str.strip()` also takes the separators U+001C to U+001F."""


def is_blank(text: str) -> bool:
    """Whether nothing is left of the text after trimming it as the other engines do."""
    return not text.strip(WHITE_SPACE)


def name_faults(level: Level) -> Iterator[Problem]:
    """Blank names, and `/` or `*` in one: of the level's nodes, and of the branches of its groups."""
    for node in level.graph.nodes:
        for code, fault in _faults_of(node.name):
            text = f"the name of node '{node.name}' {fault}"
            yield Problem(code=code, severity="error", text=text, node=level.qualified(node.name), place=node.place)
        for branch in node.branches:
            for code, fault in _faults_of(branch.name):
                path = level.qualified(node.name)
                text = f"the name of branch '{branch.name}' of parallel group '{path}' {fault}"
                yield Problem(code=code, severity="error", text=text, node=path, place=branch.place or node.place)


def doubled_nodes(level: Level, doubled: Iterable[NodeFacts] = ()) -> Iterator[Problem]:
    """Nodes that stand twice: in the level itself, which only a file can hold, or set aside as `doubled` by a builder."""
    seen: set[str] = set()
    again: list[NodeFacts] = []
    for node in level.graph.nodes:
        if node.name in seen:
            again.append(node)
        seen.add(node.name)
    for node in (*again, *doubled):
        path = level.qualified(node.name)
        text = f"node '{path}' stands twice in the graph: a node has one place; list it once, or give the second a name of its own"
        yield Problem(code=codes.DOUBLED_NODE, severity="error", text=text, node=path, place=node.place)


def _faults_of(name: str) -> Iterator[tuple[str, str]]:
    if is_blank(name):
        yield codes.BLANK_NAME, "is blank: threads, errors and drawings need one to show"
    if "/" in name:
        yield codes.SLASH_IN_NAME, "has a '/': paths join names with it, so it could mean two nodes"
    if "*" in name:
        yield codes.STAR_IN_NAME, "has a '*': in paths it stands for a map's item"
