"""Graphs as values: states, decorators, the builder, definitions, and what `compile()` gives."""
