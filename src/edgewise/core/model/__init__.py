"""What is assumed: the problem, and the cells its edges can show."""
