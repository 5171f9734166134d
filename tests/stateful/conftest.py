"""Homes in memory: these tests commit thousands of times, and each commit syncs.

The stage of the authorisation matrix is built once and copied for each test.
"""

import tempfile
from itertools import count
from pathlib import Path

import pytest

from codeflow_memory.app import Wiring, create_app
from codeflow_memory.settings import Limits, Settings

from .asking import served
from .matrix.playing import Stage
from .matrix.stage import build
from .matrix.wire import Client

PLENTY = 1_000_000


def in_memory() -> tempfile.TemporaryDirectory[str]:
    """Make a folder in memory where the system has one; gone when its context ends."""
    memory = Path("/dev/shm")  # noqa: S108 - only the parent of a private folder
    return tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None)


@pytest.fixture
def place():
    """Give such a folder."""
    with in_memory() as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def script():
    """The stage of the matrix, as it was built; only read."""
    with in_memory() as folder:
        yield build(Path(folder) / "home")


@pytest.fixture
def stage(script, place):
    """A stage of its own."""
    made = Stage(script, place / "home")
    yield made
    made.close()


@pytest.fixture
def client(stage):
    """A client of the whole product, served over the stage on a real port."""
    requests = count()

    def app(hosts):
        plenty = Limits(
            requests_per_minute_token=PLENTY,
            requests_per_minute_tenant=PLENTY,
            failed_sign_ins=PLENTY,
        )
        wiring = Wiring(stage, Settings(limits=plenty), hosts, lambda: f"req_{next(requests)}")
        return create_app(wiring)

    with served(app) as url:
        made = Client(url)
        yield made
        made.close()
