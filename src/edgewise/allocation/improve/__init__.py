"""Better and better allocations: local search, and annealing that ends in one."""
