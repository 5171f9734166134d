"""What an import of the older memory.json does to the folder around it, and in which order."""

import json

import pytest

from codeflow_memory.domain.access import Origin
from codeflow_memory.services import access as accesses
from codeflow_memory.services import legacy_guard, legacy_import, memories
from codeflow_memory.services.legacy_guard import guard_of
from codeflow_memory.services.legacy_import import COPY
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage import imports, principals
from codeflow_memory.storage.home import Home, sync_folder
from codeflow_memory.storage.sqlite import SQLiteEngine

from .older_document import DOCUMENT, ID, START

OTHERS = {
    "settings.json": b'{"theme": "dark"}',
    "settings.json.7.tmp": b"{",
    "runs/run-1/journal.jsonl": b'{"step": 1}\n{"step"',
    "learnings/shop.md": b"# Shop\n",
    "learnings/memory.json": b"{}",
    "learnings/memory.json.7.tmp": b"{",
}
"""What an older Code Flow keeps beside its memory."""


def now():
    return START


@pytest.fixture
def home(tmp_path):
    made = Home(tmp_path / "home")
    made.make()
    (made.path / "memory.json").write_text(json.dumps(DOCUMENT))
    return made


def retitle(home):
    tenants = Tenants(home, now=now, guard_of=guard_of(home))
    store = tenants.get("local")
    with store.engine.read() as tx:
        first = principals.first_owner(tx)
        owner = accesses.of_principal(store, tx, first.principal_id, Origin.USER)
    memories.revise(store, owner, ID, {"title": "Retry GET only"}, 1, Operation(None, ()))
    tenants.close()


def state(home):
    """What the database says of the import, whoever writes to it meanwhile."""
    engine = SQLiteEngine(home.path / "memory.sqlite")
    with engine.read() as tx:
        found = imports.find(tx)
    engine.close()
    return str(found.state)


def test_each_new_name_is_durable_before_the_database_says_so(home, monkeypatch):
    synced = []

    def sync(path):
        assert path == home.path
        names = sorted(p.name for p in path.glob("memory.json*"))
        synced.append((names, state(home)))
        sync_folder(path)

    monkeypatch.setattr(legacy_import, "sync_folder", sync)
    monkeypatch.setattr(legacy_guard, "sync_folder", sync)

    legacy_import.run(home, now=now)

    assert synced == [(["memory.json"], "committed"), ([COPY], "committed")]
    assert state(home) == "renamed"
    retitle(home)
    assert synced[2:] == [([], "renamed")]
    assert state(home) == "finalised"


def facts(home):
    places = {name: home.path / name for name in OTHERS}
    return {
        name: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode, path.stat().st_ino)
        for name, path in places.items()
    }


def test_nothing_else_in_the_home_is_touched(home):
    for name, content in OTHERS.items():
        path = home.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o640)
    before = facts(home)

    legacy_import.run(home, now=now)
    assert facts(home) == before
    retitle(home)

    assert facts(home) == before
    names = {p.relative_to(home.path).as_posix() for p in home.path.rglob("*") if p.is_file()}
    assert {name for name in names if name.startswith(("learnings/", "runs/"))} == {
        name for name in OTHERS if "/" in name
    }
