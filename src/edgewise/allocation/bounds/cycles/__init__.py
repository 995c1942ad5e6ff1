"""Upper bounds from odd cycles: packed whole, or with the tables of their edges split freely."""
