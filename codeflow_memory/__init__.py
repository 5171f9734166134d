"""Code Flow Memory: reviewed project memory for coding agents and the teams around them."""

__version__ = "0.1.0"
