"""Where a name is defined, for a module that would name it too."""

from __future__ import annotations

import builtins
from dataclasses import dataclass

import libcst as cst

from strata.codegen.bindings import Assigned, Import
from strata.codegen.faults import NotRead
from strata.codegen.modules import Modules, SourceModule
from strata.codegen.names import Names
from strata.codegen.values import ModuleRef


@dataclass(frozen=True, slots=True)
class Home:
    """A name of a module; without a name the module itself."""

    module: str
    name: str | None = None


class Homes:
    """Follows imports to where a name is bound otherwise."""

    def __init__(self, modules: Modules, names: Names) -> None:
        self._modules, self._names = modules, names

    def of(self, name: str, source: SourceModule) -> Home:
        """The home of a name that a module uses."""
        binding = source.bindings.of(name, before=None)
        for star in source.bindings.stars_after(binding, before=None):
            if self._names.gives(star, name, source):
                return self.member(star.module, name, source)
        match binding.bound if binding is not None else None:
            case None:
                return Home("builtins" if hasattr(builtins, name) else source.name, name)
            case Import(module, None):
                return Home(module)
            case Import(module, str() as inner):
                return self.member(module, inner, source)
            case _:
                return Home(source.name, name)

    def member(self, module: str, name: str, importer: SourceModule) -> Home:
        """The home of what a module gives under a name."""
        source = self._modules.module(module)
        if source is not None and source is not importer and self._names.binds(source, name):
            return self.of(name, source)
        try:
            found = self._names.member(module, name, importer.tree, importer)
        except NotRead:
            return Home(module, name)
        return Home(found.name) if isinstance(found, ModuleRef) else Home(module, name)

    def text(self, home: Home) -> tuple[cst.BaseExpression, SourceModule] | None:
        """The expression that a name of the sources is assigned, with the module that it stands in; None for anything else."""
        source = self._modules.module(home.module) if home.name is not None else None
        binding = None if source is None or home.name is None else source.bindings.of(home.name, before=None)
        if source is None or binding is None or not isinstance(binding.bound, Assigned):
            return None
        return binding.bound.value, source
