"""Why a command cannot do what was asked, and which exit code that is."""

from __future__ import annotations

from strata.errors import GraphInvalid, OptionRefused, Refused, StrataError


class CannotDo(Exception):
    """The command could not do it: exit code 2. `hint` says what would help."""

    def __init__(self, text: str, *, hint: str | None = None) -> None:
        self.text, self.hint = text, hint
        super().__init__(text)


def exit_code(error: StrataError) -> int:
    """1 where a graph has faults or a thread refuses; 2 where the arguments, the store or a file stood in the way."""
    if isinstance(error, OptionRefused):
        return 2
    return 1 if isinstance(error, Refused | GraphInvalid) else 2
