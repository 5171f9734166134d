"""Every test of these folders that has a database has it on both engines, or says why not."""

from collections import defaultdict
from pathlib import Path

import pytest

from codeflow_memory.storage.sqlite import SQLiteEngine

from .. import conftest

TESTS = Path(conftest.__file__).parent
LEFT_OUT = {
    "test_a_defect_is_noticed",
    "test_the_inspector_finds_no_fault_with_the_tools",
    "test_the_protocol_is_spoken_as_its_own_checks_want",
    "test_the_typescript_client_proposes_and_the_selection_replays",
}
"""What ``--long`` does in another way, and others' clients, where npm cannot install them."""


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


def test_none_of_them_is_left_out(request):
    marks = ("skip", "skipif", "xfail")
    left_out = {
        item.originalname
        for item in request.session.items
        if item.path.relative_to(TESTS).parts[0] in conftest.BOTH_ENGINES
        and any(item.get_closest_marker(mark) for mark in marks)
    }
    sources = [
        path
        for folder in conftest.BOTH_ENGINES
        for path in (TESTS / folder).rglob("*.py")
        if path != Path(__file__)
    ]

    assert left_out <= LEFT_OUT
    assert len(sources) > 100
    assert [p.name for p in sources if "pytest.skip(" in p.read_text("utf-8")] == []
    assert [p.name for p in sources if "importorskip" in p.read_text("utf-8")] == []


def test_their_server_is_on_a_folder_and_a_socket_of_their_own(cluster):
    def shown(name):
        ((value,),) = cluster.sql(f"SHOW {name}")
        return value

    assert shown("listen_addresses") == ""
    assert shown("unix_socket_directories") == str(cluster.folder)
    assert shown("data_directory") == str(cluster.data)
