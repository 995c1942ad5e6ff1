"""What the rewards say: statistics per cell, least squares, evidence, noise, lack of fit."""
