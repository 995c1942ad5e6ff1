"""Who may speak to a server, and how much: tokens, hosts and origins, sizes and rates."""
