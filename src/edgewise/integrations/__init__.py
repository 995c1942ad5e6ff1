"""Real systems as problems. Each integration needs an extra of its own."""
