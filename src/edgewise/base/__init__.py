"""What everybody stands on: arrays, random numbers, choice by name, numba, BLAS threads."""
