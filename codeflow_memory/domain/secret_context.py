"""Credentials that only their surroundings give away: key blocks, assignments, addresses, headers.

A value found there must also look like one: a placeholder, a name, a path, a call or a word of
prose after ``password:`` is none.
"""

import re
from collections.abc import Callable, Iterator

from codeflow_memory.domain.secret_forms import find_in_forms
from codeflow_memory.domain.secret_speech import find_spoken
from codeflow_memory.domain.secret_values import (
    Found,
    is_password,
    is_placeholder,
    is_token,
    trimmed,
)

_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]{1,40}-----")
_KEY_LINES = re.compile(
    r"(?:(?:\s|\\n|\\r){0,6}(?:(?:Proc-Type|DEK-Info|Version|Comment): [^\n]{0,200}"
    r"|[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]{1,15}={1,2}))*"
)
_PUTTY = re.compile(r"Private-Lines: \d{1,4}\s(?P<value>[A-Za-z0-9+/=\s]{40,})")

# What is below reads the text in lower case: twice as fast as ignoring case while matching.
_SEPARATOR = re.compile(r"=>|:=|[:=]")
_VALUE = re.compile(
    r"[ \t]{0,8}(?:\"(?P<q1>[^\"\n]{4,400})\"|'(?P<q2>[^'\n]{4,400})'|`(?P<q3>[^`\n]{4,400})`"
    r"|(?P<value>[^\s\"'`,;<>]{6,400}))"
)
_ADDRESS = re.compile(
    r"://(?P<user>[^\s/:@\"'<>]{0,100}):(?P<value>[^\s/\"'<>]{3,200})@[\w\[$%{]", re.A
)
_USER_TOKEN = re.compile(r"://(?P<value>[\w-]{20,200})@[\w\[]", re.A)
_PASSWORD_NAMES = ("password", "passwd", "passphrase", "passwort", "pwd")
_KEYS = (
    *("api", "access", "secret", "private", "encryption", "signing", "auth", "account", "app"),
    *("application", "license", "master"),
)
_TOKEN_NAMES = (
    *(f"{name}{joint}key" for name in _KEYS for joint in ("_", "-", " ", "")),
    *("secret", "token", "credential", "credentials", "_auth", '"auth', "key_base", "key-data"),
    *("tls.key", "privatekey", "x-api-key"),
)
_ENVIRONMENT = re.compile(
    r"[_-](?:prod|production|live|dev|test|staging|stage|new|old|default|\d{1,2})\Z"
)
_QUERY = re.compile(r"[?&;][\w.-]{1,40}\Z")
_LONGEST_NAME = 48
_MAX_TRIES = 4


def find_in_context(text: str) -> Iterator[Found]:
    """Yield what the surroundings give away, in no particular order; spans may overlap."""
    # The one capital whose small form is two characters would move the offsets.
    lowered = text.replace("\u0130", "I").lower()
    if "private key" in lowered:
        yield from _key_blocks(text)
    if "Private-Lines" in text:
        yield from (("private-key", *found.span("value")) for found in _PUTTY.finditer(text))
    if "://" in text:
        yield from _addresses(text)
    yield from find_in_forms(text, lowered)
    yield from _assignments(text, lowered)
    yield from find_spoken(text, lowered)


def _key_blocks(text: str) -> Iterator[Found]:
    done = 0
    for begin in _BEGIN.finditer(text):
        if begin.start() < done:
            continue
        end = _END.search(text, begin.end())
        # A block that was cut off still holds the key.
        done = end.end() if end else _KEY_LINES.match(text, begin.end()).end()  # type: ignore[union-attr]  # it matches the empty text
        yield "private-key", begin.start(), done


def _addresses(text: str) -> Iterator[Found]:
    for found in _ADDRESS.finditer(text):
        value = found["value"]
        if value != found["user"] and not is_placeholder(value):
            web = text[: found.start()][-5:].lower().endswith(("http", "https"))
            yield "url-password" if web else "connection-password", *found.span("value")
    for found in _USER_TOKEN.finditer(text):
        if is_token(found["value"]):
            yield "url-token", *found.span("value")


def _assignments(text: str, lowered: str) -> Iterator[Found]:
    """Yield values that are assigned to a name for secrets, found from the sign backwards.

    Signs are rare and names are not: this costs a fifth of a pattern that begins with the names.
    """
    until, tries = 0, 0
    for sign in _SEPARATOR.finditer(lowered):
        is_secret = _expected(lowered, sign.start())
        found = _VALUE.match(text, sign.end()) if is_secret else None
        if found is None or is_secret is None:
            continue
        group = str(found.lastgroup)
        start, end = found.span(group)
        # In `token:token:…` every sign starts a value within the one before; a few are enough.
        if sign.start() >= until:
            until, tries = end, 0
        tries += 1
        if tries > _MAX_TRIES:
            continue
        if group == "value":
            end = _until_next(text, sign.start(), start, end)
            start, end = trimmed(text, start, end)
        if is_secret(text[start:end]):
            yield "password" if is_secret is is_password else "credential", start, end


def _until_next(text: str, sign: int, start: int, end: int) -> int:
    """Return where a value ends in which ``&`` begins the next one, as in an address."""
    following = text.find("&", start, end)
    if following < 0 or not _QUERY.search(text, max(0, sign - _LONGEST_NAME), sign):
        return end
    return following


def _expected(lowered: str, sign: int) -> Callable[[str], bool] | None:
    """Return the test for what is assigned by the sign at *sign*, if its name is of a secret."""
    before = lowered[max(0, sign - _LONGEST_NAME) : sign]
    name = before.rstrip(" \t").rstrip("\"']")
    if not name or not name[-1].isalnum():
        return None
    name = _ENVIRONMENT.sub("", name)
    if name.endswith(_PASSWORD_NAMES) or _is_pass(name):
        return is_password
    return is_token if name.endswith(_TOKEN_NAMES) else None


def _is_pass(name: str) -> bool:
    return name.endswith("pass") and not name[-5:-4].isalpha()
