"""What many tenants cost: a schema or a file each, and none of them knows of the others.

At each count: how long the last tenants took to make, one took to open, to list all of them, and
to select in one; how much room an empty one takes and how much memory this process and, of
PostgreSQL, the largest of its processes use after every tenant was read once. Prints a table for
each engine and one JSON line.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from corpus import Made, seed
from engines import add_option, running
from latency import MILLISECONDS, owner_of, times

from codeflow_memory.domain.access import Access
from codeflow_memory.domain.selection import Request
from codeflow_memory.services import selections
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage.home import Home

ENTRIES = 100
LAST = 10
"""Tenants whose making is timed at each count."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 10, 100, 300, 1_000])
    parser.add_argument("--repeats", type=int, default=50)
    add_option(parser)
    options = parser.parse_args()
    results = {}
    # A tenant is read by a process that may have many connections: none is in another's way.
    with running(options.engines, "max_locks_per_transaction=256") as new_home:
        for engine in options.engines:
            with new_home(engine) as home:
                results[engine] = _grow(home, options)
            _table(engine, results[engine])
    print(json.dumps({"benchmark": "tenants", "results": results}))


def _grow(home: Home, options: argparse.Namespace) -> dict[int, dict[str, float]]:
    with closing(Tenants(home, now=_now)) as tenants:
        first = tenants.create("local")
        owner = owner_of(first)
        made = seed(first, owner, "first", ENTRIES)
    figures: dict[int, dict[str, float]] = {}
    stands = 1
    for count in sorted(options.counts):
        with closing(Tenants(home, now=_now)) as tenants:
            taken = [_seconds(_make, tenants, number) for number in range(stands, count)]
        stands = max(stands, count)
        with closing(Tenants(home, now=_now)) as tenants:
            read = _figures(tenants, owner, made, options.repeats)
        figures[count] = {"make_ms": _median(taken[-LAST:]), **read}
    return figures


def _figures(tenants: Tenants, owner: Access, made: Made, repeats: int) -> dict[str, float]:
    slugs = tenants.slugs()
    listing = times(lambda _: tenants.slugs(), list(range(10)))
    opening = [_seconds(_read, tenants, slug) for slug in slugs]
    store, project = tenants.get("local"), made.project.project_id
    asked = [Request(query=f"{made.vocabulary[at]} cache") for at in range(repeats)]
    selected = times(lambda r: selections.create(store, owner, project, None, r), asked)
    return {
        "open_ms": _median(opening),
        "list_ms": listing["p50_ms"],
        "select_ms": selected["p50_ms"],
        "empty_kb": round(tenants.get(slugs[-1]).engine.size_bytes() / 1024),
        "process_mb": _resident_mb("self"),
        "backend_mb": max(map(_resident_mb, _backends(tenants.home)), default=0),
    }


def _make(tenants: Tenants, number: int) -> None:
    tenants.create(f"tenant-{number}")


def _now() -> int:
    return time.time_ns() // 1_000


def _read(tenants: Tenants, slug: str) -> None:
    owner_of(tenants.get(slug))


def _seconds(work: Callable[..., object], *arguments: object) -> float:
    began = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - began


def _median(seconds: list[float]) -> float:
    return round(statistics.median(seconds) * MILLISECONDS, 2) if seconds else 0.0


def _backends(home: Home) -> list[str]:
    """List the processes of PostgreSQL that serve a connection of ours."""
    if home.server is None:
        return []
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = place.read_bytes()
        except OSError:
            continue
        if command.startswith(b"postgres: codeflow"):
            found.append(place.parent.name)
    return found


def _resident_mb(process: str) -> int:
    """Return what a process has in memory by itself, without what it shares; MB."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(at.split()[1]) // 1024 for at in lines if at.startswith("RssAnon:")), 0)


def _table(engine: str, figures: dict[int, dict[str, float]]) -> None:
    print(engine)
    for count, values in figures.items():
        cells = "  ".join(f"{name} {value:>8.2f}" for name, value in values.items())
        print(f"  {count:>5} tenants  {cells}")


if __name__ == "__main__":
    main()
