"""Every test of these folders that has a database has it on both engines, or says why not."""

from collections import defaultdict

import pytest

from codeflow_memory.storage.sqlite import SQLiteEngine

from .. import conftest


def test_a_test_that_opens_files_and_says_no_more_fails(tmp_path):
    """Control: this is one."""
    made = SQLiteEngine(tmp_path / "some.sqlite")
    made.create()

    with pytest.raises(AssertionError, match="take `engine_name`"):
        made.versions()


def test_what_takes_a_database_is_there_once_an_engine(request, engine_name):
    engines = defaultdict(set)
    for item in request.session.items:
        given = dict(item.callspec.params) if hasattr(item, "callspec") else {}
        engine = given.pop("engine_name", None)
        if engine is not None and conftest.is_of_both(item):
            engines[item.path, item.originalname, item.parent.name, repr(given)].add(engine)

    assert engine_name in {"sqlite", "postgresql"}
    assert {"storage", "services", "http", "stateful", "test_worker.py"} == conftest.BOTH_ENGINES
    assert set(map(frozenset, engines.values())) == {frozenset({"sqlite", "postgresql"})}
