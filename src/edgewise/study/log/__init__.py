"""Events, their fold into a state, and what requests do."""
