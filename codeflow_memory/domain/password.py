"""Passwords: what a person may take as one.

Length is all that is asked for: rules of composition make people choose what is easily guessed, and
a bound far above any passphrase keeps the hash from being fed megabytes.

Source:
    NIST SP 800-63B, on passwords; OWASP ASVS 5.0, V6.2.
"""

from typing import Final

from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.domain.text import normalise

MIN_CHARACTERS: Final = 12
"""Code points."""

MAX_BYTES: Final = 4_096
"""In UTF-8."""


def canonical(text: str) -> bytes | None:
    """Return *text* as it is hashed: NFC in UTF-8, the same from every keyboard.

    Returns:
        ``None`` for what is longer than any password, or has no encoding: a lone surrogate.
    """
    if len(text) > MAX_BYTES:
        return None
    try:
        data = normalise(text).encode("utf-8")
    except UnicodeEncodeError:
        return None
    return data if len(data) <= MAX_BYTES else None


def parse_new_password(pointer: str, text: str) -> bytes:
    """Return a new password as it is hashed.

    Raises:
        InvalidRequestError: At *pointer*: too short, or longer than any password.
    """
    data = canonical(text)
    if data is None or len(normalise(text)) < MIN_CHARACTERS:
        raise InvalidRequestError.at(
            pointer, f"must have {MIN_CHARACTERS} characters or more, and at most {MAX_BYTES} bytes"
        )
    return data
