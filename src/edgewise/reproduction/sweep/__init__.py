"""Work in independent pieces: what is measured, cut into cells, run anywhere, kept on disk."""
