"""The same life of two homes, one on each engine, and everything that they can be asked."""
