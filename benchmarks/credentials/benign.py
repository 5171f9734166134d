"""Notes without a secret that look as if they had one: hashes, ids, paths, test data, placeholders.

Each has its anchors, the strings by which code memory is found again, which must stay as they are.
"""

import base64
import json
import string
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.credentials.kinds import LOWER, UPPER, Draw

_PARTS = (
    *("user", "account", "session", "token", "refresh", "password", "secret", "payment", "invoice"),
    *("queue", "worker", "index", "cache", "tenant", "policy", "handler", "client", "registry"),
)


@dataclass(frozen=True, slots=True)
class Benign:
    """A note, and the anchors in it."""

    text: str
    anchors: tuple[str, ...]


Anchor = Callable[[Draw], str]


def _words(draw: Draw, least: int, most: int) -> list[str]:
    return [draw.random.choice(_PARTS) for _ in range(draw.random.randint(least, most))]


def _path(draw: Draw) -> str:
    folders = "/".join("_".join(_words(draw, 1, 3)) for _ in range(draw.random.randint(3, 7)))
    return f"src/{folders}/{'_'.join(_words(draw, 2, 4))}_v{draw(1, '123')}.py"


def _camel(draw: Draw) -> str:
    return "".join(word.title() for word in _words(draw, 4, 8)) + draw.random.choice(("", "V2"))


def _integrity(draw: Draw) -> str:
    return "sha512-" + draw.bytes64(64)


def _picture(draw: Draw) -> str:
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + draw.random.randbytes(90)).decode()


def _encoded_text(draw: Draw) -> str:
    record = {"id": draw.random.randint(1, 999), "name": "_".join(_words(draw, 2, 4)), "ok": True}
    return base64.b64encode(json.dumps(record).encode()).decode()


def _version(draw: Draw) -> str:
    major, minor, patch = draw(1, "123"), draw(2, "12345"), draw(1, "0123")
    return f"{major}.{minor}.{patch}-rc.{draw(1, '123')}+build.{draw.hex(7)}"


ANCHORS: dict[str, Anchor] = {
    "commit": lambda d: d.hex(40),
    "short commit": lambda d: d.hex(d.random.randint(7, 12)),
    "digest": lambda d: "sha256:" + d.hex(64),
    "long digest": lambda d: d.hex(128),
    "sum": lambda d: d.hex(32),
    "uuid": Draw.guid,
    "ulid": lambda d: "01" + d(24, string.digits + "ABCDEFGHJKMNPQRSTVWXYZ"),
    "integrity": _integrity,
    "module sum": lambda d: "h1:" + d.bytes64(32),
    "bytes": lambda d: d.bytes64(d.random.randint(24, 90)),
    "picture": _picture,
    "encoded text": _encoded_text,
    "path": _path,
    "camel case": _camel,
    "constant": lambda d: "_".join(_words(d, 4, 7)).upper(),
    "snake case": lambda d: "_".join(_words(d, 4, 7)),
    "kebab case": lambda d: "-".join(_words(d, 3, 6)) + "-" + d.hex(5),
    "pod": lambda d: "-".join(_words(d, 2, 3)) + f"-{d(10, LOWER)}-{d(5, LOWER)}",
    "version": _version,
    "build": lambda d: d(8, UPPER) + "-" + d(4, string.digits),
    "address": lambda d: (
        f"https://docs.example.com/{'/'.join(_words(d, 2, 4))}?version=2#{d.hex(8)}"
    ),
    "public key": lambda d: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + d(43),
    "memory": lambda d: "mem_01" + d(24, string.digits + "ABCDEFGHJKMNPQRSTVWXYZ"),
    "account": lambda d: f"arn:aws:iam::{d(12, string.digits)}:role/{'-'.join(_words(d, 2, 4))}",
    "trace": lambda d: f"00-{d.hex(32)}-{d.hex(16)}-01",
    "machine": lambda d: f"i-0{d.hex(16)}",
}

SENTENCES = (
    "The regression came with {}; reverting it makes the flaky test pass.",
    "See {} for how retries are bounded.",
    "The password check moved in {}, before the rate limit.",
    "Token refresh broke at {} and was fixed two weeks later.",
    "- seen in staging: {}\n- not seen in production",
    "Fixture `{}` is shared by the parser tests.",
    '{"id": "{}", "state": "done"}',
    "expected: {}\nactual: empty",
    "| what | value |\n| --- | --- |\n| reference | {} |",
    "\u8fd9\u4e2a\u95ee\u9898\u51fa\u81ea {}\uff0c\u56de\u6eda\u540e\u6b63\u5e38\u3002",
    "\u5bc6\u7801\u6821\u9a8c\u7684\u4ee3\u7801\u5728 {} \u91cc\u3002",
    "    assert result == '{}'  # stays the same over releases",
    "The secret scanner must leave {} alone.",
    "resolved = {}",
    "why we keep {}: the API depends on it",
)

PROSE = (
    "Passwords are hashed with argon2id; the password itself is stored nowhere.",
    "The password must be at least 12 characters and have one digit.",
    "password = os.environ['DB_PASSWORD']",
    "password: ${DB_PASSWORD}",
    "DB_PASSWORD=<your password>",
    'password = getpass.getpass("Password: ")',
    "password: str = Field(min_length=12, max_length=128)",
    "PASSWORD_MIN_LENGTH = 12",
    "password_hash = hasher.hash(password)",
    "the password is SHA-256 hashed before OAuth2PasswordBearer sees it",
    "token = request.headers['Authorization'].removeprefix('Bearer ')",
    "token: Annotated[str, Header(alias='X-Auth-Token')]",
    "api_key = settings.OPENAI_API_KEY",
    "api_key=YOUR_API_KEY_GOES_HERE_12345",
    "OPENAI_API_KEY=sk-your-key-here",
    "export GITHUB_TOKEN=<token>",
    "secret_name = prod/database/credentials-2024",
    "secret=projects/123456/secrets/foo/versions/7",
    'token_url = "https://auth.example.com/oauth2/token"',
    "access_token_path: /var/run/secrets/kubernetes.io/serviceaccount/token",
    "Authorization: Bearer <token>",
    "Send `Authorization: Bearer $TOKEN` with each request.",
    "postgresql://user:password@localhost:5432/db",
    "postgresql://postgres:postgres@localhost/db",
    "postgresql://${USER}:${PASSWORD}@db/shop",
    "redis://localhost:6379/0 is enough in development",
    "https://user:<password>@git.example.com/repo.git",
    "git@git.example.com:team/repo.git",
    "curl -H 'Authorization: Bearer $TOKEN' https://api.example.com/v1/items",
    "mysql -u root -p shop < dump.sql",
    "docker login -u bot --password-stdin registry.example.com",
    "docker run --secret id=npm,src=$HOME/.npmrc image",
    "docker run --token-file /run/secrets/token image",
    "primary_key: account_identifier_v2",
    'cache_key = f"user:{user_id}:v2"',
    "\u6570\u636e\u5e93\u5bc6\u7801\u5728\u914d\u7f6e\u6587\u4ef6\u4e2d\uff0c\u4e0d\u8981\u63d0\u4ea4\u3002",
    "\u5bc6\u7801\u662f\u5fc5\u586b\u9879\uff0c\u81f3\u5c11 12 \u4f4d\u3002",
    "\u4ee4\u724c\u8fc7\u671f\u540e\u8fd4\u56de 401\uff0c\u8981\u91cd\u65b0\u767b\u5f55\u3002",
    "ticket PROJ-12345 asks for version 1.22.333-rc.4+build.5678",
    "escape `%20` and `&amp;` once, never twice; `\\u0041` is an A",
    'message = "the first part, " + "and the second part of it"',
    'names = ["alpha_handler", "beta_handler", "gamma_handler_v2"]',
    "A B C D E F G H I J K L M N O P is the order of the slots",
    "0 1 1 2 3 5 8 1 3 2 1 3 4 are the digits",
    "line one ends with handler_v2\nprocess_v3 starts the next",
    "-----BEGIN CERTIFICATE-----\nis what the file starts with",
    "re_compiled_patternsForEveryThing and hf_compute_average are functions",
    "key-value-store-abstraction-layer is the package",
    "The key is idempotent-request-hash and the token is opaque.",
    "x = rot13('frperg'); y = 'c2VjcmV0'  # the word secret in base64",
    "Use `hunter` as the user name; the secret lives in the vault.",
    "set `max_tokens: 4096` and `token_type: bearer`",
)


def notes(seed: int, per_pair: int = 3) -> list[Benign]:
    """Make a note of each anchor in each sentence, *per_pair* times, and each line of prose."""
    draw = Draw(seed)
    made = [
        Benign(sentence.replace("{}", anchor), (anchor,))
        for make in ANCHORS.values()
        for sentence in SENTENCES
        for anchor in (make(draw) for _ in range(per_pair))
    ]
    return made + [Benign(text, ()) for text in PROSE]
