"""Rules and values: standard library only, no I/O, no clock, no randomness."""
