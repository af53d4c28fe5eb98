"""An environment of its own for each contender, and the Rust engine where cargo is found."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
VENVS = HERE / "venvs"
BUILD_SECONDS = 1_800

PACKAGES: dict[str, list[str]] = {
    "limit": ["msgspec"],
    "strata": ["--editable", str(ROOT)],
    "langgraph": ["langgraph", "langgraph-checkpoint-sqlite"],
    "burr": ["apache-burr[tracking]", "aiosqlite"],
}
SCRIPTS = {"limit": "limit.py", "strata": "strata_py.py", "langgraph": "langgraph_py.py", "burr": "burr_py.py"}


def python_of(name: str) -> Path:
    return VENVS / name / "bin" / "python"


def prepare(name: str) -> list[str]:
    """The command that runs a workload of the contender when the workload's name is added; packages are installed once."""
    folder, done = VENVS / name, VENVS / name / ".installed"
    if not done.exists():
        print(f"installing {name} ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python_of(name)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES[name]], check=True)
        done.touch()
    return [str(python_of(name)), str(HERE / "contenders" / SCRIPTS[name])]


def prepare_rust(*, synchronous_normal: bool = False) -> list[str] | None:
    """The Rust engine's program; None, with a line that says so, where it cannot be built.

    Its store cannot choose `synchronous`: SQLite is compiled into it, so NORMAL is a second build in a folder of its own.
    """
    cargo = shutil.which("cargo")
    if cargo is None:
        print("cargo is not here: the Rust engine is left out", flush=True)
        return None
    target = Path(os.environ.get("STRATA_PEER_TARGET") or Path.home() / ".cache" / "strata-peer")
    environment = dict(os.environ)
    if synchronous_normal:
        target = target.with_name(target.name + "-normal")
        environment["LIBSQLITE3_FLAGS"] = "-DSQLITE_DEFAULT_WAL_SYNCHRONOUS=1"
    environment["CARGO_TARGET_DIR"] = str(target)
    if not (target / "release" / "strata-bench").exists():
        print("building the Rust engine, about five minutes ...", flush=True)
    command = [cargo, "build", "--release", "--quiet", "--manifest-path", str(HERE / "rust" / "Cargo.toml")]
    built = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False)
    if built.returncode != 0:
        print(f"the Rust engine does not build, it is left out:\n{built.stderr[-2_000:]}", flush=True)
        return None
    return [str(target / "release" / "strata-bench")]
