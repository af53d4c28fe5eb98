"""Tools as the providers of models want to be told of them."""

from __future__ import annotations

from strata.tools.providers.lists import ProviderTools as ProviderTools
from strata.tools.providers.lists import anthropic_tools as anthropic_tools
from strata.tools.providers.lists import mcp_tools as mcp_tools
from strata.tools.providers.lists import openai_tools as openai_tools
from strata.tools.providers.names import provider_names as provider_names
from strata.tools.providers.nulls import without_default_nulls as without_default_nulls
from strata.tools.providers.strict import NotStrict as NotStrict
from strata.tools.providers.strict import Strict as Strict
from strata.tools.providers.strict import anthropic_strict as anthropic_strict
from strata.tools.providers.strict import openai_strict as openai_strict
