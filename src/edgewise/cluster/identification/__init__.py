"""Rounds on partitions: draw, measure and sum where the edges lie."""
