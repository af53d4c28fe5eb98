"""The page of the documentation on the plugin's codes, made of the table of codes and of the examples.

`python -m strata_mypy.page > docs/mypy.md` writes it anew.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

from strata_mypy.codes import DEMANDS, INTERNAL
from strata_mypy.examples import EXAMPLES, PRELUDE, Example

HEAD: Final = """\
# The mypy plugin

`compile()` finds what is wrong with a graph when the module is imported. The plugin finds it before, with the same rules and texts, at the
decorator:

```ini
# mypy.ini
[mypy]
plugins = strata_mypy
strict = true
```

It comes with the extra `mypy` (from a checkout: `pip install '.[mypy]'`), for mypy 2.2 and newer. It only adds: right code is clean with and
without it, and what plain typing finds, such as a node or a guard of another state, it leaves to mypy ([type-checkers.md](type-checkers.md)). Below
a target of Python 3.13 it also gives `replace(...)` and `.override(...)` the names and types of the fields, which mypy knows by itself from there on.

- Problems of a graph are told where it is compiled or validated: at the decorator, if it is in the same file, else where the graph lists the node,
  with the name of the function. Problems of one node are told by the graph that lists it.
- What `@strata_tool` refuses is told at the parameter, or at the decorator: of a function right below it. A parameter without annotation is left to
  mypy where `disallow_untyped_defs`, a part of `strict`, finds it.
- All codes lie under `strata`. `# type: ignore[strata-dead-edge]` takes one, `# type: ignore[strata]` all; `disable_error_code` in the
  configuration likewise. What is a warning of `compile()` is an error here, as mypy knows no other.
- Where a name is computed, a list of nodes is unpacked, a variable is bound twice, marks are added in a loop, or a graph is made from data,
  nothing is known and nothing is said: `compile()` checks.
- A node is seen through its type. Decorated modules may lie anywhere; caches, `-n` and `dmypy` know when a decorator has changed.
- `strata-internal` is a fault of the plugin itself. The check goes on without it; please report it.

## Codes

Each with what it demands, a graph that is wrong, and one that is right. The codes of `compile()` have the same names (`STRATA_PY_DEAD_EDGE`), and
[problems.md](problems.md) explains them. All examples begin with:

"""


def page() -> str:
    """The Markdown."""
    return "".join([HEAD, _block(PRELUDE), *(part for example in EXAMPLES for part in _section(example))])


def codes_without_example() -> set[str]:
    """There are none but the code of the plugin's own faults."""
    return DEMANDS.keys() - {example.code for example in EXAMPLES} - {INTERNAL}


def _section(example: Example) -> Iterator[str]:
    yield f"\n### `{example.code}`\n\n{DEMANDS[example.code]}.\n\n"
    yield _block(f"# wrong\n{example.wrong}")
    yield "\n"
    yield _block(f"# right\n{example.right}")


def _block(code: str) -> str:
    return f"```python\n{code}```\n"


if __name__ == "__main__":
    sys.stdout.write(page())
