"""How soon an agent is answered: messages over HTTP and over stdin, in milliseconds.

Of each the least and the median are printed, in a table and as one JSON line; ``cpu_ms`` is what
importing the SDK costs by itself, and ``idle_mb`` what a server holds that has loaded it.
"""

import argparse
import http.client
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

COMMAND = [sys.executable, "-I", "-m", "codeflow_memory"]
MILLISECONDS = 1_000.0
VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}
CLIENT = {"name": "benchmark", "version": "1"}
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
IMPORT = """
import time
began = time.process_time()
import codeflow_memory.mcp.server
print((time.process_time() - began) * 1000)
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=50)
    repeats = parser.parse_args().repeats
    results: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        server = subprocess.Popen(  # noqa: S603 - this program, no shell
            [*COMMAND, "up", "--port", "0", "--json", "--home", str(home)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        token = (home / "token").read_text().strip()
        results["http, first"] = _times(1, lambda: _ask(url, token, "initialize", INITIALIZE))
        for name, method, params in (
            ("http, initialize", "initialize", INITIALIZE),
            ("http, server/discover", "server/discover", {"_meta": META}),
            ("http, tools/list", "tools/list", {"_meta": META}),
        ):
            results[name] = _times(repeats, lambda m=method, p=params: _ask(url, token, m, p))
        few = max(3, repeats // 10)
        results["stdin, of a server"] = _times(few, lambda: _start(home))
        idle = _resident_mb(server.pid)
        server.terminate()
        server.wait()
        results["stdin, of the home"] = _times(few, lambda: _start(home))
    imports = [float(_output([sys.executable, "-I", "-c", IMPORT])) for _ in range(3)]
    for name, found in results.items():
        print(f"{name:<24} least {found['least_ms']:>8.1f}   p50 {found['p50_ms']:>8.1f}")
    print(json.dumps(results | {"cpu_ms": round(min(imports), 1), "idle_mb": idle}))


def _times(repeats: int, do: Callable[[], object]) -> dict[str, float]:
    taken = []
    for _ in range(repeats):
        began = time.perf_counter()
        do()
        taken.append((time.perf_counter() - began) * MILLISECONDS)
    return {"least_ms": round(min(taken), 2), "p50_ms": round(statistics.median(taken), 2)}


def _ask(url: str, token: str, method: str, params: dict) -> None:
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    if "_meta" in params:
        headers |= {"MCP-Protocol-Version": VERSION, "Mcp-Method": method}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    connection.request("POST", "/mcp", json.dumps(message), headers)
    assert "result" in json.loads(connection.getresponse().read())
    connection.close()


def _start(home: Path) -> None:
    """Start the program and wait for its answer to a handshake; its end is not waited for."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
    process = subprocess.Popen(  # noqa: S603 - this program, no shell
        [*COMMAND, "mcp", "--home", str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    assert b"result" in process.stdout.readline()
    process.kill()
    process.wait()


def _output(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603 - this program, no shell


def _resident_mb(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) // 1024
    return 0


if __name__ == "__main__":
    main()
