"""How fast: selection, search and writes against a trivial handler and a bare write, as ratios.

Everything is measured in one run on one machine; each part is repeated and its median and 99th
percentile are printed, in a table and as one JSON line.
"""

import argparse
import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, urlsplit

from corpus import Made, query, seed
from floor import rows_alone

from codeflow_memory.domain.access import Access, Origin
from codeflow_memory.domain.candidates import Candidate
from codeflow_memory.domain.memory import Collection, Content, Kind
from codeflow_memory.services import access as accesses
from codeflow_memory.services import memories, search
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
    options = parser.parse_args()
    results: dict[str, object] = {}
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as folder:
            results[str(size)] = _measure(Path(folder) / "home", size, options.repeats)
    print(json.dumps({"benchmark": "latency", "results": results}))


def _measure(path: Path, size: int, repeats: int) -> dict[str, object]:
    home = Home(path)
    home.make()
    (path / "config.toml").write_text(CONFIG)
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
    figures["over_http"] = _over_http(path, made, repeats)
    _table(size, figures)
    return figures


def _in_service(store: Store, owner: Access, made: Made, repeats: int) -> dict[str, object]:
    chance = random.Random(3)  # noqa: S311 - repeatable on purpose
    project = made.project.project_id
    found: dict[str, object] = {}
    for words in (1, 3, 6, 12):
        asked = [query(chance, made.vocabulary, words) for _ in range(repeats)]
        found[f"search_{words}"] = times(
            lambda text: search.find(store, owner, project, None, Question(text)), asked
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
        found[f"rows_of_{name}"] = alone = _figures(
            rows_alone(store, work, range(count, 2 * count))
        )
        found[f"{name}_ratio"] = round(governed["p50_ms"] / bare["p50_ms"], 2)
        found[f"rows_of_{name}_ratio"] = round(alone["p50_ms"] / bare["p50_ms"], 2)
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


def _over_http(path: Path, made: Made, repeats: int) -> dict[str, object]:
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

    def ask(method: str, target: str, body: object = None) -> None:
        data = None if body is None else json.dumps(body)
        connection.request(method, target, data, headers)
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status < 300, (answer.status, text[:200])

    chance = random.Random(5)  # noqa: S311 - repeatable on purpose
    base = f"/api/projects/{made.project.project_id}/memory"
    texts = [query(chance, made.vocabulary, chance.randint(2, 6)) for _ in range(repeats)]
    paths = [
        f"src/{made.vocabulary[at % 40]}/{made.vocabulary[at % 300]}.py" for at in range(repeats)
    ]
    trivial = times(lambda _: ask("GET", "/healthz"), texts)
    searched = times(lambda text: ask("GET", f"{base}/search?q={quote(text)}"), texts)
    selected = times(
        lambda pair: ask(
            "POST",
            f"{base}/selections",
            {"query": pair[0], "paths": [pair[1]], "branch": "main"},
        ),
        list(zip(texts, paths, strict=True)),
    )
    return {
        "trivial": trivial,
        "search": searched,
        "selection": selected,
        "search_ratio": round(searched["p50_ms"] / trivial["p50_ms"], 1),
        "selection_ratio": round(selected["p50_ms"] / trivial["p50_ms"], 1),
    }


def times(work: Callable[..., object], arguments: list, *, again: bool = True) -> dict[str, float]:
    """Do *work* with each of *arguments* and return median and 99th percentile.

    Unless it can be done but once, the first is done *again*, before, to warm it up.
    """
    if again:
        work(arguments[0])
    taken = []
    for argument in arguments:
        began = time.perf_counter()
        work(argument)
        taken.append(time.perf_counter() - began)
    return _figures(taken)


def _figures(seconds: list[float]) -> dict[str, float]:
    taken = sorted(one * MILLISECONDS for one in seconds)
    return {
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


def _table(size: int, figures: dict) -> None:
    print(
        f"{size} entries: seeded in {figures['seed_s']} s, "
        f"start {figures['over_http']['start_s']} s, idle {figures['over_http']['idle_mb']} MB"
    )
    for part in ("in_service", "over_http"):
        for name, value in figures[part].items():
            if isinstance(value, dict):
                print(
                    f"  {part:<11} {name:<15} p50 {value['p50_ms']:>9.3f} ms"
                    f"   p99 {value['p99_ms']:>9.3f} ms"
                )
            elif name.endswith("ratio"):
                print(f"  {part:<11} {name:<15} {value}")


if __name__ == "__main__":
    main()
