"""One mutation: who calls is settled before anything, a receipt too, is looked at."""

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import (
    NotFoundError,
    StorageFullError,
    StoreUnusableError,
    UnauthenticatedError,
)
from codeflow_memory.services import tokens
from codeflow_memory.services.mutation import Operation
from codeflow_memory.storage.home import Home

NEW = Operation(None, ())
TEXT = {"title": "Title", "body": "Body"}


@pytest.fixture
def revoked(world, project):
    """A caller whose token was revoked after it signed in and wrote once, as operation ``k``."""
    token = world.token("ann", Role.CONTRIBUTOR)
    ann = world.sign_in(token.text)
    world.write(ann, project, op="k", **TEXT)
    tokens.revoke(world.store, world.owner, token.token.token_id, NEW)
    return ann


def test_a_revoked_token_is_not_answered_from_its_receipt(world, project, revoked):
    with pytest.raises(UnauthenticatedError):
        world.write(revoked, project, op="k", **TEXT)


def test_nor_is_it_where_the_disk_fails_before_the_token_is_looked_at(
    world, project, revoked, monkeypatch
):
    def fail():
        raise StoreUnusableError("memory.sqlite", "the disk fails")

    monkeypatch.setattr(world.store.engine, "write", fail)

    with pytest.raises(StoreUnusableError):
        world.write(revoked, project, op="k", **TEXT)


def test_a_repetition_is_answered_to_the_caller_as_it_stands_now(world, cast, project):
    team = world.team("red", cast.ann)
    member = world.again(cast.ann)
    world.write(member, project, op="k", collection="team", team_id=team, **TEXT)
    with world.store.engine.write() as tx:
        tx.execute("DELETE FROM team_members")

    with pytest.raises(NotFoundError):
        world.write(member, project, op="k", collection="team", team_id=team, **TEXT)


def test_ordinary_writes_leave_the_room_that_was_given_up_to_deletions(
    world, cast, project, monkeypatch
):
    """Else they would take it, and the next deletion on the full disk would have none."""
    memory = world.propose(cast.ann, project)
    home = world.store.home
    home.fill_ballast()
    home.release_ballast()
    with monkeypatch.context() as full:
        full.setattr(Home, "fill_ballast", lambda _: None)
        with pytest.raises(StorageFullError):
            world.propose(cast.ann, project)
        world.delete(cast.ann, memory)

    world.propose(cast.ann, project)

    assert not home.is_ballast_spent()
