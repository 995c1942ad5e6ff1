"""Optimal allocations, proved."""
