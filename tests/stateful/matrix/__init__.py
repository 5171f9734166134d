"""The authorisation matrix: what the specification says of each cell, and what the product does."""
