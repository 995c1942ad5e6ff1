"""The user's network, checked: graph, arms, candidates."""
