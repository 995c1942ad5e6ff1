"""Contract suites: subclass one, give it your strategy, rule, target, allocator or storage, and
pytest runs what edgewise asks of it.
"""
