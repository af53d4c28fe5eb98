"""Names as the Rust engine makes them from those in the source (strata-tools.md 3.3), for types that both engines describe."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias

NamingRule: TypeAlias = Literal[
    "lowercase",
    "UPPERCASE",
    "PascalCase",
    "camelCase",
    "snake_case",
    "SCREAMING_SNAKE_CASE",
    "kebab-case",
    "SCREAMING-KEBAB-CASE",
]


def rename_fields(rule: NamingRule) -> Callable[[str], str]:
    """How fields in `snake_case` are called, to be given to a class: `class Order(msgspec.Struct, rename=rename_fields("camelCase"))`.

    msgspec's own `rename="camel"` differs where a name has capitals or outer underscores: `max_URL` is `maxURL` here.

    Raises:
        ValueError: there is no such rule.
    """
    return _rule(rule, _FIELDS)


def rename_members(rule: NamingRule) -> Callable[[str], str]:
    """How the members of an enum in `PascalCase` are called: `NeedsHuman` is `needs_human` as `snake_case`.

    Raises:
        ValueError: there is no such rule.
    """
    return _rule(rule, _MEMBERS)


def _rule(rule: str, rules: Mapping[str, Callable[[str], str]]) -> Callable[[str], str]:
    if rule not in rules:
        raise ValueError(f"there is no rule '{rule}' for names: use {', '.join(rules)}")
    return rules[rule]


def _same(name: str) -> str:
    return name


def _pascal(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


def _with_small_start(name: str) -> str:
    return name[:1].lower() + name[1:]


def _snake(name: str) -> str:
    return "".join(f"_{letter}" if place > 0 and letter.isupper() else letter for place, letter in enumerate(name)).lower()


def _kebab(name: str) -> str:
    return name.replace("_", "-")


_FIELDS: Final[Mapping[str, Callable[[str], str]]] = {
    "lowercase": _same,
    "UPPERCASE": str.upper,
    "PascalCase": _pascal,
    "camelCase": lambda name: _with_small_start(_pascal(name)),
    "snake_case": _same,
    "SCREAMING_SNAKE_CASE": str.upper,
    "kebab-case": _kebab,
    "SCREAMING-KEBAB-CASE": lambda name: _kebab(name).upper(),
}
_MEMBERS: Final[Mapping[str, Callable[[str], str]]] = {
    "lowercase": str.lower,
    "UPPERCASE": str.upper,
    "PascalCase": _same,
    "camelCase": _with_small_start,
    "snake_case": _snake,
    "SCREAMING_SNAKE_CASE": lambda name: _snake(name).upper(),
    "kebab-case": lambda name: _kebab(_snake(name)),
    "SCREAMING-KEBAB-CASE": lambda name: _kebab(_snake(name)).upper(),
}
