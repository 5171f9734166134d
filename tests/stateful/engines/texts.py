"""Words that engines are known to treat otherwise: scripts, cases, marks, and signs of SQL."""

# ruff: noqa: RUF001 - letters that look alike are what is meant

from random import Random

WORDS = (
    "retry", "Retry", "RETRY", "cache", "Cäche", "ca\u0308che", "cáche", "straße", "STRASSE",
    "ﬁle", "İstanbul", "ıstanbul", "Ångström", "Zebra", "zebra", "ähre", "Ähre", "_under",
    "naïve", "nai\u0308ve", "ǆ", "Ω", "Ω", "е́лка", "Ёж", "ёж",
    "缓存", "重试缓存", "キャッシュ", "ｷｬｯｼｭ", "캐시", "التخزين", "مُؤقت", "שלום", "ไทยแคช", "हिन्दी",
    "🦊", "👩‍💻", "🇫🇷", "e\u0301\u0323", "𝒳", "𐍈",
    "1", "10", "2", "٣", "½", "007", "1e5", "0x1F", "v1.2.3", "getHTTPResponse", "snake_case_name",
    "kebab-case", "src/http/client.py", "a.b", "A.B",
)  # fmt: skip

SIGNS = (
    "%", "_", "100%", "a_b", "a%b", ":x", ":memory_id", "::text", "?", "??", "$1", "%s", "%(x)s",
    "%%", "'", "''", '"', '""', "\\", "\\\\", "\\n", "\\x41", "--", ";", "/* */",
    "E'\\''", "{}", "[1]", "NULL", "!?", "…", "—", "«»", "。", "،", "\t", " ", "\u00a0", "\u3000",
)  # fmt: skip

REFUSED = ("\u0000", "a\u0000b", "\u202e", "\ud800", "\ufeff", "\u0007", "\u200b")
"""No entry may have them, or they are replaced: both engines must say so alike."""

PATHS = (
    "src/**", "src/http/client.py", "src/HTTP/client.py", "src/a_b.py", "src/a%b.py", "src/aXb.py",
    "src/ä.py", "src/a\u0308.py", "docs/*.md", "docs/缓存.md", "src/'q'.py", "a/b/../c", "*",
    "src/[ab].py",
)  # fmt: skip

BRANCHES = ("main", "Main", "release/*", "release/1", "feature/ä", "a_b", "a%b", "aXb", "缓存")

TAGS = ("seen", "Seen", "tag_1", "tag%", "ä", "é", "e\u0301", "z", "Z", "缓存", "a:b", "-")

SOURCES = (
    "file:src/http/client.py", "file:src/http/client.py#L1-L3", "file:src/a_b.py", "file:src/ä.py",
    "commit:" + "a" * 40, "commit:" + "b" * 40, "required:file:src/a%b.py", "file:src/'q'.py",
)  # fmt: skip


def words(chance: Random, fewest: int, most: int) -> str:
    """A text of so many words; now and then only of signs, or with what is refused."""
    pool = SIGNS if chance.random() < 0.07 else (*WORDS, *WORDS[:12], *SIGNS[:12])
    text = " ".join(chance.choices(pool, k=chance.randint(fewest, most)))
    return text + chance.choice(REFUSED) if chance.random() < 0.02 else text


def some(chance: Random, pool: tuple[str, ...], most: int) -> list[str]:
    """A few of *pool*, often none."""
    return chance.sample(pool, k=max(0, chance.randint(-most, most)))
