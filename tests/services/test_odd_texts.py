"""Texts that a database may not take: who asks by one is answered alike on both engines."""

import json
from random import Random

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import (
    InvalidRequestError,
    LimitExceededError,
    NotFoundError,
    ProvenanceInvalidError,
    UnauthenticatedError,
)
from codeflow_memory.services import access as accesses
from codeflow_memory.services import (
    erasure,
    feedback,
    legacy_import,
    memories,
    principals,
    repositories,
    search,
)
from codeflow_memory.services.feedback import Judgement
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.search import Question

from .. import remains
from .older_document import DOCUMENT, START

NEW = Operation(None, ())
NUL = "a\0b"
HALF = "a\udcffb"


@pytest.mark.parametrize("text", [NUL, HALF])
def test_a_memory_is_not_found_under_an_id_that_cannot_be(world, cast, project, text):
    store, ann = world.store, cast.ann

    for ask in (
        lambda: memories.get(store, ann, text),
        lambda: memories.history(store, ann, text),
        lambda: memories.revise(store, ann, text, {"title": "x"}, 1, NEW),
    ):
        with pytest.raises(NotFoundError):
            ask()
    with pytest.raises(ProvenanceInvalidError):
        world.write(ann, project, supersedes={"memory_id": text, "revision": 1})


def test_nothing_else_is_found_by_a_text_with_u_0000(world, project):
    store, owner = world.store, world.owner

    for ask in (
        lambda: search.find(store, owner, NUL, None, Question("x")),
        lambda: search.find(store, owner, project.project_id, NUL, Question("x")),
        lambda: repositories.show(store, owner, NUL),
        lambda: erasure.preview(store, owner, NUL),
        lambda: erasure.run(store, owner, NUL),
    ):
        with pytest.raises(NotFoundError):
            ask()
    for ask in (
        lambda: world.select(owner, project, run_id=NUL),
        lambda: world.token(NUL, Role.READER),
    ):
        with pytest.raises(InvalidRequestError):
            ask()
    with pytest.raises(UnauthenticatedError):
        accesses.authenticate(store, NUL, "secret")


def test_a_page_after_a_text_with_u_0000_goes_on_where_it_sorts(world, cast):
    cast.ann  # noqa: B018 - makes a principal beside the owner
    first, second = principals.page(world.store, world.owner, after=None, limit=9).items

    after = principals.page(world.store, world.owner, after=f"{first.principal_id}\0", limit=9)

    assert after.items == (second,)


def test_a_selection_that_cannot_be_is_nobodys(world, cast, project):
    memory = world.propose(cast.ann, project)
    judgement = Judgement(helpful=True, selection_id=NUL)

    with pytest.raises(InvalidRequestError):
        feedback.give(world.store, cast.ann, memory.memory_id, judgement, NEW)


def test_a_path_too_long_for_an_index_is_refused_whole_where_there_is_such_a_bound(
    world, cast, project
):
    """A thousand characters that no compression shortens; a path of letters never comes there."""
    path = "".join(map(chr, Random(1).sample(range(0x4E00, 0x9FA5), 1_000)))  # noqa: S311 - repeatable

    if world.tenants.shared:
        with pytest.raises(LimitExceededError, match="indexed_bytes"):
            world.propose(cast.ann, project, paths=[path])
    else:
        assert world.propose(cast.ann, project, paths=[path]).content.paths == (path,)


def test_a_document_with_u_0000_is_imported_as_it_is_or_not_at_all(home):
    """Files keep every text; a server has none for it, and says so before anything is there."""
    entry = DOCUMENT["entries"][0] | {"title": "a\0b"}
    (home.path / "memory.json").write_text(json.dumps(DOCUMENT | {"entries": [entry]}))
    before = remains.state(home)

    if home.server is None:
        assert legacy_import.run(home, now=lambda: START).counts["entries"] == 1
    else:
        with pytest.raises(InvalidRequestError, match=r"U\+0000"):
            legacy_import.run(home, now=lambda: START)
        found = remains.state(home)
        assert {name: found[name] for name in found if name != "key"} == before
