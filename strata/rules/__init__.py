"""Facts about a graph in, problems out: the rules that `compile()`, `strata graph validate` and every other front end share."""
