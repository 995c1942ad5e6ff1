"""Settings shared by all tests."""

from hypothesis import settings

# The same examples in every run, so that a red build means a changed program; no deadline,
# because the first call of a kernel may compile it.
settings.register_profile("edgewise", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("edgewise")
