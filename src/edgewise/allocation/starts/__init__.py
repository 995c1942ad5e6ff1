"""Cheap first allocations: one or two arms for all, one greedy pass, planted communities."""
