"""The Model Context Protocol, through its official SDK; both eras of it, and no state between."""
