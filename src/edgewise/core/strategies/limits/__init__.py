"""Limits: what a strategy may deploy next, given what is deployed now, or what it may lose."""
