"""What the data say against the model: the gate in front of every certificate."""
