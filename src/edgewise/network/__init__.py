"""The user's network, checked: who interacts with whom, the arms, and who may take which."""
