"""A code of the plugin can be switched off, for all files or by its parent `strata` with all the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mypy_plugin.checking import CASES, configuration, mypy, said

pytestmark = [pytest.mark.checkers, pytest.mark.slow]


def codes_told(folder: Path, disabled: str) -> set[str]:
    flags = ["--config-file", str(configuration(folder)), "--output=json", f"--disable-error-code={disabled}"]
    report = said(mypy([*flags, str(CASES / "structure.py")]))
    return {one.code for one in report if one.severity == "error" and one.code is not None}


def test_one_code_and_all_of_them(tmp_path: Path) -> None:
    without_orphans = codes_told(tmp_path, "strata-orphan")
    assert "strata-orphan" not in without_orphans
    assert {"strata-dangling-edge", "strata-unguarded-cycle"} <= without_orphans
    assert {code for code in codes_told(tmp_path, "strata") if code.startswith("strata")} == set()
