"""One PostgreSQL database, and homes that share it and its key."""

import pytest

from codeflow_memory.storage.home import Home, write_private

KEY = b"s" * 32


@pytest.fixture
def database(cluster):
    """The name of a database of this test's own."""
    name = cluster.make()
    yield name
    cluster.drop(name)


@pytest.fixture
def server(cluster, database):
    return cluster.url(database)


@pytest.fixture
def new_home(tmp_path, server):
    """Make one more home of the database; its key is that of all, another, or ``None``."""

    def make(key: bytes | None = KEY) -> Home:
        made = Home(tmp_path / f"home-{len(list(tmp_path.iterdir()))}", server)
        made.make()
        if key is not None:
            write_private(made.path / "key", key)
        return made

    return make


@pytest.fixture
def home(new_home):
    return new_home()
