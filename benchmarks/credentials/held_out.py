"""Kinds and surroundings that were written after the rules, and for which no rule was changed.

What is found of them is what the rules are worth for credentials that nobody thought of. The kinds
are of issuers that no row knows; the forms are of other languages, tools and turns of phrase.
"""

import string

from benchmarks.credentials.kinds import HEX, UPPER, Draw, Kind, Maker
from benchmarks.credentials.surroundings import Placed

_SIGNS = string.ascii_letters + string.digits + "!@#$%^&*"


def _kind(name: str, make: Maker) -> Kind:
    return Kind(name, name.split(" ", maxsplit=1)[0], make)


_ISSUED = (
    _kind("tailscale key", lambda d: "tskey" + "-auth-" + d(12) + "-" + d(32)),
    _kind("pinecone key", lambda d: "pc" + "sk_" + d(6) + "_" + d(62)),
    _kind("langfuse key", lambda d: "sk" + "-lf-" + d.guid()),
    _kind("elevenlabs key", lambda d: "s" + "k_" + d.hex(48)),
    _kind("neon key", lambda d: "na" + "pi_" + d(64, string.ascii_lowercase + string.digits)),
    _kind("together key", lambda d: "tg" + "p_v1_" + d(43)),
    _kind("fireworks key", lambda d: "f" + "w_" + d(24)),
    _kind("wakatime key", lambda d: "wa" + "ka_" + d.guid()),
    _kind("adafruit key", lambda d: "ai" + "o_" + d(28)),
    _kind("frameio token", lambda d: "fi" + "o-u-" + d(64)),
    _kind("readme key", lambda d: "rd" + "me_" + d(70, string.ascii_lowercase + string.digits)),
    _kind("sourcegraph token", lambda d: "sg" + "p_" + d.hex(16) + "_" + d.hex(40)),
    _kind("rootly key", lambda d: "root" + "ly_" + d.hex(64)),
    _kind("infracost key", lambda d: "ic" + "o-" + d(32)),
    _kind("trello token", lambda d: "AT" + "TA" + d.hex(64)),
    _kind("stytch secret", lambda d: "secret" + "-live-" + d(36) + "="),
    _kind("defined token", lambda d: "dn" + "key-" + d(26, UPPER) + "-" + d(52, UPPER)),
    _kind("ghost admin key", lambda d: d.hex(24) + ":" + d.hex(64)),
    _kind("cohere key", lambda d: d(40)),
    _kind("mistral key", lambda d: d(32)),
    _kind("deepgram key", lambda d: d.hex(40)),
    _kind("algolia key", lambda d: d.hex(32)),
    _kind("snyk token", Draw.guid),
    _kind("fastly token", lambda d: d(32)),
)

FORMS = (
    "I put the {service} key ({}) into the vault yesterday.",
    "{service} answers 401 with {} but 200 with the new one.",
    'provider "{service}" {\n  token = "{}"\n}',
    "kubectl create secret generic {service} --from-literal=key={}",
    '$env:{SERVICE}_TOKEN = "{}"',
    "setx {SERVICE}_API_KEY {}",
    'let client = {service}::Client::with_key("{}");',
    "+{SERVICE}_SECRET_KEY={}",
    "name,secret\n{service},{}",
    "{service}.api.token={}",
    "GET /v2/items?token={} HTTP/1.1",
    "@ann the {service} token for the sandbox is `{}`, expires Friday",
    "\u8fd9\u662f{service}\u7684\u65b0\u5bc6\u94a5\uff08\u52ff\u5916\u4f20\uff09\uff1a{}",
    "wget --header='Authorization: Token {}' https://{service}.example/export",
    '  "{service}": { "apiKey": "{}" },',
    "secrets:\n  {service}-token: !vault {}",
)


def _typed(draw: Draw) -> str:
    words = ("Kestrel", "Harbor", "Winter", "Orchid", "Granite", "Falcon", "Sunset")
    return draw.random.choice(words) + draw(2, string.digits) + draw(1, "!@#$%&*")


_PASSWORD_FORMS = (
    "You can sign in as ops with password {} until Monday.",
    "root / {} works on the old switch, change the password soon",
    "my pwd is {} for the wiki",
    "The wifi password: {}",
    "DB_PASS={}",
    "SMTP_PASSWORD: '{}'",
    "-Dspring.mail.password={}",
    "ALTER USER app WITH PASSWORD '{}';",
    "CREATE USER app IDENTIFIED BY '{}';",
    "ansible_become_pass: {}",
    'psql "host=db user=app password={}"',
    '<connection user="app" password="{}" />',
    "sftp://backup:{}@files.example/in",
    "smbclient //nas/share -U bot%{}",
    "unzip -P {} archive.zip",
    "Wi-Fi \u5bc6\u7801\uff1a{}",
    "\u540e\u53f0\u8d26\u53f7 admin \u5bc6\u7801 {}",
    "\u8bf7\u7528{}\u4f5c\u4e3a\u5bc6\u7801\u767b\u5f55\u3002",
    "password_hash is unset; the plain password {} is in the fixture",
    "mongosh --username root --password {}",
)

_MADE: tuple[tuple[str, Maker], ...] = (
    ("typed password", _typed),
    ("generated password", lambda d: d(1, string.ascii_letters) + d(15, _SIGNS) + "7"),
    ("hex password", lambda d: d(20, HEX)),
)

HELD_OUT = (
    *(Placed(kind, FORMS) for kind in _ISSUED),
    *(Placed(_kind(name, make), _PASSWORD_FORMS) for name, make in _MADE),
)
