"""One file per figure or table: its cells, and what their rows say."""
