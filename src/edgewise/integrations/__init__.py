"""Real systems as problems; what they share: ordered settings, runs, rivals, gains."""
