"""Encrypted offline backup of a home: it stands alone, and shares no import with the server."""
