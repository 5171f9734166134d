"""What a thousand slow clients cost the others: time of an answer without and with them, memory.

Each request of a normal client is a connection of its own, which is the harder case: it has to be
let in. Printed are medians, 99th percentiles and their ratio; target: 2.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

CONFIG = "[limits]\nrequests_per_minute_token = 10000000\nrequests_per_minute_tenant = 10000000\n"
HERD = Path(__file__).with_name("herd.py")
MEASURED_SECONDS = 8.0
"""Shorter than the shortest deadline of a slow client."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = made(Path(folder))
        rounds = [measured(home, options.clients) for _ in range(options.rounds)]
    for row in rounds:
        print(row)
    ratio = statistics.median(float(row["p99_ratio"]) for row in rounds)  # type: ignore[arg-type] # a number
    print(json.dumps({"benchmark": "slow_clients", "p99_ratio": ratio, "rounds": rounds}))


def made(folder: Path) -> Path:
    """Make a home without rate limits."""
    home = folder / "home"
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text(CONFIG)
    return home


def measured(home: Path, clients: int) -> dict[str, object]:
    """Measure once: a server on *home*, alone and beside a herd of *clients*."""
    command = [sys.executable, "-m", "codeflow_memory", "up", "--port", "0", "--json"]
    with subprocess.Popen(  # noqa: S603 - this program, no shell
        [*command, "--no-browser", "--home", str(home)], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        first = json.loads(server.stdout.readline())
        url, token = first["url"], (home / "token").read_text().strip()
        _times(url, token, 1.0)
        before = _memory(server.pid)
        alone = _times(url, token, MEASURED_SECONDS)
        with subprocess.Popen(  # noqa: S603 - the herd, no shell
            [sys.executable, str(HERD), url, str(clients)], stdout=subprocess.PIPE, text=True
        ) as herd:
            assert herd.stdout is not None
            held = int(herd.stdout.readline())
            beside = _times(url, token, MEASURED_SECONDS)
            grown = _memory(server.pid) - before
            told = json.loads(herd.stdout.readline())
        server.terminate()
    return {
        "held": held,
        "p50_ms": [round(1_000 * statistics.median(taken), 2) for taken in (alone, beside)],
        "p99_ms": [round(1_000 * _p99(taken), 2) for taken in (alone, beside)],
        "p99_ratio": round(_p99(beside) / _p99(alone), 2),
        "grown_mib": round(grown / 1_024, 1),
        **told,
    }


def _times(url: str, token: str, seconds: float) -> list[float]:
    taken = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.perf_counter()
        connection = HTTPConnection(urlsplit(url).netloc, timeout=10)
        connection.request("GET", "/api/projects", headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        taken.append(time.perf_counter() - began)
        assert answer.status == 200
    return taken


def _p99(taken: list[float]) -> float:
    return statistics.quantiles(taken, n=100)[98]


def _memory(pid: int) -> int:
    """Return what is resident, KiB."""
    for line in Path(f"/proc/{pid}/status").read_text("ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("the system does not tell")


if __name__ == "__main__":
    main()
