"""Repositories: one identity for all clones, revision-checked settings, merging by the owner."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import (
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    RevisionConflictError,
)
from codeflow_memory.domain.registration import Alias, Fact
from codeflow_memory.services import grants, projects, registration, repositories
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.projects import NewProject
from codeflow_memory.services.registration import Clone
from codeflow_memory.services.repositories import Settings
from codeflow_memory.storage import audit

NEW = Operation(None, ())
ROOT = "a" * 40


def count(world, table):
    statements = {
        "repositories": "SELECT COUNT(*) FROM repositories",
        "audit": "SELECT COUNT(*) FROM audit",
    }
    with world.store.engine.read() as tx:
        return tx.value(statements[table])


def update(world, access, repository_id, base_revision=1, **settings):
    return repositories.update(
        world.store,
        access,
        repository_id,
        Settings(**settings),
        base_revision=base_revision,
        operation=NEW,
    )


@pytest.mark.parametrize(
    ("clone", "pointer"),
    [
        (Clone(), ""),
        (Clone(name="Shop"), ""),
        (Clone(paths=("/srv/shop",)), ""),
        (Clone(remote="/srv/git/shop.git"), "/remote"),
        (Clone(remote="file:///srv/git/shop.git"), "/remote"),
        (Clone(key=""), "/key"),
        (Clone(key="a\nb"), "/key"),
        (Clone(root_commit="abc"), "/root_commit"),
        (Clone(root_commit="g" * 40), "/root_commit"),
        (Clone(common_dir="shop/.git"), "/common_dir"),
        (Clone(key="shop", paths=("/ok", "shop")), "/paths/1"),
        (Clone(key="shop", paths=("/a",) * 65), "/paths"),
        (Clone(key="shop", name=""), "/name"),
    ],
)
def test_what_identifies_nothing_or_has_no_form_is_refused(world, clone, pointer):
    with pytest.raises(InvalidRequestError) as refused:
        registration.register(world.store, world.owner, clone, NEW)

    assert refused.value.faults[0].pointer == pointer
    assert count(world, "repositories") == 0


@pytest.mark.parametrize("role", [Role.OPERATOR, Role.READER])
def test_registering_needs_a_contributor_of_the_whole_tenant(world, role):
    world.repository(key="shop")

    for access in (world.person("ann", role), world.person("bob", Role.OWNER, repo="shop")):
        with pytest.raises(ForbiddenError):
            world.repository(access, key="other")
    world.repository(world.person("eve", Role.CONTRIBUTOR), key="other")


def test_a_run_registers_nothing(world):
    run = world.sign_in(world.run(world.person("ann"), world.project()).text)

    with pytest.raises(ForbiddenError):
        world.repository(run, key="other")


@pytest.mark.parametrize(
    ("facts", "rule"),
    [
        ({"key": "k", "remote": "https://h.example/a/b", "root_commit": ROOT}, Fact.KEY),
        ({"remote": "https://h.example/a/b", "root_commit": ROOT}, Fact.REMOTE),
        (
            {"remote": "/local/clone", "root_commit": ROOT, "common_dir": "/x/.git"},
            Fact.ROOT_COMMIT,
        ),
        ({"common_dir": "/x/.git", "paths": ("/x",)}, Fact.COMMON_DIR),
    ],
)
def test_the_strongest_fact_identifies_and_the_answer_says_which(world, facts, rule):
    made = world.repository(**facts)
    again = world.repository(**facts)

    assert (made.identified_by, made.created) == (rule, True)
    assert (again.identified_by, again.created) == (rule, False)
    assert again.repository == made.repository
    assert count(world, "repositories") == 1


def test_all_ways_to_write_a_remote_are_one_repository(world):
    ids = {
        world.repository(remote=remote).repository.repository_id
        for remote in (
            "git@Git.Example:acme/shop.git",
            "https://ann:secret@git.example:8443/acme/shop",
            "ssh://git@git.example/acme/shop.git/",
        )
    }

    assert len(ids) == 1


def test_worktrees_and_clones_are_one_repository_and_folders_decide_nothing(world):
    first = world.repository(root_commit=ROOT, common_dir="/a/shop/.git", paths=("/a/shop",))
    worktree = world.repository(root_commit=ROOT, common_dir="/a/shop/.git", paths=("/a/wt",))
    clone = world.repository(root_commit=ROOT, common_dir="/b/shop/.git", paths=("/b/shop",))
    namesake = world.repository(root_commit="b" * 40, paths=("/c/shop",))

    assert {worktree.repository.repository_id, clone.repository.repository_id} == {
        first.repository.repository_id
    }
    assert namesake.repository.repository_id != first.repository.repository_id
    assert [a.value for a in clone.aliases if a.kind is Fact.PATH] == [
        "/a/shop",
        "/a/wt",
        "/b/shop",
    ]


def test_forks_share_a_root_commit_and_stay_two(world):
    one = world.repository(remote="https://h.example/a/shop", root_commit=ROOT)
    two = world.repository(remote="https://h.example/b/shop", root_commit=ROOT)

    assert two.created
    assert one.repository.repository_id != two.repository.repository_id
    neither = world.repository(root_commit=ROOT)
    assert neither.created
    assert not world.repository(root_commit=ROOT).created


def test_a_stronger_fact_identifies_from_its_first_telling_on(world):
    world.repository(root_commit=ROOT)
    found = world.repository(remote="https://h.example/a/shop", root_commit=ROOT)

    assert (found.created, found.identified_by) == (False, Fact.ROOT_COMMIT)
    assert found.repository.identified_by is Fact.REMOTE
    assert Alias(Fact.REMOTE, "h.example/a/shop") in found.aliases


def test_telling_nothing_new_is_no_revision_and_no_audit_row(world):
    made = world.repository(key="shop", paths=("/a",))
    rows = count(world, "audit")

    again = world.repository(key="shop", paths=("/a/",))
    more = world.repository(key="shop", paths=("/b",))

    assert again.repository.revision == made.repository.revision == 1
    assert more.repository.revision == 2
    assert count(world, "audit") == rows + 1


def test_eight_who_register_the_same_repository_make_one(world):
    owner, start = world.owner, threading.Barrier(8)

    def register(place):
        start.wait()
        clone = Clone(remote="https://h.example/a/shop", paths=(f"/clone/{place}",))
        return registration.register(world.store, owner, clone, NEW)

    with ThreadPoolExecutor(8) as pool:
        views = list(pool.map(register, range(8)))

    assert len({v.repository.repository_id for v in views}) == 1
    assert sum(v.created for v in views) == 1
    [whole] = repositories.page(world.store, owner, repo=None, after=None, limit=9).items
    assert len([a for a in whole.aliases if a.kind is Fact.PATH]) == 8


def test_a_repository_out_of_reach_is_an_absent_one(world):
    world.repository(key="shop")
    hidden = world.repository(key="hidden").repository.repository_id
    ann = world.person("ann", Role.OWNER, repo="shop")
    operator = world.person("ops", Role.OPERATOR)

    def refusal(access, repo):
        with pytest.raises(NotFoundError) as refused:
            repositories.show(world.store, access, repo)
        return str(refused.value).replace(repo, "ID")

    for access in (ann, operator):
        assert refusal(access, hidden) == refusal(access, "rep_absent")
        with pytest.raises(NotFoundError):
            update(world, access, hidden, capture=True)
        with pytest.raises(NotFoundError):
            projects.create(world.store, access, hidden, NewProject("x"), NEW)
    seen = repositories.page(world.store, ann, repo=None, after=None, limit=9).items
    assert [v.repository.name for v in seen] == ["shop"]
    assert repositories.page(world.store, ann, repo="hidden", after=None, limit=9).items == ()


@pytest.mark.parametrize("role", [Role.READER, Role.CONTRIBUTOR, Role.REVIEWER])
def test_settings_need_a_maintainer(world, role):
    shop = world.repository(key="shop").repository.repository_id

    with pytest.raises(ForbiddenError):
        update(world, world.person("ann", role), shop, allow_own_approval=True)


def test_settings_change_what_was_named_at_the_named_revision_only(world):
    shop = world.repository(key="shop").repository.repository_id
    max_ = world.person("max", Role.MAINTAINER)

    done = update(world, max_, shop, required_approvals=2, codeowners=True).repository

    assert (done.revision, done.required_approvals, done.codeowners, done.capture) == (
        2,
        2,
        True,
        False,
    )
    for base in (1, 3):
        with pytest.raises(RevisionConflictError) as refused:
            update(world, max_, shop, base, capture=True)
        assert (refused.value.expected, refused.value.current) == (base, 2)
    assert update(world, max_, shop, 2, codeowners=False).repository.revision == 3


def test_settings_that_are_so_already_are_no_revision(world):
    shop = world.repository(key="shop").repository.repository_id
    rows = count(world, "audit")

    same = update(world, world.owner, shop, required_approvals=1, capture=False).repository

    assert same.revision == 1
    assert count(world, "audit") == rows


def test_of_eight_who_change_one_revision_one_wins(world):
    shop = world.repository(key="shop").repository.repository_id
    owner, start = world.owner, threading.Barrier(8)

    def change(place):
        start.wait()
        try:
            return update(world, owner, shop, required_approvals=place + 2)
        except RevisionConflictError as conflict:
            return conflict

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(change, range(8)))

    conflicts = [o for o in outcomes if isinstance(o, RevisionConflictError)]
    assert len(conflicts) == 7
    assert {(c.expected, c.current) for c in conflicts} == {(1, 2)}


def test_only_the_owner_of_both_merges(world):
    world.repository(key="one")
    world.repository(key="two")
    boss = world.person("boss", Role.OWNER, repo="one")
    grants.create(world.store, world.owner, NEW, principal="boss", role=Role.READER, repo="two")
    both = world.person("boss2", Role.OWNER, repo="one")

    with pytest.raises(NotFoundError):
        repositories.merge(world.store, both, "one", "two", NEW)
    with pytest.raises(NotFoundError):
        repositories.merge(world.store, boss, "one", "two", NEW)
    for access in (
        world.person("max", Role.MAINTAINER),
        world.person("bot", Role.OWNER, "agent"),
    ):
        with pytest.raises(ForbiddenError):
            repositories.merge(world.store, access, "one", "two", NEW)
    with pytest.raises(InvalidRequestError):
        repositories.merge(world.store, world.owner, "one", "one", NEW)


def test_a_merged_repository_is_the_one_it_became_part_of(world):
    one = world.repository(key="one", paths=("/one",)).repository.repository_id
    two = world.repository(remote="https://h.example/two").repository.repository_id
    mine = world.project("core", one)
    theirs = world.project("core", two)
    ann = world.person("ann", Role.CONTRIBUTOR, repo="one")
    bob = world.person("bob", Role.READER, repo=two)

    merged = repositories.merge(world.store, world.owner, one, two, NEW)

    assert merged.repository.repository_id == two
    assert merged.repository.identified_by is Fact.KEY
    for repo in (one, two, "one", "/one", "https://h.example/two.git"):
        for access in (world.owner, world.again(ann), world.again(bob)):
            assert repositories.show(world.store, access, repo) == merged
            seen = projects.page(world.store, access, repo=repo, after=None, limit=9).items
            assert [p.slug for p in seen] == ["core-2", "core"]
    assert world.again(ann).may(Role.CONTRIBUTOR, theirs.repository_id)
    assert world.again(bob).may(Role.READER, mine.repository_id)
    assert not world.again(bob).may(Role.CONTRIBUTOR, mine.repository_id)
    assert not world.repository(key="one").created
    with world.store.engine.read() as tx:
        assert repositories.get(tx, one) == merged.repository
        assert audit.first_fault(tx, world.store.keys.audit_hash) is None


def test_a_chain_of_merges_ends_in_one(world):
    ids = [world.repository(key=k).repository.repository_id for k in ("a", "b", "c")]

    repositories.merge(world.store, world.owner, ids[0], ids[1], NEW)
    repositories.merge(world.store, world.owner, ids[1], ids[2], NEW)

    for repo in ids:
        shown = repositories.show(world.store, world.owner, repo)
        assert shown.repository.repository_id == ids[2]
    assert (
        len(repositories.page(world.store, world.owner, repo=None, after=None, limit=9).items) == 1
    )
