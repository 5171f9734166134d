"""Redaction of whatever is stored: the rules of the product and a maintained detector together."""

from codeflow_memory.adapters.detector import detect
from codeflow_memory.domain import secrets
from codeflow_memory.domain.memory import Content
from codeflow_memory.domain.secrets import Secret

_DETECTORS = (detect,)


def find(text: str) -> list[Secret]:
    """Find the secrets of *text*, in order and apart from each other."""
    return secrets.find(text, _DETECTORS)


def redact(text: str) -> str:
    """Replace each secret of *text* by ``[redacted:<kind>]``."""
    return secrets.redact(text, _DETECTORS)[0]


def redact_content(content: Content) -> tuple[Content, tuple[str, ...]]:
    """Redact every text of *content*, as `domain.secrets.redact_content` says.

    Raises:
        InvalidRequestError: At ``/title`` or ``/body``, when nothing but secrets stood there, or
            when the text with its replacements is over the field's limit.
    """
    return secrets.redact_content(content, _DETECTORS)
