"""Upper bounds from eigenvalues and semidefinite programmes."""
