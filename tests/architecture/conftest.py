"""The schema of a new database, for the rules about tables."""

import apsw
import pytest

from .tree import ROOT


@pytest.fixture(scope="module")
def schema():
    connection = apsw.Connection(":memory:")
    for file in sorted((ROOT / "migrations").glob("*.sql")):
        for _ in connection.execute(file.read_text("utf-8")):
            pass
    yield connection
    connection.close()
