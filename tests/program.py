"""The program as a process of its own, as its users start it."""

import json
import os
import selectors
import signal
import subprocess
import sys
from pathlib import Path

COMMAND = [sys.executable, "-I", "-W", "error::ResourceWarning", "-m", "codeflow_memory"]
SECONDS = 60


def environment(home: Path | None = None, **more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("CODEFLOW_")}
    if home is not None:
        kept["CODEFLOW_HOME"] = str(home)
    return kept | {"NO_COLOR": "1"} | more


class Server:
    """``up`` on a home, until `stop`.

    Args:
        home: Its folder.
        argv: More of the command line.
        umask: Of the process.
        err: Where its talk goes; nobody reads a pipe of a server that runs for long.
    """

    def __init__(
        self, home: Path, *argv: str, umask: int = 0o022, err: int = subprocess.PIPE
    ) -> None:
        self.process = subprocess.Popen(  # noqa: S603 - this program, no shell
            [*COMMAND, "up", "--port", "0", "--no-browser", "--json", *argv],
            env=environment(home),
            stdout=subprocess.PIPE,
            stderr=err,
            text=True,
            umask=umask,
        )
        assert self.process.stdout is not None
        with selectors.DefaultSelector() as ready:
            ready.register(self.process.stdout, selectors.EVENT_READ)
            line = self.process.stdout.readline() if ready.select(SECONDS) else ""
        if not line:
            self.stop(signal.SIGKILL)
            raise AssertionError("up printed nothing")
        self.first: dict[str, str] = json.loads(line)
        self.url = self.first["url"]
        self.port = int(self.url.rpartition(":")[2])

    def stop(self, how: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.communicate(timeout=SECONDS)
        return self.process.returncode
