"""Whether cost stays flat: the same project's search and selection beside 1, 10 and 50 others.

Other projects lie in the same tenant, other tenants in the same home; each is as large as the one
that is measured. On each engine; prints a table of the least times and their ratios, and one JSON
line.
"""

import argparse
import json
import random
import time
from contextlib import closing

from corpus import query, seed
from engines import add_option, running
from latency import owner_of, times

from codeflow_memory.domain.candidates import Candidate
from codeflow_memory.domain.memory import Collection, Content, Kind
from codeflow_memory.domain.selection import Request
from codeflow_memory.services import memories, search, selections
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.search import Question
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage.home import Home


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 10, 50])
    parser.add_argument("--entries", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=100)
    add_option(parser)
    options = parser.parse_args()
    results = {}
    with running(options.engines) as new_home:
        for engine in options.engines:
            for kind in ("projects", "tenants"):
                by_count = results[f"{engine} {kind}"] = {}
                for count in options.counts:
                    with new_home(engine) as home:
                        by_count[str(count)] = _measure(home, kind, count, options)
    for kind, by_count in results.items():
        first = next(iter(by_count.values()))
        for count, figures in by_count.items():
            cells = "  ".join(
                f"{name} {value:.2f} ms ({value / first[name]:.2f}x)"
                for name, value in figures.items()
            )
            print(f"{count:>4} {kind:<19} {cells}")
    print(json.dumps({"benchmark": "scale", "results": results}))


def _measure(home: Home, kind: str, count: int, options: argparse.Namespace) -> dict[str, float]:
    with closing(Tenants(home, now=lambda: time.time_ns() // 1_000)) as tenants:
        tenants.create("local")
        store = tenants.get("local")
        owner = owner_of(store)
        made = seed(store, owner, "first", options.entries)
        for other in range(1, count):
            if kind == "projects":
                seed(store, owner, f"other-{other}", options.entries)
            else:
                beside = tenants.create(f"tenant-{other}")
                seed(beside, owner_of(beside), "first", options.entries)
        chance = random.Random(9)  # noqa: S311 - repeatable on purpose
        asked = [query(chance, made.vocabulary, 4) for _ in range(options.repeats)]
        project = made.project.project_id
        drafts = [
            Candidate(Content(Kind.FACT, f"Draft {at}", text), Collection.PROJECT)
            for at, text in enumerate(asked)
        ]
        figures = {
            "search": times(lambda q: search.find(store, owner, project, None, Question(q)), asked),
            "selection": times(
                lambda q: selections.create(store, owner, project, None, Request(query=q)), asked
            ),
            "write": times(
                lambda d: memories.create(store, owner, project, None, d, Operation(None, ())),
                drafts,
            ),
        }
        # Other programs on the machine disturb the least of many far less than their median.
        return {name: value["least_ms"] for name, value in figures.items()}


if __name__ == "__main__":
    main()
