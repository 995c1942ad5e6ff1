"""The data: edges in partitions, nodes in ranges, checked and summarised once."""
