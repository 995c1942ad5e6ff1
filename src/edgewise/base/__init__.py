"""What everybody stands on: array types, the door to numba, BLAS threads, choosing by name."""
