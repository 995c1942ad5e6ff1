"""Studies from files: configuration and measurements."""
