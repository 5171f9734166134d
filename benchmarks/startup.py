"""What it costs to start: seconds of processor, of commands that ask a server and of imports.

``.venv/bin/python benchmarks/startup.py``; each is run several times and the least counts, for a
busy machine adds and never takes. The bound of a light command is 0.15 s.
"""

import argparse
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile

BOUND = 0.15

COMMANDS = (
    "--version",
    "status",
    "project list",
    "memory list",
    "memory show mem_1",
    "memory search push",
    "review list",
    "repo list",
    "audit list",
    "token list",
    "doctor",
)
"""Asked of a server that is not there: all of a start, and none of a server's work."""


def main() -> None:
    """Measure, and print a table and a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7, help="of each; the least counts")
    runs = parser.parse_args().runs
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    program = [sys.executable, "-I", "-m", "codeflow_memory"]
    found = {"python": least([sys.executable, "-I", "-c", ""], runs)}
    for words in COMMANDS:
        found[words] = least([*program, *words.split(), "--url", url], runs)
    client = "import codeflow_memory_client"
    found[client] = least([sys.executable, "-I", "-c", client], runs)
    print(f"{'START':<32} CPU s")
    for name, seconds in found.items():
        print(f"{name:<32} {seconds:.3f}{'  over the bound' if seconds > BOUND else ''}")
    print(json.dumps({"bound": BOUND, "seconds": found}))


def least(argv: list[str], runs: int) -> float:
    """Return the fewest seconds of processor that *argv* took."""
    with tempfile.TemporaryDirectory() as home:
        environment = {"PATH": os.environ["PATH"], "CODEFLOW_HOME": home, "HOME": home}
        return round(min(once(argv, environment) for _ in range(runs)), 3)


def once(argv: list[str], environment: dict[str, str]) -> float:
    """Run *argv* and return its seconds of processor, of the user and of the system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, env=environment, capture_output=True, check=False)  # noqa: S603 - ours
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
