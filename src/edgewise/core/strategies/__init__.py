"""How the joint arms of the coming rounds are chosen."""
