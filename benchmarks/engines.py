"""The engines that are measured: files of a home, or schemas of a PostgreSQL of the run's own.

The server is that of the tests, on a folder and a socket of its own; but what it says is committed
is on the disk, as with SQLite.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from codeflow_memory.storage.home import Home

sys.path.append(str(Path(__file__).resolve().parent.parent))

from tests.postgresql import Cluster

ENGINES = ("sqlite", "postgresql")
_DURABLE = ("fsync=on", "synchronous_commit=on", "full_page_writes=on", "shared_buffers=256MB")

NewHome = Callable[[str], AbstractContextManager[Home]]


def add_option(parser: argparse.ArgumentParser) -> None:
    """Let the caller choose the engines."""
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))


@contextmanager
def running(engines: Sequence[str], *settings: str) -> Iterator[NewHome]:
    """Start what *engines* need, and give what makes an empty home on one of them.

    Args:
        engines: Names out of `ENGINES`.
        settings: More settings of PostgreSQL, ``name=value``.
    """
    cluster = Cluster() if "postgresql" in engines else None
    if cluster is not None:
        cluster.start(*_DURABLE, *settings)
    try:
        yield lambda engine: _home(cluster if engine == "postgresql" else None)
    finally:
        if cluster is not None:
            cluster.remove()


@contextmanager
def _home(cluster: Cluster | None) -> Iterator[Home]:
    with tempfile.TemporaryDirectory() as folder:
        database = None if cluster is None else cluster.make()
        url = None if cluster is None or database is None else cluster.url(database)
        home = Home(Path(folder) / "home", url)
        home.make()
        try:
            yield home
        finally:
            if cluster is not None and database is not None:
                cluster.drop(database)
