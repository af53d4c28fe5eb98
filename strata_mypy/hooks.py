"""The plugin as mypy sees it: which of our hooks it calls for a name."""

from __future__ import annotations

from collections.abc import Callable

from mypy.nodes import TypeInfo
from mypy.plugin import ClassDefContext, FunctionContext, MethodContext, MethodSigContext, Plugin, ReportConfigContext
from mypy.types import FunctionLike, Type

from strata_mypy.names import SIGNAL, STATE
from strata_mypy.surface import FIELDS, FUNCTIONS, METHODS, OVERRIDE, REPLACE
from strata_mypy.version import rules_version

TYPED_REPLACE = (3, 13)
"""The first Python for which mypy knows the fields of `__replace__` by itself."""


VERSION = rules_version()


class StrataPlugin(Plugin):
    def report_config_data(self, ctx: ReportConfigContext) -> str:
        """Kept with each module, and compared before its cache is taken: `__version__` is kept once for all of them, so a run over
        one module would make the old answers for the others look fresh."""
        return VERSION

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        return FUNCTIONS.get(fullname)

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        return METHODS.get(fullname)

    def get_method_signature_hook(self, fullname: str) -> Callable[[MethodSigContext], FunctionLike] | None:
        """mypy gives the class of the receiver, `essays.Essay.replace`, and not that which defines the method."""
        if self.python_version >= TYPED_REPLACE:
            return None
        owner, _, method = fullname.rpartition(".")
        if method == "replace" and self._is_state(owner):
            return REPLACE
        return OVERRIDE if fullname == f"{SIGNAL}.override" else None

    def get_base_class_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        return FIELDS if self._is_state(fullname) else None

    def _is_state(self, fullname: str) -> bool:
        if fullname.startswith("builtins."):
            return False  # asked for every text.replace(...)
        symbol = self.lookup_fully_qualified(fullname)
        return symbol is not None and isinstance(symbol.node, TypeInfo) and symbol.node.has_base(STATE)
