"""What all commands share: options, sources, and answers in three formats."""
