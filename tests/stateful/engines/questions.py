"""Everything that a store can be asked once it has lived: lists, searches, graphs, records."""

from collections.abc import Iterator
from itertools import islice
from urllib.parse import quote, urlencode

from codeflow_memory.services import exact_import, export, holds, recomputation

from ..worlds.building import Ask
from .life import Life
from .pair import Pair
from .texts import BRANCHES, PATHS, SIGNS, TAGS, WORDS

STATUSES = ("proposed", "accepted", "rejected", "outdated", "superseded", "archived", "deleted")
MOST_PAGES = 60


def ask_everything(
    life: Life, callers: tuple[str, ...], *, one_in: int = 1, first: int = 0
) -> None:
    """Put the questions of each of *callers* to both worlds: all, or one in so many."""
    for caller in callers:
        for wanted in islice(questions(life), first, None, one_in):
            life.pair.ask(caller, wanted)
        for path in pages(life):
            follow(life, caller, path)
    for form in export.Format:
        life.pair.call(form, export.export, form)
    life.pair.call("holds", holds.list_all)
    life.pair.both(
        "what is recomputed",
        lambda world: recomputation.recompute(world.tenants.get("local"), sample=None),
    )


def carry_over(pair: Pair) -> None:
    """Import all that the first owner can export into a tenant of its own."""
    lines = pair.call("an export", export.export, export.Format.JSONL)
    for world in pair.worlds:
        world.tenant("maple")
    pair.call("an import", exact_import.run, lines.encode(), tenant="maple")


def follow(life: Life, caller: str, path: str) -> None:
    """Read a list to its end, a page after another."""
    reply = life.pair.ask(caller, Ask("GET", path))
    for _ in range(MOST_PAGES):
        if reply.status != 200 or not reply.json.get("next_cursor"):
            return
        reply = life.pair.ask(caller, Ask("GET", f"{path}&cursor={{cursor}}"))


def pages(life: Life) -> Iterator[str]:
    core = f"/api/projects/{life.pair.ids['core']}"
    for status in STATUSES:
        yield f"{core}/memories?status={status}&limit=7"
    yield f"{core}/memory/selections?limit=3"
    for path in ("/api/runs", "/api/projects", "/api/repositories"):
        yield f"{path}?limit=2"
    for name in ("principals", "teams", "grants", "tokens"):
        yield f"/api/admin/{name}?limit=2"


def questions(life: Life) -> Iterator[Ask]:
    core = f"/api/projects/{life.pair.ids['core']}"
    for text in (*WORDS, *SIGNS, "retry cache", "retry 缓存 🦊"):
        yield Ask("GET", f"{core}/memory/search?{urlencode({'q': text, 'limit': 50})}")
        yield Ask("GET", f"{core}/memory/search?{urlencode({'q': text, 'match': 'literal'})}")
        yield Ask("GET", f"{core}/memories?{urlencode({'q': text, 'limit': 50})}")
        yield Ask("POST", f"{core}/memory/selections", {"query": text, "explain": True})
    for path in PATHS:
        yield Ask("GET", f"{core}/memories?{urlencode({'path': path})}")
        yield Ask("GET", f"{core}/memory/search?{urlencode({'q': 'retry', 'path': path})}")
        yield Ask("GET", f"{core}/memory/graph?depth=2&around={quote(f'file:{path}')}")
        yield Ask("POST", f"{core}/memory/selections", {"paths": [path], "explain": True})
    for branch in BRANCHES:
        yield Ask("GET", f"{core}/memory/search?{urlencode({'q': 'retry', 'branch': branch})}")
        yield Ask("POST", f"{core}/memory/selections", {"branch": branch, "explain": True})
    for tag in TAGS:
        yield Ask("GET", f"{core}/memories?{urlencode({'tag': tag, 'limit': 50})}")
    yield Ask("GET", f"{core}/memory/graph")
    for status in STATUSES:
        yield Ask("GET", f"{core}/memory/graph?status={status}")
    for memory_id, entry in life.entries.items():
        path = f"/api/memories/{memory_id}"
        yield Ask("GET", path)
        yield Ask("GET", f"{path}/revisions")
        yield Ask("GET", f"{path}/revisions/{entry.revision}")
        yield Ask("GET", f"{path}/diff?from=1&to={entry.revision}")
        yield Ask("GET", f"{core}/memory/graph?depth=2&around={memory_id}")
    for selection in life.selections:
        yield Ask("GET", f"{core}/memory/selections/{selection}")
        yield Ask("POST", f"{core}/memory/selections/{selection}/replay", {})
    yield Ask("GET", core)
