"""What an import of the older memory.json does to the folder around it, and in which order."""

import json
from contextlib import closing

import pytest

from codeflow_memory.domain.access import Origin
from codeflow_memory.services import access as accesses
from codeflow_memory.services import legacy_guard, legacy_import, memories
from codeflow_memory.services.legacy_guard import guard_of
from codeflow_memory.services.legacy_import import COPY
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage import databases, imports, principals
from codeflow_memory.storage.home import sync_folder

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
def home(home):
    """The home with an older document in it."""
    (home.path / "memory.json").write_text(json.dumps(DOCUMENT))
    return home


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
    with closing(databases.of(home)) as of_home:
        engine = of_home.engine("local")
        with closing(engine), engine.read() as tx:
            return str(imports.find(tx).state)


def test_each_new_name_is_durable_before_the_database_says_so(home, monkeypatch):
    synced = []

    def sync(path):
        assert path == home.path
        names = sorted(p.name for p in path.glob("memory.json*"))
        synced.append((names, state(home)))
        sync_folder(path)

    for module in (databases, legacy_import, legacy_guard):
        monkeypatch.setattr(module, "sync_folder", sync)

    legacy_import.run(home, now=now)

    # A server makes what it has durable by itself.
    made = [(["memory.json"], "committed")] if home.server is None else []
    assert synced == [*made, ([COPY], "committed")]
    assert state(home) == "renamed"
    synced.clear()
    retitle(home)
    assert synced == [([], "renamed")]
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
