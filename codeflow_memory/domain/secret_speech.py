"""Credentials that are spoken of: a word for a secret, and near it what no author would invent.

Nothing ties the two but their nearness on one line, so the value itself must be convincing: letters
of both cases and digits in turn, or, right behind the word, digits and letters with a sign.
"""

import re
from collections.abc import Iterator

from codeflow_memory.domain.secret_values import (
    Found,
    is_data,
    is_generated,
    is_marked,
    is_password,
    is_token,
    trimmed,
)

_BEHIND = 64
"""Characters behind the word; a value further away belongs to something else."""

_BEFORE = 40
"""Characters before it, for "use … as the password"."""

_LONGEST = 72
"""Characters of what only nearness gives away; data in base64 is longer, or has its signs."""

_PASSWORDS = ("password", "passwd", "passphrase", "passcode", "passwort", "creds", "credentials")
_CHINESE = ("\u5bc6\u7801", "\u53e3\u4ee4", "\u5bc6\u94a5", "\u4ee4\u724c", "\u51ed\u636e")
_TOKENS = (
    "token",
    "secret",
    "api key",
    "api-key",
    "apikey",
    "access key",
    "private key",
    "secret key",
    "signing key",
    "encryption key",
)
_SHORT = (" pw", "_pw", " pwd", "_pwd", " psk", "_psk", "requirepass", "_key")
_NOUNS = (*_PASSWORDS, *_CHINESE, *_TOKENS, *_SHORT)
_FOR_PASSWORDS = frozenset((*_PASSWORDS, *_CHINESE, *_SHORT[:-1]))

_WORD = re.compile(r"[^\s\"'`<>|,;(){}\[\]\x7f-\U0010FFFF]{7,200}")
_ASSIGNED = re.compile(r"[\w.-]{0,40}[=:]+(?=.)")
_AS = re.compile(r"\b(?:as|for|is)\s[^\n]{0,20}\Z|\u4f5c\u4e3a\Z|\u4e3a\Z|\u662f\Z")
_NEXT = re.compile(
    r"[\"'`]?(?: ?\([^()\n]{1,30}\)| (?:for|of|on|to) [^:\n]{1,30}(?=:))?[ \t:=,|]{0,4}[\"'`]?"
    r"(?P<value>[^\s\"'`<>|,;(){}\[\]\x7f-\U0010FFFF]{7,200})"
)
_IS = re.compile(
    r"(?:\s{1,3}(?:is|was|to|=|:)\s{1,3}|\s{0,3}[\u662f\u4e3a:]\s{0,3})[\"'`]?"
    r"(?P<value>[\w.~+/=-]{16,200})",
    re.A,
)
_VALUED = re.compile(
    r"(?:[\"'](?:\s{1,3}value)?\s{0,3}=|\s)\s{0,3}[\"'](?P<value>[^\s\"']{6,100})[\"']"
)


def find_spoken(text: str, lowered: str) -> Iterator[Found]:
    """Yield what is near a word for a secret; *lowered* is *text* in lower case."""
    for noun in _NOUNS:
        at = lowered.find(noun)
        while at >= 0:
            end = at + len(noun)
            if not lowered[end : end + 1].isascii() or not lowered[end : end + 1].isalpha():
                yield from _near(text, at, end, password=noun in _FOR_PASSWORDS)
            at = lowered.find(noun, end)


def _near(text: str, start: int, end: int, *, password: bool) -> Iterator[Found]:
    kind = "password" if password else "credential"
    line_end = text.find("\n", end, end + _BEHIND)
    for span in _words(text, end, end + _BEHIND if line_end < 0 else line_end):
        yield kind, *span
    for span in _said(text, end, password=password):
        yield kind, *span
    line = text.rfind("\n", max(0, start - _BEFORE), start) + 1 or max(0, start - _BEFORE)
    if _AS.search(text, line, start):
        yield from ((kind, *span) for span in _words(text, line, start))


def _said(text: str, end: int, *, password: bool) -> Iterator[tuple[int, int]]:
    """Yield what stands right behind the word that ends at *end*."""
    forms = [(form, is_password if password else is_token) for form in (_IS, _VALUED)]
    if password:
        forms.append((_NEXT, is_marked))
    for form, is_secret in forms:
        if said := form.match(text, end):
            first, last = trimmed(text, *said.span("value"))
            if is_secret(text[first:last]):
                yield first, last


def _words(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of generated words that begin between *start* and *end*."""
    at = start
    while found := _WORD.search(text, at, end + 200):
        if found.start() >= end:
            return
        at = found.end()
        first, last = trimmed(text, *found.span())
        if assigned := _ASSIGNED.match(text, first, last):
            first = assigned.end()
        value = text[first:last]
        if len(value) <= _LONGEST and not is_data(value) and is_generated(value):
            yield first, last
