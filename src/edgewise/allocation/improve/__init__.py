"""Better and better allocations."""
