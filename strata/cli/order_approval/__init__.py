"""What `strata demo` tells: an order that outlives the processes that work on it."""
