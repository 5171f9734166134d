"""Erasure: who asks for it, what goes, what stays under a pseudonym, and who is named no more."""

import json

import pytest

from codeflow_memory.adapters.passwords import Cost, Passwords
from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import (
    ForbiddenError,
    LegalHoldError,
    NotFoundError,
    UnauthenticatedError,
)
from codeflow_memory.domain.memory import Status
from codeflow_memory.services import erasure, feedback, holds
from codeflow_memory.services.feedback import Judgement
from codeflow_memory.services.holds import Target
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.recomputation import recompute
from codeflow_memory.services.sign_in import set_password
from codeflow_memory.storage import audit, fingerprint, passwords, principals

from .. import remains
from ..remains import IN_DATABASE

NEW = Operation(None, ())
NAME = "Quintilla Needlesworth"
NEEDLE = "quinquagesimal"


def erase(world, principal=NAME, access=None):
    return erasure.run(world.store, access or world.owner, principal)


@pytest.fixture
def subject(world):
    return world.person(NAME, Role.REVIEWER)


@pytest.mark.parametrize("role", [r for r in Role if r is not Role.OWNER])
@pytest.mark.usefixtures("subject")
def test_only_an_owner_erases(world, role):
    caller = world.person("somebody", role)

    with pytest.raises(ForbiddenError):
        erase(world, access=caller)
    with pytest.raises(ForbiddenError):
        erasure.preview(world.store, caller, NAME)


@pytest.mark.usefixtures("subject")
def test_an_agent_that_owns_the_tenant_erases_nobody(world):
    with pytest.raises(ForbiddenError):
        erase(world, access=world.person("bot", Role.OWNER, "agent"))


def test_the_last_owner_and_oneself_are_not_erased(world):
    with pytest.raises(ForbiddenError, match="last owner"):
        erase(world, "owner")
    other = world.person("other", Role.OWNER)
    with pytest.raises(ForbiddenError, match="another owner"):
        erase(world, "other", access=other)

    assert erase(world, "owner", access=other).erased_by == other.principal_id
    with pytest.raises(ForbiddenError, match="last owner"):
        erase(world, "other", access=other)


def test_a_password_goes_with_its_person(world, subject):
    cheap = Passwords(Cost(64, 1, 1))
    set_password(world.store, subject, cheap, NAME, "correct horse battery staple")
    with world.store.engine.read() as tx:
        encoded = passwords.find(tx, subject.principal_id)

    erase(world)

    assert world.holding(encoded) == []


@pytest.mark.usefixtures("subject")
def test_nobody_is_not_erased_and_a_pseudonym_neither(world):
    done = erase(world)

    for name in ("nobody", NAME, done.pseudonym_id):
        with pytest.raises(NotFoundError):
            erase(world, name)


def test_a_held_entry_refuses_the_whole(world, cast, project, subject):
    memory = world.propose(subject, project, collection="private")
    holds.add(world.store, world.owner, Target(memory.memory_id), "a case", NEW)
    before = state(world)

    for act in (erase, lambda w: erasure.preview(w.store, w.owner, NAME)):
        with pytest.raises(LegalHoldError) as refused:
            act(world)
        assert refused.value.memory_ids == (memory.memory_id,)
    assert state(world) == before
    holds.remove(world.store, world.owner, Target(memory.memory_id), NEW)
    erase(world)
    assert world.get(cast.max, world.accept(cast.ann, cast.bob, project))


def state(world):
    with world.store.engine.read() as tx:
        return fingerprint.of_database(tx, {"store"})


@pytest.mark.usefixtures("subject")
def test_a_preview_writes_nothing(world):
    before = state(world)

    assert erasure.preview(world.store, world.owner, NAME)["tokens"] == 1
    assert state(world) == before


def lived(world, cast, project, subject):
    """Let the subject do all that leaves a trace; return what it made by name."""
    team = world.team("red", subject, cast.abe)
    subject = world.again(subject)
    made = {
        "private": world.propose(subject, project, collection="private", body=NEEDLE),
        "secret": world.propose(subject, project, sensitivity="secret", body=f"a {NEEDLE}"),
        "team": world.propose(subject, project, collection="team", team_id=team),
        "own": world.decide(cast.bob, world.propose(subject, project), "approve"),
        "approved": world.accept(cast.ann, subject, project, title="moss"),
    }
    run = world.run(subject, project, branch=f"feature/{NEEDLE}")
    in_run = world.sign_in(run.text)
    made["in a run"] = world.propose(in_run, project, collection="private", body=f"run {NEEDLE}")
    selection = world.select(subject, project, query=f"moss {NEEDLE}")
    judgement = Judgement(helpful=True, note="it helped")
    feedback.give(world.store, subject, made["approved"].memory_id, judgement, NEW)
    made["revised"] = world.revise(subject, world.propose(cast.ann, project), tags=["x"])
    world.propose(world.person("other bot", Role.CONTRIBUTOR, "agent"), project)
    return made, selection.manifest


def places_of(world, text):
    """Name the tables in which any value holds *text*."""
    found = set()
    with world.store.engine.read() as tx:
        for table, rows in remains.content(tx).items():
            if any(text in str(value) for row in rows for value in row):
                found.add(table)
    return found


def test_what_is_ones_own_goes_and_what_is_shared_stays_under_a_pseudonym(
    world, cast, project, subject
):
    made, _ = lived(world, cast, project, subject)
    assert world.holding(NEEDLE) == [IN_DATABASE]
    assert world.holding(NAME) == [IN_DATABASE]

    done = erase(world)

    assert dict(done.counts) == {
        "memories": 3,
        "selections": 1,
        "tokens": 2,
        "attributed": 6,
    }
    assert (done.subject_id, done.erased_at) == (None, world.clock.at)
    assert world.holding(NEEDLE) == []
    assert world.holding(NAME) == []
    assert places_of(world, subject.principal_id) == {"audit"}
    own = world.get(cast.max, made["own"])
    assert (own.memory.author, own.memory.status) == (done.pseudonym_id, Status.ACCEPTED)
    assert own.memory.content == made["own"].content
    with world.store.engine.read() as tx:
        rows = tx.rows(
            "SELECT principal FROM approvals WHERE memory_id = :memory_id",
            {"memory_id": made["approved"].memory_id},
        )
        pseudonym = principals.find(tx, done.pseudonym_id)
        assert audit.first_fault(tx, world.store.keys.audit_hash) is None
    assert rows == [(done.pseudonym_id,)]
    assert pseudonym.name == f"erased-{done.pseudonym_id.removeprefix('prn_').lower()}"
    assert pseudonym.removed_at is not None
    assert recompute(world.store, sample=None)[1] == []


def test_who_was_erased_can_do_nothing_and_its_name_is_free(world, subject):
    text = world.token(NAME, Role.REVIEWER).text
    erase(world)

    with pytest.raises(UnauthenticatedError):
        world.sign_in(text)
    with pytest.raises(UnauthenticatedError):
        world.again(subject)
    assert world.person(NAME).principal_id != subject.principal_id


def test_others_keep_what_is_theirs(world, cast, project, subject):
    theirs = world.propose(cast.ann, project, collection="private", body=NEEDLE)
    chosen = world.select(cast.ann, project, query="words").manifest
    lived(world, cast, project, subject)

    erase(world)

    assert world.get(cast.ann, theirs).memory == theirs
    with world.store.engine.read() as tx:
        kept = tx.rows("SELECT manifest_id, free_text FROM manifests")
    assert [(m, json.loads(t)["query"]) for m, t in kept] == [(chosen.manifest_id, "words")]


def test_a_removed_principal_is_erased_by_its_id(world, subject):
    with world.store.engine.write() as tx:
        principals.remove(tx, subject.principal_id, 5)

    erase(world, subject.principal_id)

    assert places_of(world, subject.principal_id) == {"audit"}


class _Cut(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("at", range(1, 7))
def test_an_erasure_that_was_cut_off_is_taken_up_with_the_same_receipt(
    world, cast, project, subject, monkeypatch, at
):
    made, _ = lived(world, cast, project, subject)
    mutate, calls = erasure.mutate, []

    def cut(*arguments, **more):
        calls.append(1)
        if len(calls) == at:
            raise _Cut
        return mutate(*arguments, **more)

    monkeypatch.setattr(erasure, "STEP_ENTRIES", 2)
    monkeypatch.setattr(erasure, "mutate", cut)
    with pytest.raises(_Cut):
        erase(world)
    monkeypatch.setattr(erasure, "mutate", mutate)
    if at > 1:
        with pytest.raises(UnauthenticatedError):
            world.again(subject)

    done = erase(world)

    assert (done.counts["memories"], done.counts["selections"]) == (3, 1)
    assert world.holding(NEEDLE) == []
    assert places_of(world, subject.principal_id) == {"audit"}
    assert world.get(cast.max, made["own"]).memory.author == done.pseudonym_id


def test_an_erasure_is_on_record_without_a_name(world, cast, project, subject):
    lived(world, cast, project, subject)
    done = erase(world)

    with world.store.engine.read() as tx:
        rows = [v for _, v, _, _ in audit._rows(tx) if v["action"].startswith("erasure.")]
    assert [(r["action"], r["item"]) for r in rows] == [
        ("erasure.begin", done.erasure_id),
        ("erasure.selections", project.repository_id),
        ("erasure.finish", done.erasure_id),
    ]


@pytest.mark.usefixtures("subject")
def test_what_an_import_kept_by_name_is_put_under_the_pseudonym_too(world, cast, project):
    memory = world.accept(cast.ann, cast.bob, project)
    with world.store.engine.write() as tx:
        tx.execute("UPDATE approvals SET principal = :name", {"name": NAME})
        tx.execute("UPDATE memories SET author = :name", {"name": NAME})

    done = erase(world)

    assert world.get(cast.max, memory).memory.author == done.pseudonym_id
    assert world.holding(NAME) == []
