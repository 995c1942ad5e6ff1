"""Contract suites: what a part of your own must satisfy to work with edgewise. They need pytest.

Inherit from a suite in a test file of yours and return your strategy, rule, target, allocator or
storage from the method that asks for it; pytest runs the rest.
"""
