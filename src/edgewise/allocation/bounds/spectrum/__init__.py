"""Upper bounds from eigenvalues and semidefinite programmes, proved after the fact."""
