"""Contract suites: what a part of your own must satisfy to work with edgewise. They need pytest.

Inherit from a suite in a test file of yours and override its fixture; pytest runs the rest.
"""
