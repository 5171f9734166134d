"""What this process opens, runs and connects to while it is watched, as the interpreter tells."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(slots=True)
class Seen:
    """The paths that were opened or listed, the programs that were run, the sockets connected."""

    opened: list[str] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    connected: list[str] = field(default_factory=list)

    def opened_in(self, folder: Path) -> list[str]:
        """Return what was opened in *folder*, whichever way it was reached."""
        real = folder.resolve()
        return [path for path in self.opened if Path(path).resolve().is_relative_to(real)]


_watching: list[Seen] = []


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watching:
        return
    seen = _watching[-1]
    if event in {"open", "os.scandir", "os.listdir"} and isinstance(arguments[0], str | bytes):
        seen.opened.append(os.fsdecode(arguments[0]))
    elif event in {"subprocess.Popen", "os.posix_spawn", "os.exec", "os.system"}:
        seen.ran.append(str(arguments[0]))
    elif event in {"socket.connect", "socket.getaddrinfo"}:
        seen.connected.append(str(arguments[:2]))


sys.addaudithook(_note)


@contextmanager
def watched() -> Iterator[Seen]:
    """Note what happens in the block."""
    seen = Seen()
    _watching.append(seen)
    try:
        yield seen
    finally:
        _watching.pop()
