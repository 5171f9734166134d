"""Use cases; every write is one transaction."""
