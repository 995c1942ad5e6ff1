"""Which arm for every node: maximise a sum over the edges, and bound what could be better.

``instance`` holds the sum, ready for kernels; ``starts`` makes cheap first allocations, ``improve``
makes them better, ``optimum`` proves the best, ``bounds`` says what none can exceed. ``portfolio``
and ``exact`` combine them, ``request`` reads what the caller wants, ``allocate`` is the door.
Nothing here knows of rewards that are observed, or of rounds.
"""
