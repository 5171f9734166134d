"""What a secret looks like by itself, told from names, paths, calls, placeholders and prose."""

import math
import re
from collections import Counter

Found = tuple[str, int, int]
"""Kind, start, end."""

MIN_PASSWORD = 6
"""Characters; shorter ones cannot be told from prose."""

MIN_TOKEN = 16
"""Characters of a value that is called a token or key."""

MIN_ENTROPY = 3.0
"""Bits a character of such a value. Hex reaches 3.3 to 4, English identifiers of one word 2.5."""

MIN_TURNS = 0.2
"""Least share of places where letter case rises or letters meet digits.

Random letters and digits have about 0.4, camel case and snake case below 0.18.
"""

GENERATED_TURNS = 0.25
"""The same for a value that nothing assigns."""

_PLACEHOLDER = re.compile(
    r"[x*.•#_?-]+|<.*|\[.*|\(.*|\{.*|\$.*|%.*|@.*|your\b.*|your[_-].*|my[_-]?(?:secret|password|token|key).*|id=.*"
    r"|.*(?:redacted|example|placeholder|change[_-]?me|change[_-]?it|dummy|insert|replace[_-]|not[_-]?set|\.\.\.|…).*"
    r"|(?:test|pass|password|valid|invalid|wrong)(?:pass|password)?\d{1,4}!?"
    r"|(?:pass|password|passwd|pwd|secret|token|key|user|username|postgres|root|none|null|true|false)",
    re.I,
)
_ALGORITHM = re.compile(
    r"(?:argon2|bcrypt|scrypt|pbkdf2|sha-?\d|md5|base64|utf-?\d|aes-?\d|rsa-?\d|hs256|rs256|oauth)",
    re.I,
)
_EXPRESSION = re.compile(r"^\$|^[A-Za-z_][\w.]*[(\[{]|::|->|=>|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$")
_LOCATION = re.compile(
    r"(?:~?/|\.{1,2}/|[a-z]:[\\/]|[a-z][a-z0-9+.-]{1,15}://)|.*\.[a-z]{1,4}$",
    re.I,
)
_PART = re.compile(r"[A-Za-z]*\d{0,4}|\d+")
_SPLIT = re.compile(r"[-_./:@+\s]")
_DATA = re.compile(r"/|\+.*\+|=\Z|\AeyJ|\AAAAA|\A(?:[a-z]{2,8}_)?[0-9A-HJKMNP-TV-Z]{26}\Z")
_CALL = re.compile(r"[$(\[{]|::|->|=>")
_SIGN = re.compile(r"[!#$^*&?~]|@(?!\w+\.)")
_WORDY = re.compile(r"[a-z]{6}")
_HAS_DIGIT = re.compile(r"[0-9]")
_TURN = re.compile(r"[a-z](?=[A-Z])|[A-Za-z](?=\d)|\d(?=[A-Za-z])")


def is_random(text: str) -> bool:
    """Tell whether *text* turns between cases, letters and digits as no name does."""
    return len(_TURN.findall(text)) >= MIN_TURNS * len(text)


def is_generated(value: str) -> bool:
    """Tell whether *value*, of 8 to 200 characters, is what nobody invents as a name.

    Both cases and digits, in turn, without a word of six small letters. Hashes, UUIDs, paths,
    versions and identifiers are none.
    """
    return (
        8 <= len(value) <= 200  # noqa: PLR2004 - said above
        and len(_TURN.findall(value)) >= GENERATED_TURNS * len(value)
        and not _WORDY.search(value)
        and _HAS_DIGIT.search(value) is not None
        and _is_of_both_cases(value)
        and not _LOCATION.match(value)
        and (_EXPRESSION.search(value) is None or not _CALL.search(value))
        and _PLACEHOLDER.fullmatch(value) is None
        and _ALGORITHM.match(value) is None
    )


def is_data(value: str) -> bool:
    """Tell whether *value* could be base64 of bytes, JSON or a public key, or one of our ids."""
    return _DATA.search(value) is not None


def is_marked(value: str) -> bool:
    """Tell whether *value* has letters, digits and a sign that names and prose do not mix."""
    return (
        len(value) > MIN_PASSWORD
        and _SIGN.search(value) is not None
        and _HAS_DIGIT.search(value) is not None
        and not value[0].isdigit()
        and value[0] not in "?&#="
        and is_password(value)
        and not _LOCATION.match(value)
    )


def is_password(value: str) -> bool:
    """Tell whether *value*, called a password, is one."""
    if len(value) < MIN_PASSWORD or " " in value or _is_no_secret(value):
        return False
    letters = any(c.isalpha() for c in value)
    marked = any(not c.isalpha() and c not in "-_./ " for c in value)
    if not letters or not marked:
        return False
    parts = [part for part in _SPLIT.split(value) if part]
    # `next_page_2` is a name; `hunter2`, of one part, is what people take for a password.
    named = len(parts) > 1 and all(_PART.fullmatch(part) for part in parts)
    return not named or (is_random(value) and _is_of_both_cases(value))


def is_token(value: str) -> bool:
    """Tell whether *value*, called a token or key, is one."""
    if len(value) < MIN_TOKEN or " " in value or _is_no_secret(value) or _LOCATION.match(value):
        return False
    if all(_PART.fullmatch(part) for part in _SPLIT.split(value)) and not is_random(value):
        return False
    if not any(c.isdigit() for c in value) and not is_random(value):
        return False
    return _entropy(value) >= MIN_ENTROPY


def is_placeholder(value: str) -> bool:
    """Tell whether *value* stands for a credential that its reader has."""
    return _PLACEHOLDER.fullmatch(value) is not None


def _is_no_secret(value: str) -> bool:
    return (
        is_placeholder(value)
        or _ALGORITHM.match(value) is not None
        or (_EXPRESSION.search(value) is not None and not _is_dotted_secret(value))
    )


def _is_of_both_cases(value: str) -> bool:
    return value != value.lower() and value != value.upper()


def _is_dotted_secret(value: str) -> bool:
    """Tell a password with a dot in it from ``settings.db_password``."""
    return _CALL.search(value) is None and is_generated(value)


def _entropy(value: str) -> float:
    """Return Shannon's entropy of *value* in bits a character."""
    size = len(value)
    return -math.fsum(n / size * math.log2(n / size) for n in Counter(value).values())


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Leave out what more likely ends the sentence or the code than the value."""
    while end > start and text[end - 1] in ".,;:)\"'`":
        end -= 1
    return start, end
