"""What stands between the older document and the first change of a record."""

import json

import pytest

from codeflow_memory.domain.access import Origin, Role
from codeflow_memory.domain.errors import ImportConflictError, NotFoundError
from codeflow_memory.domain.lifecycle import Action
from codeflow_memory.services import access as accesses
from codeflow_memory.services import batch, legacy_import, memories, tokens, views
from codeflow_memory.services.batch import Step
from codeflow_memory.services.legacy_guard import LegacyGuard, guard_of
from codeflow_memory.services.legacy_import import COPY
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.review import Decision
from codeflow_memory.services.store import NoGuard
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.services.tokens import NewToken
from codeflow_memory.storage import imports, principals
from codeflow_memory.storage.imports import State

from .older_document import DOCUMENT, ID, START

NEW = Operation(None, ())


def now():
    return START


@pytest.fixture
def imported(home):
    """A home after its import, opened."""
    (home.path / "memory.json").write_text(json.dumps(DOCUMENT))
    legacy_import.run(home, now=now)
    (home.path / "memory.json.123.tmp").write_text("an older snapshot")
    tenants = Tenants(home, now=now, guard_of=guard_of(home))
    yield tenants.get("local")
    tenants.close()


def owner_of(store):
    with store.engine.read() as tx:
        first = principals.first_owner(tx)
        return accesses.of_principal(store, tx, first.principal_id, Origin.USER)


def state_of(store):
    with store.engine.read() as tx:
        return imports.find(tx).state


def retitle(store, title="Retry GET only"):
    return memories.revise(store, owner_of(store), ID, {"title": title}, 1, NEW)


def copies(home):
    return sorted(p.name for p in home.path.glob("memory.json*"))


def test_while_a_document_stands_there_every_change_is_refused(home, imported):
    standing = home.path / "memory.json"
    standing.write_text("{}")

    for _ in range(2):
        with pytest.raises(ImportConflictError):
            retitle(imported)

    assert memories.get(imported, owner_of(imported), ID).memory.revision == 1
    assert standing.read_text() == "{}"
    standing.unlink()
    assert retitle(imported).memory.revision == 2


def test_a_document_that_comes_back_is_noticed_after_changes_too(home, imported):
    retitle(imported)
    (home.path / "memory.json").symlink_to(home.path / "nowhere")

    with pytest.raises(ImportConflictError):
        memories.revise(imported, owner_of(imported), ID, {"title": "Other"}, 2, NEW)


def test_what_changes_no_record_keeps_the_copy(home, imported):
    before = copies(home)

    tokens.create(imported, owner_of(imported), NewToken("ann", "user", Role.READER), NEW)

    assert copies(home) == before
    assert state_of(imported) is State.RENAMED


def test_the_first_change_of_a_record_takes_the_copies_and_is_final(home, imported):
    retitle(imported)

    assert copies(home) == []
    assert state_of(imported) is State.FINALISED


def test_a_change_that_fails_leaves_the_database_and_the_next_one_is_final(home, imported):
    owner = owner_of(imported)
    with imported.engine.read() as tx:
        stored = views.seen(tx, accesses.reach_everywhere(tx, owner), ID)

    class Lost(BaseException):
        pass

    def change_twice_and_fail():
        with imported.engine.write() as tx:
            imported.guard.within(tx)
            imported.guard.within(tx)
            raise Lost

    with pytest.raises(Lost):
        change_twice_and_fail()

    assert copies(home) == []
    assert state_of(imported) is State.RENAMED
    assert memories.get(imported, owner, ID).memory == stored.memory
    retitle(imported)
    assert state_of(imported) is State.FINALISED


def test_a_refused_change_keeps_the_copy(home, imported):
    before = copies(home)

    with pytest.raises(NotFoundError):
        memories.revise(imported, owner_of(imported), "mem_absent0000", {"title": "x"}, 1, NEW)

    assert copies(home) == before


@pytest.mark.parametrize(("dry_run", "ids"), [(True, [ID]), (False, [ID, "mem_absent0000"])])
def test_a_batch_that_keeps_nothing_keeps_the_copy(home, imported, dry_run, ids):
    before = copies(home)
    steps = [Step("outdate", memory_id, 1, Decision(Action.OUTDATE)) for memory_id in ids]

    batch.run(imported, owner_of(imported), steps, NEW, dry_run=dry_run, atomic=not dry_run)

    assert copies(home) == before
    assert state_of(imported) is State.RENAMED


def test_a_batch_that_applies_whole_is_final(home, imported):
    step = Step("outdate", ID, 1, Decision(Action.OUTDATE))

    done = batch.run(imported, owner_of(imported), [step], NEW, dry_run=False, atomic=True)

    assert done.applied
    assert copies(home) == []


def test_a_copy_put_there_after_the_import_was_final_stays(home, imported):
    retitle(imported)
    (home.path / COPY).write_text("somebody's")

    memories.revise(imported, owner_of(imported), ID, {"title": "Other"}, 2, NEW)

    assert copies(home) == [COPY]


def test_a_database_without_an_import_takes_no_copy_away(home):
    tenants = Tenants(home, now=now, guard_of=guard_of(home))
    (home.path / COPY).write_text("of a database that was moved aside")
    store = tenants.create("local")
    try:
        with store.engine.write() as tx:
            store.guard.within(tx)
    finally:
        tenants.close()

    assert copies(home) == [COPY]


def test_only_the_tenant_of_the_home_itself_has_a_document(home):
    made = guard_of(home)

    assert isinstance(made("local", None), LegacyGuard)
    assert isinstance(made("birch", None), NoGuard)
