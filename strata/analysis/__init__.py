"""What source text says of its graphs, without importing it: `strata check`.

The statements of a module are followed in their order, with values in place of objects: a function, a node, a graph, or
UNKNOWN. Where a value cannot be told, the rules that would need it say nothing; there is no guess, and no false error.
"""
