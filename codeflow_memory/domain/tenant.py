"""A tenant: one customer, whose database is its own."""

import re

LOCAL = "local"
"""The tenant that every home has; its database lies in the home itself."""

_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


def is_slug(text: str) -> bool:
    """Tell whether a tenant can be called *text*: a label of a host's name, in small letters."""
    return _SLUG.fullmatch(text) is not None
