"""Optimal allocations, proved: all of them, node by node in tables, or by branching."""
