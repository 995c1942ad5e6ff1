"""Where logs are kept: memory, SQLite, PostgreSQL."""
