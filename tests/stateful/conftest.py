"""Homes on either engine; the stage of the matrix is built once and copied for each test."""

from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest

from codeflow_memory.app import Wiring, create_app
from codeflow_memory.settings import Limits, Settings

from .asking import served
from .grounds import Ground, ground, in_memory
from .matrix.playing import Stage
from .matrix.stage import build
from .matrix.wire import Client

PLENTY = 1_000_000


@pytest.fixture(scope="module")
def engine_cluster(engine_name, request):
    """Where databases are; ``None`` where they are files."""
    return None if engine_name == "sqlite" else request.getfixturevalue("cluster")


@pytest.fixture
def place(engine_cluster):
    """A ground of the test's own."""
    with ground(engine_cluster) as made:
        yield made


@pytest.fixture(scope="session")
def scripts():
    """The stages that were built, by engine."""
    with ExitStack() as stack:
        yield stack, {}


@pytest.fixture(scope="module")
def script(scripts, engine_name, engine_cluster):
    """The stage of the matrix, as it was built; only read."""
    stack, built = scripts
    if engine_name not in built:
        folder = Path(stack.enter_context(in_memory()))
        # Never closed: a database of it is there until its cluster is gone.
        built[engine_name] = build(Ground(folder, engine_cluster).home("built"))
    return built[engine_name]


@pytest.fixture
def stage(script, place):
    """A stage of its own."""
    made = Stage(script, place)
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
