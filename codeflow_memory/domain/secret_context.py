"""Credentials that only their surroundings give away: key blocks, assignments, addresses, headers.

A value found there must also look like one: a placeholder, a name, a path, a call or a word of
prose after ``password:`` is none.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from codeflow_memory.domain.marks import Marks

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

_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]{1,40}-----")
_KEY_LINES = re.compile(
    r"(?:(?:\s|\\n|\\r){0,6}(?:(?:Proc-Type|DEK-Info|Version|Comment): [^\n]{0,200}"
    r"|[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]{1,15}={1,2}))*"
)
_PUTTY = re.compile(r"Private-Lines: \d{1,4}\s(?P<value>[A-Za-z0-9+/=\s]{40,})")

# The forms below read the text in lower case: twice as fast as ignoring case while matching.
_SEPARATOR = re.compile(r"=>|:=|[:=]")
_VALUE = re.compile(
    r"[ \t]{0,8}(?:\"(?P<q1>[^\"\n]{4,400})\"|'(?P<q2>[^'\n]{4,400})'|`(?P<q3>[^`\n]{4,400})`"
    r"|(?P<value>[^\s\"'`,;<>&]{6,400}))"
)
_PROSE = re.compile(
    r"p(?:assword|assphrase|asswd|wd)\b[^\n.:=]{0,30}?\b(?:is|was|to)\s{1,3}"
    r"[\"'`]?(?P<value>[!#-&(-+\--~]{6,100})"
)
_CHINESE = re.compile(
    r"(?:密码|口令|密钥|令牌)\s{0,3}(?:是|为|:|=){1,2}\s{0,3}[\"'`]?(?P<value>[!#-&(-+\--~]{6,100})"
)
_ADDRESS = re.compile(
    r"://(?P<user>[^\s/:@\"'<>]{0,100}):(?P<value>[^\s/\"'<>]{3,200})@[\w\[$%{]", re.A
)
_USER_TOKEN = re.compile(r"://(?P<value>[\w-]{20,200})@[\w\[]", re.A)
_HEADER = re.compile(
    r"authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:bearer|basic|token|bot|apikey)\s{1,3}"
    r"(?P<value>[\w.~+/=-]{8,})",
    re.A,
)
_BEARER = re.compile(r"bearer\s{1,3}(?P<value>[\w.~+/=-]{20,})", re.A)
_CURL = re.compile(
    r"curl\s[^\n]{0,200}?\s?(?:-u|--user)[ =]{1,2}[\"']?[^\s:\"']{1,80}:(?P<value>[^\s\"']{4,100})",
    re.A,
)
_OPTION = re.compile(
    r"--(?:password|passwd|passphrase|token|secret|api-key|auth-token)[ =]{1,3}[\"']?"
    r"(?P<value>[^\s\"'`]{6,200})",
    re.A,
)
_SSHPASS = re.compile(r"sshpass\s{1,3}-p\s{0,3}[\"']?(?P<value>[^\s\"']{4,100})", re.A)
_CONNECTION = re.compile(
    r";\s{0,3}(?:password|pwd)\s{0,3}=\s{0,3}(?P<value>[^;\s\"'\[]{4,100})(?=[;\"'\s]|\Z)"
)
_NETRC = re.compile(r"login\s{1,3}\S{1,80}\s{1,3}password\s{1,3}(?P<value>\S{4,100})", re.A)
_ELEMENT = re.compile(
    r"<[a-z]{0,20}(?:password|secret|token|apikey)>(?P<value>[^<\s]{6,200})</", re.A
)
_PGPASS = re.compile(
    r":(?:\d{2,5}|\*):[\w*-]{1,63}:[\w*-]{1,63}:(?P<value>[^\s:]{4,100})$", re.M | re.A
)

_PASSWORD_NAMES = ("password", "passwd", "passphrase", "passwort", "pwd")
_KEYS = (
    *("api", "access", "secret", "private", "encryption", "signing", "auth", "account", "app"),
    *("application", "license", "master"),
)
_TOKEN_NAMES = (
    *(f"{name}{joint}key" for name in _KEYS for joint in ("_", "-", " ", "")),
    *("secret", "token", "credential", "credentials", "_auth", '"auth'),
)
_ENVIRONMENT = re.compile(
    r"[_-](?:prod|production|live|dev|test|staging|stage|new|old|default|\d{1,2})\Z"
)
_LONGEST_NAME = 48
_MAX_TRIES = 4

_PLACEHOLDER = re.compile(
    r"[x*.•#_?-]+|<.*|\[.*|\(.*|\{.*|\$.*|%.*|@.*|your\b.*|your[_-].*|my[_-]?(?:secret|password|token|key).*"
    r"|.*(?:redacted|example|placeholder|change[_-]?me|change[_-]?it|dummy|insert|replace[_-]|not[_-]?set|\.\.\.|…).*"
    r"|(?:pass|password|passwd|pwd|secret|token|key|user|username|postgres|root|none|null|true|false)",
    re.I,
)
_ALGORITHM = re.compile(
    r"(?:argon2|bcrypt|scrypt|pbkdf2|sha-?\d|md5|base64|utf-?\d|aes-?\d|rsa-?\d|hs256|rs256|oauth)",
    re.I,
)
_EXPRESSION = re.compile(r"^\$|^[A-Za-z_][\w.]*[(\[{]|::|->|=>|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$")
_LOCATION = re.compile(
    r"(?:~?/|\.{1,2}/|[a-z]:[\\/]|[a-z][a-z0-9+.-]{1,15}://)|.*\.[a-z]{1,4}$", re.I
)
_PART = re.compile(r"[A-Za-z]*\d{0,4}|\d+")
_SPLIT = re.compile(r"[-_./:@+\s]")
_TURN = re.compile(r"[a-z](?=[A-Z])|[A-Za-z](?=\d)|\d(?=[A-Za-z])")


@dataclass(frozen=True, slots=True)
class _Form:
    """A surrounding and the kind of what stands in it.

    ``marks`` are words of which one must occur in the lower-cased text.
    """

    kind: str
    pattern: re.Pattern[str]
    marks: tuple[str, ...]


_FORMS = (
    _Form("connection-password", _CONNECTION, ("password", "pwd")),
    _Form("password", _PROSE, ("password", "passphrase", "passwd", "pwd")),
    _Form("password", _CHINESE, ("密码", "口令", "密钥", "令牌")),
    _Form("password", _CURL, ("curl",)),
    _Form("password", _OPTION, ("--pass", "--token", "--secret", "--api-key", "--auth-token")),
    _Form("password", _SSHPASS, ("sshpass",)),
    _Form("password", _NETRC, ("login",)),
    _Form("password", _ELEMENT, ("password>", "secret>", "token>", "apikey>")),
    _Form("password", _PGPASS, (":",)),
    _Form("authorization", _HEADER, ("authorization",)),
    _Form("authorization", _BEARER, ("bearer",)),
)
_MARKS = Marks(form.marks for form in _FORMS)


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
    yield from _in_forms(text, lowered)
    yield from _assignments(text, lowered)


def _in_forms(text: str, lowered: str) -> Iterator[Found]:
    for index in _MARKS.rows(lowered):
        form = _FORMS[index]
        is_secret = _is_token if form.kind == "authorization" else _is_password
        for found in form.pattern.finditer(lowered):
            start, end = _trimmed(text, *found.span("value"))
            if is_secret(text[start:end]):
                yield form.kind, start, end


def is_random(text: str) -> bool:
    """Tell whether *text* turns between cases, letters and digits as no name does."""
    return len(_TURN.findall(text)) >= MIN_TURNS * len(text)


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
        if value != found["user"] and not _PLACEHOLDER.fullmatch(value):
            web = text[: found.start()][-5:].lower().endswith(("http", "https"))
            yield "url-password" if web else "connection-password", *found.span("value")
    for found in _USER_TOKEN.finditer(text):
        if _is_token(found["value"]):
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
            start, end = _trimmed(text, start, end)
        if is_secret(text[start:end]):
            yield "password" if is_secret is _is_password else "credential", start, end


def _expected(lowered: str, sign: int) -> Callable[[str], bool] | None:
    """Return the test for what is assigned by the sign at *sign*, if its name is of a secret."""
    before = lowered[max(0, sign - _LONGEST_NAME) : sign]
    name = before.rstrip(" \t").rstrip("\"']")
    if not name or not name[-1].isalnum():
        return None
    name = _ENVIRONMENT.sub("", name)
    if name.endswith(_PASSWORD_NAMES) or _is_pass(name):
        return _is_password
    return _is_token if name.endswith(_TOKEN_NAMES) else None


def _is_pass(name: str) -> bool:
    return name.endswith("pass") and not name[-5:-4].isalpha()


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Leave out what more likely ends the sentence or the code than the value."""
    while end > start and text[end - 1] in ".,;:)\"'`":
        end -= 1
    return start, end


def _is_password(value: str) -> bool:
    if len(value) < MIN_PASSWORD or " " in value or _is_no_secret(value):
        return False
    letters = any(c.isalpha() for c in value)
    marked = any(not c.isalpha() and c not in "-_./ " for c in value)
    if not letters or not marked:
        return False
    parts = [part for part in _SPLIT.split(value) if part]
    # `next_page_2` is a name; `hunter2`, of one part, is what people take for a password.
    return len(parts) == 1 or not all(_PART.fullmatch(part) for part in parts)


def _is_token(value: str) -> bool:
    if len(value) < MIN_TOKEN or " " in value or _is_no_secret(value) or _LOCATION.match(value):
        return False
    if all(_PART.fullmatch(part) for part in _SPLIT.split(value)) and not is_random(value):
        return False
    if not any(c.isdigit() for c in value) and not is_random(value):
        return False
    return _entropy(value) >= MIN_ENTROPY


def _is_no_secret(value: str) -> bool:
    return (
        _PLACEHOLDER.fullmatch(value) is not None
        or _ALGORITHM.match(value) is not None
        or _EXPRESSION.search(value) is not None
    )


def _entropy(value: str) -> float:
    """Return Shannon's entropy of *value* in bits a character."""
    size = len(value)
    return -math.fsum(n / size * math.log2(n / size) for n in Counter(value).values())
