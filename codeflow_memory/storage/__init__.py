"""The database: statements as literals, one file a noun; only `engine` knows which engine runs."""
