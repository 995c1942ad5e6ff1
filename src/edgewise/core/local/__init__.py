"""Edges alike but not equal: normal equations per channel, partial pooling, posterior, tests."""
