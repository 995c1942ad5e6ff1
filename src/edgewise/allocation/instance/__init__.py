"""The sum to be maximised, ready for kernels."""
