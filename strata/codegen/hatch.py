"""The build hook `strata-tools` of hatchling: what is made of tools is made anew before a wheel or an sdist takes it up.

[build-system]
requires = ["hatchling", "strata[codegen]"]
build-backend = "hatchling.build"

[tool.hatch.build.hooks.strata-tools]
source = "src"
out = "src/desk/made"
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.plugin import hookimpl

from strata.codegen.finding import shown
from strata.codegen.hook_options import BuildRefused, HookOptions, options_of
from strata.graph.captions import visible
from strata.project.settings import SettingsWrong, settings_for

if TYPE_CHECKING:
    from strata.codegen.generating import Generated
    from strata.codegen.writing import Compared


@hookimpl
def hatch_register_build_hook() -> type[BuildHookInterface[BuilderConfig]]:
    """Asked by hatchling, which finds this module by its entry point."""
    return StrataToolsHook


class StrataToolsHook(BuildHookInterface[BuilderConfig]):
    """Does before each build what `strata tools generate` does, with the same texts; editable installs are such builds too."""

    PLUGIN_NAME = "strata-tools"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the files; what is wrong with the tools ends the build."""
        root = Path(self.root)
        try:
            options = options_of(self.config, root)
            generated = _generated(options, root)
            files = _compared(options, generated, root)
            done = _settle(files, options, root)
        except BuildRefused as refusal:
            self.app.abort(_told(refusal))
            return
        for problem in generated.read.problems:  # warnings: with an error nothing is generated
            self.app.display_warning(_told(problem))
        self.app.display_info(_told(done))
        build_data["artifacts"].extend(_pattern(file.path.relative_to(root)) for file in files)


def _generated(options: HookOptions, root: Path) -> Generated:
    """What the sources give, if that is anything."""
    try:
        from strata.codegen.generating import generate
    except ModuleNotFoundError as error:
        if error.name != "libcst":
            raise
        raise BuildRefused('libcst is not installed: say "strata[codegen]" in requires under [build-system]') from error
    try:
        generated = generate(options.source, settings_for(root), shown_from=root)
    except SettingsWrong as error:
        raise BuildRefused(error.text if error.hint is None else f"{error.text}: {error.hint}") from error
    if not generated.files:
        faults = [*generated.read.problems, *generated.read.unreadable]
        named = ", ".join(shown(path, root) for path in options.source)
        raise BuildRefused("\n".join(map(str, faults)) or f"no tool is declared in what 'source' names, {named}")
    return generated


def _compared(options: HookOptions, generated: Generated, root: Path) -> list[Compared]:
    """The files as they lie there, against those that should."""
    from strata.codegen.writing import NotOurs, compared

    try:
        return compared(options.out, generated.files)
    except NotOurs as error:
        raise BuildRefused(f"{NotOurs(error.path.relative_to(root))}: move it, or name another folder with 'out'") from error
    except OSError as error:
        raise BuildRefused(f"'{error.filename}' cannot be read: {error.strerror}") from error


def _settle(files: Sequence[Compared], options: HookOptions, root: Path) -> str:
    """Write what has to be written, and say so."""
    from strata.codegen.writing import write

    differing = [file for file in files if file.state != "current"]
    if not differing:
        return "all that is made of the tools is current"
    if options.check:
        diffs = [file.diff(shown(file.path, root)) for file in differing]
        raise BuildRefused("\n".join((*diffs, f"{len(differing)} of {len(files)} files are stale, and 'check' forbids to write them")))
    for file in differing:
        try:
            write(file)
        except OSError as error:
            raise BuildRefused(f"'{file.path}' cannot be written: {error.strerror}") from error
    return f"{', '.join(shown(file.path, root) for file in differing)} written"


def _told(what: object) -> str:
    return "\n".join(f"strata-tools: {visible(line)}" for line in str(what).splitlines())


def _pattern(path: Path) -> str:
    """The one file as hatch's patterns have it, which are those of `.gitignore`: it is built in though git ignores it."""
    return "/" + re.sub(r"([\\*?\[])", r"\\\1", path.as_posix())
