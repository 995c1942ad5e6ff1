"""Which arm for every node: maximise the global reward, and bound what could be better."""
