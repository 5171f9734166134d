"""How fast: selection, search and writes against a trivial handler and a bare write, as ratios.

Everything is measured in one run on one machine, on each engine; each part is repeated and its
least, its median and its 99th percentile are printed, in a table and as one JSON line. Of two
engines a second table has the ratio of the last to the first: of the medians, and of the least,
which other programs on the machine disturb less.
"""

import argparse
import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, urlsplit

from corpus import Made, query, seed
from engines import add_option, running
from floor import rows_alone

from codeflow_memory.domain.access import Access, Origin
from codeflow_memory.domain.candidates import Candidate
from codeflow_memory.domain.memory import Collection, Content, Kind
from codeflow_memory.domain.selection import Request
from codeflow_memory.services import access as accesses
from codeflow_memory.services import listing, memories, replay, search, selections
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.search import Question
from codeflow_memory.services.store import Store
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage import principals
from codeflow_memory.storage.home import Home

CONFIG = """
[limits]
requests_per_minute_token = 10000000
requests_per_minute_tenant = 10000000
"""
MILLISECONDS = 1_000.0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1_000, 5_000])
    parser.add_argument("--repeats", type=int, default=200)
    add_option(parser)
    options = parser.parse_args()
    results: dict[str, dict] = {}
    with running(options.engines) as new_home:
        for size in options.sizes:
            of_size = results[str(size)] = {}
            for engine in options.engines:
                with new_home(engine) as home:
                    of_size[engine] = _measure(home, size, options.repeats)
                _table(f"{size} entries, {engine}", of_size[engine])
            if len(of_size) > 1:
                of_size["ratios"] = _ratios(*(of_size[engine] for engine in options.engines[:2]))
                _ratio_table(size, of_size["ratios"])
    print(json.dumps({"benchmark": "latency", "engines": options.engines, "results": results}))


def _measure(home: Home, size: int, repeats: int) -> dict[str, object]:
    (home.path / "config.toml").write_text(CONFIG)
    tenants = Tenants(home, now=lambda: time.time_ns() // 1_000)
    tenants.create("local")
    store = tenants.get("local")
    owner = owner_of(store)
    began = time.perf_counter()
    made = seed(store, owner, "bench", size)
    seeded = time.perf_counter() - began
    figures: dict[str, object] = {"seed_s": round(seeded, 2)}
    figures["in_service"] = _in_service(store, owner, made, repeats)
    tenants.close()
    figures["over_http"] = _over_http(home, made, repeats)
    return figures


def _in_service(store: Store, owner: Access, made: Made, repeats: int) -> dict[str, object]:  # noqa: C901 - one part after another
    chance = random.Random(3)  # noqa: S311 - repeatable on purpose
    project = made.project.project_id
    found: dict[str, object] = {}
    for words in (1, 3, 6, 12):
        asked = [query(chance, made.vocabulary, words) for _ in range(repeats)]
        found[f"search_{words}"] = times(
            lambda text: search.find(store, owner, project, None, Question(text)), asked
        )
    asked = [query(chance, made.vocabulary, 4) for _ in range(repeats)]
    made_ids: list[str] = []

    def select(text: str) -> None:
        selection = selections.create(store, owner, project, None, Request(query=text))
        made_ids.append(selection.manifest.manifest_id)

    found["selection"] = times(select, asked)
    found["replay"] = times(lambda of: replay.run(store, owner, project, None, of), made_ids)
    found["list"] = times(
        lambda _: listing.find(store, owner, project, None, listing.Filter(), None, 50), asked
    )
    bare = times(lambda at: _bare(store, at), list(range(repeats)))
    found["bare_write"] = bare
    count = min(repeats, 100)
    ids: list[str] = []

    def create(at: int) -> None:
        view = memories.create(store, owner, project, None, _draft(made, at), Operation(None, ()))
        ids.append(view.memory.memory_id)

    def revise(at: int) -> None:
        changes = {"body": _draft(made, at + 3 * count).content.body}
        memories.revise(store, owner, ids[at], changes, 1, Operation(None, ()))

    for name, work in (("create", create), ("revise", revise)):
        # The first half as it is used, the second to know what its rows cost alone.
        found[f"governed_{name}"] = governed = times(work, list(range(count)), again=False)
        found[f"{name}_ratio"] = round(governed["p50_ms"] / bare["p50_ms"], 2)
        if store.home.server is None:
            alone = figures_of(rows_alone(store, work, range(count, 2 * count)))
            found[f"rows_of_{name}"] = alone
            found[f"rows_of_{name}_ratio"] = round(alone["p50_ms"] / bare["p50_ms"], 2)
        elif name == "create":
            for at in range(count, 2 * count):
                create(at)
    return found


def _bare(store: Store, _: int) -> None:
    # Another value each time: one that is there already dirties no page, and nothing is synced.
    with store.engine.write() as tx:
        tx.execute("UPDATE store SET latest_at = latest_at + 1 WHERE singleton = 1")


def _draft(made: Made, at: int) -> Candidate:
    chance = random.Random(at)  # noqa: S311 - repeatable on purpose
    # Private ones: a project of 5,000 entries takes no more.
    return Candidate(
        Content(Kind.FACT, f"Draft {at}", query(chance, made.vocabulary, 60)), Collection.PRIVATE
    )


def _over_http(home: Home, made: Made, repeats: int) -> dict[str, object]:
    path = home.path
    database = [] if home.server is None else ["--database", home.server]
    began = time.perf_counter()
    process = subprocess.Popen(  # noqa: S603 - our own command
        [
            sys.executable,
            "-m",
            "codeflow_memory",
            "--json",
            "up",
            "--home",
            str(path),
            *database,
            "--port",
            "0",
        ],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"CODEFLOW_HOME": str(path)},
    )
    assert process.stdout is not None
    try:
        first = json.loads(process.stdout.readline())
        started = time.perf_counter() - began
        time.sleep(0.5)
        idle = _resident_mb(process.pid)
        token = first.get("token") or (path / "token").read_text().strip()
        figures = _requests(first["url"], token, made, repeats)
        return {"start_s": round(started, 2), "idle_mb": idle, **figures}
    finally:
        process.terminate()
        process.wait()


def _requests(url: str, token: str, made: Made, repeats: int) -> dict[str, object]:
    where = urlsplit(url)
    connection = http.client.HTTPConnection(where.hostname or "", where.port)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(method: str, target: str, body: object = None) -> bytes:
        data = None if body is None else json.dumps(body)
        connection.request(method, target, data, headers)
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status < 300, (answer.status, text[:200])
        return text

    chance = random.Random(5)  # noqa: S311 - repeatable on purpose
    base = f"/api/projects/{made.project.project_id}/memory"
    texts = [query(chance, made.vocabulary, chance.randint(2, 6)) for _ in range(repeats)]
    paths = [
        f"src/{made.vocabulary[at % 40]}/{made.vocabulary[at % 300]}.py" for at in range(repeats)
    ]
    trivial = times(lambda _: ask("GET", "/healthz"), texts)
    searched = times(lambda text: ask("GET", f"{base}/search?q={quote(text)}"), texts)
    ids: list[str] = []

    def select(pair: tuple[str, str]) -> None:
        wanted = {"query": pair[0], "paths": [pair[1]], "branch": "main"}
        ids.append(json.loads(ask("POST", f"{base}/selections", wanted))["id"])

    selected = times(select, list(zip(texts, paths, strict=True)))
    replayed = times(lambda of: ask("POST", f"{base}/selections/{of}/replay"), ids)
    memory = f"/api/projects/{made.project.project_id}/memories"
    listed = times(lambda _: ask("GET", memory), texts)

    def create(at: int) -> None:
        content = _draft(made, 10 * repeats + at).content
        draft = {"collection": "private", "kind": str(content.kind)}
        ask("POST", memory, draft | {"title": content.title, "body": content.body})

    return {
        "trivial": trivial,
        "search": searched,
        "selection": selected,
        "replay": replayed,
        "list": listed,
        "create": times(create, list(range(min(repeats, 100))), again=False),
        "search_ratio": round(searched["p50_ms"] / trivial["p50_ms"], 1),
        "selection_ratio": round(selected["p50_ms"] / trivial["p50_ms"], 1),
    }


def times(work: Callable[..., object], arguments: list, *, again: bool = True) -> dict[str, float]:
    """Do *work* with each of *arguments* and return the least, the median and the 99th percentile.

    Unless it can be done but once, the first is done *again*, before, to warm it up.
    """
    if again:
        work(arguments[0])
    taken = []
    for argument in arguments:
        began = time.perf_counter()
        work(argument)
        taken.append(time.perf_counter() - began)
    return figures_of(taken)


def figures_of(seconds: list[float]) -> dict[str, float]:
    """Return the least, the median and the 99th percentile, in milliseconds."""
    taken = sorted(one * MILLISECONDS for one in seconds)
    return {
        "least_ms": round(taken[0], 3),
        "p50_ms": round(statistics.median(taken), 3),
        "p99_ms": round(taken[min(len(taken) - 1, int(len(taken) * 0.99))], 3),
    }


def _resident_mb(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) // 1024
    return 0


def owner_of(store: Store) -> Access:
    """Return the access of a tenant's first owner."""
    with store.engine.read() as tx:
        first = principals.first_owner(tx)
        assert first is not None
        return accesses.of_principal(store, tx, first.principal_id, Origin.USER)


def _ratios(first: dict, second: dict) -> dict[str, dict[str, float]]:
    """Divide what *second* took by what *first* took, part by part."""
    return {
        f"{part} {name}": {
            kind: round(second[part][name][f"{kind}_ms"] / of_first[f"{kind}_ms"], 2)
            for kind in ("least", "p50")
        }
        for part in ("in_service", "over_http")
        for name, of_first in first[part].items()
        if isinstance(of_first, dict) and name in second[part]
    }


def _ratio_table(size: int, ratios: dict[str, dict[str, float]]) -> None:
    print(f"{size} entries, the second engine to the first")
    for name, ratio in ratios.items():
        print(f"  {name:<27} least {ratio['least']:>6.2f}   p50 {ratio['p50']:>6.2f}")


def _table(title: str, figures: dict) -> None:
    print(
        f"{title}: seeded in {figures['seed_s']} s, "
        f"start {figures['over_http']['start_s']} s, idle {figures['over_http']['idle_mb']} MB"
    )
    for part in ("in_service", "over_http"):
        for name, value in figures[part].items():
            if isinstance(value, dict):
                print(
                    f"  {part:<11} {name:<15} least {value['least_ms']:>9.3f} ms"
                    f"   p50 {value['p50_ms']:>9.3f} ms   p99 {value['p99_ms']:>9.3f} ms"
                )
            elif name.endswith("ratio"):
                print(f"  {part:<11} {name:<15} {value}")


if __name__ == "__main__":
    main()
