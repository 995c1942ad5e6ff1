"""Cheap first allocations."""
