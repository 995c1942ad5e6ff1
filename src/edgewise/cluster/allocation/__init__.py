"""Which arm for whom on partitions: starts, sweeps, bounds."""
