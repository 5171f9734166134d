"""REST transport: wire format in, one service call, wire format out."""
