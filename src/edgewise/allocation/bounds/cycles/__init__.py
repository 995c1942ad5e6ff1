"""Upper bounds from odd cycles."""
