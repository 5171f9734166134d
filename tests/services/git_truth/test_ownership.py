"""Ownership: whose approval the CODEOWNERS file of a real repository asks for."""

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import ForbiddenError, NotFoundError, RevisionConflictError
from codeflow_memory.domain.lifecycle import Action
from codeflow_memory.domain.memory import Status
from codeflow_memory.services import access as accesses
from codeflow_memory.services import batch, ownership, repositories, review, teams, views
from codeflow_memory.services.batch import Step
from codeflow_memory.services.mutation import Operation, mutate
from codeflow_memory.services.review import Decision
from codeflow_memory.storage import approvals
from codeflow_memory.storage.receipts import Receipt

NEW = Operation(None, ())


@pytest.fixture
def owned(site):
    """Return a function that commits a CODEOWNERS file and has the repository ask for it."""

    def make(text, **settings):
        site.git.save({"CODEOWNERS": text})
        site.setting(codeowners=True, **settings)
        return site

    return make


def reviewer(site, name):
    return site.world.person(name, Role.REVIEWER)


def status(site, memory):
    return site.now(memory).status


def given(site, memory):
    with site.store.engine.read() as tx:
        found = approvals.find_all(tx, memory.repository_id, memory.memory_id)
    return [a for a in found if not a.withdrawn]


def damage(site):
    (site.git.path / ".git/refs/heads/main").write_text("no hash\n")


def link(site):
    (site.git.path / "CODEOWNERS").unlink(missing_ok=True)
    (site.git.path / "CODEOWNERS").symlink_to("src/other.py")
    site.git.save({})


UNREADABLE = {
    "the checkout is gone": lambda site: site.unreadable(),
    "the branch is damaged": damage,
    "a link stands in its place": link,
}


@pytest.mark.parametrize("name", UNREADABLE)
@pytest.mark.parametrize("required", [1, 2])
def test_a_file_that_cannot_be_read_refuses_every_approval(owned, name, required):
    site = owned("* @bob\n", required_approvals=required)
    memory = site.propose(paths=["src/app.py"])
    UNREADABLE[name](site)

    with pytest.raises(ForbiddenError):
        site.decide(site.bob, memory)

    assert (status(site, memory), given(site, memory)) == (Status.PROPOSED, [])


def test_a_path_under_no_root_cannot_be_read(owned, tmp_path):
    site = owned("* @bob\n")
    memory = site.propose(paths=["src/app.py"])
    outside = tmp_path / "outside"
    site.git.path.rename(outside)
    site.world.repository(key="app", paths=(str(outside),))

    with pytest.raises(ForbiddenError):
        site.decide(site.bob, memory)


def test_who_does_not_see_the_memory_learns_nothing_of_its_owners(owned):
    site = owned("* @bob\n")
    memory = site.propose(paths=["src/app.py"])
    reader = site.world.person("rae", Role.READER)

    with pytest.raises(NotFoundError):
        ownership.read(site.store, reader, memory.memory_id)
    with pytest.raises(NotFoundError):
        site.decide(reader, memory)


@pytest.mark.parametrize(
    ("file", "paths"),
    [
        ("* @bob\n", ["src/app.py"]),
        ("/src/ @bob\n", ["src/**"]),
        ("/src/ @bob\n", ["src/*.py"]),
        ("/src/auth/ @bob\n/src/ @eve\n/src/auth/ @bob\n", ["src/auth/**/test_*.py"]),
        ("* @eve\n/src/ @bob\n", ["src/app.py"]),
        ("src/app.py @bob\n", ["docs/x.md", "src/app.py"]),
        ("* @bob\n", ["**/*.py"]),
        ("* @eve @bob\n", ["src/app.py"]),
    ],
)
def test_an_owner_of_every_owned_path_is_enough_and_nobody_else_is(owned, file, paths):
    site = owned(file)
    memory = site.propose(paths=paths)
    zoe = reviewer(site, "zoe")

    assert site.decide(zoe, memory).status is Status.PROPOSED
    assert [a.principal for a in given(site, memory)] == [zoe.principal_id]
    assert site.decide(site.bob, memory).status is Status.ACCEPTED


@pytest.mark.parametrize(
    ("file", "paths"),
    [
        ("* @eve\n", []),
        ("/src/ @eve\n", ["docs/x.md"]),
        ("* @eve\n/src/\n", ["src/app.py"]),
        ("/src/auth/ @eve\n", ["src/**"]),
        ("# * @eve\n", ["src/app.py"]),
        ("* eve\n", ["src/app.py"]),
    ],
)
def test_what_nobody_owns_is_approved_by_any_reviewer(owned, file, paths):
    site = owned(file)

    assert site.decide(site.bob, site.propose(paths=paths)).status is Status.ACCEPTED


def test_without_a_file_nothing_is_owned(site):
    site.setting(codeowners=True)

    memory = site.propose(paths=["src/app.py"])

    assert site.decide(site.bob, memory).status is Status.ACCEPTED


def test_a_repository_that_does_not_ask_does_not_care(site):
    site.git.save({"CODEOWNERS": "* @eve\n"})
    memory = site.propose(paths=["src/app.py"])
    site.unreadable()

    assert site.decide(site.bob, memory).status is Status.ACCEPTED


def test_each_owned_path_needs_one_of_its_own_owners(owned):
    site = owned("/src/ @bob\n/docs/ @eve @zoe\n")
    memory = site.propose(paths=["src/**", "docs/guide.md", "README.md"])
    eve = reviewer(site, "eve")

    assert site.decide(site.bob, memory).status is Status.PROPOSED
    assert site.decide(eve, memory).status is Status.ACCEPTED


def test_an_owners_approval_counts_toward_the_number_and_the_number_is_still_needed(owned):
    site = owned("* @bob\n", required_approvals=2)
    memory = site.propose(paths=["src/app.py"])

    assert site.decide(site.bob, memory).status is Status.PROPOSED
    assert site.decide(site.bob, memory).status is Status.PROPOSED
    assert site.decide(reviewer(site, "eve"), memory).status is Status.ACCEPTED


def test_a_team_owns_by_its_slug_and_a_person_by_name_or_address(owned):
    site = owned("/src/ @acme/core\n/docs/ doc@example.org\n")
    memory = site.propose(paths=["src/app.py", "docs/guide.md"])
    writer = reviewer(site, "doc@example.org")
    member = reviewer(site, "member")

    assert site.decide(writer, memory).status is Status.PROPOSED
    assert site.decide(member, memory).status is Status.PROPOSED
    owner = site.world.owner
    teams.create(site.store, owner, NEW, team_slug="core", name=None)
    teams.add_member(site.store, owner, "core", "member", NEW)
    assert site.decide(site.bob, memory).status is Status.ACCEPTED


def test_a_name_that_is_nobody_or_only_alike_owns_nothing_that_can_be_approved(owned):
    site = owned("* @nobody @Bob @acme/bob bob@example.org\n")

    memory = site.decide(site.bob, site.propose(paths=["src/app.py"]))

    assert memory.status is Status.PROPOSED


def test_an_agent_that_owns_a_path_still_decides_nothing(owned):
    site = owned("* @bot\n")
    bot = site.world.person("bot", Role.REVIEWER, "agent")
    memory = site.propose(paths=["src/app.py"])

    with pytest.raises(ForbiddenError):
        site.decide(bot, memory)
    assert site.decide(site.bob, memory).status is Status.PROPOSED


def test_an_owner_does_not_approve_what_is_the_owners_own(owned):
    site = owned("* @bob @eve\n")
    memory = site.write(site.bob, collection="project", paths=["src/app.py"])

    with pytest.raises(ForbiddenError):
        site.decide(site.bob, memory)
    assert site.decide(reviewer(site, "eve"), memory).status is Status.ACCEPTED


def test_the_file_counts_as_it_is_when_an_approval_is_read(owned):
    """Approvals given before count for owners that the file names only now."""
    site = owned("* @eve\n")
    memory = site.propose(paths=["src/app.py"])
    zoe = reviewer(site, "zoe")
    assert site.decide(site.bob, memory).status is Status.PROPOSED

    site.git.save({"CODEOWNERS": "* @bob\n"})

    assert site.decide(zoe, memory).status is Status.ACCEPTED


def carry_out(site, access, memory, owners):
    """Approve with owners that were read earlier."""

    def work(mutation):
        reach = accesses.reach_everywhere(mutation.tx, mutation.access)
        stored = views.expect(mutation.tx, reach, memory.memory_id, memory.revision)
        done = review.carry_out(mutation, reach, stored, Decision(Action.APPROVE), owners)
        return Receipt("approve", done.memory_id, done.revision, {})

    return mutate(site.store, access, NEW, work, views.render).memory


def test_a_change_of_the_file_after_it_was_read_comes_too_late_for_that_approval(owned):
    site = owned("* @bob\n")
    memory = site.propose(paths=["src/app.py"])
    owners = ownership.read(site.store, site.bob, memory.memory_id)

    site.git.save({"CODEOWNERS": "* @eve\n"})

    assert carry_out(site, site.bob, memory, owners).status is Status.ACCEPTED


def test_a_memory_that_was_revised_meanwhile_is_a_conflict(owned):
    site = owned("/src/ @bob\n/docs/ @eve\n")
    memory = site.propose(paths=["src/app.py"])
    owners = ownership.read(site.store, site.bob, memory.memory_id)

    revised = site.revise(memory, paths=["docs/guide.md"])

    with pytest.raises(RevisionConflictError):
        site.decide(site.bob, memory)
    with pytest.raises(ForbiddenError):
        carry_out(site, site.bob, revised, owners)
    assert status(site, memory) is Status.PROPOSED


def test_a_revision_withdraws_an_owners_approval(owned):
    site = owned("* @bob\n", required_approvals=2)
    memory = site.propose(paths=["src/app.py"])
    site.decide(site.bob, memory)

    revised = site.revise(memory, body="Another claim altogether.")

    assert site.decide(reviewer(site, "eve"), revised).status is Status.PROPOSED
    assert site.decide(reviewer(site, "zoe"), revised).status is Status.PROPOSED
    assert site.decide(site.bob, revised).status is Status.ACCEPTED


def test_the_default_branch_decides_and_not_what_is_checked_out(owned):
    site = owned("* @bob\n")
    site.git("checkout", "-q", "-b", "topic")
    site.git.save({"CODEOWNERS": "* @eve\n"})

    memory = site.propose(paths=["src/app.py"])

    assert site.decide(site.bob, memory).status is Status.ACCEPTED


def test_private_and_team_entries_ask_no_code_owner(owned):
    site = owned("* @eve\n")
    held = site.write(sensitivity="sensitive", paths=["src/app.py"])
    assert held.status is Status.PROPOSED
    site.unreadable()

    assert site.decide(site.ann, held).status is Status.ACCEPTED


def test_rejecting_needs_no_owner_and_no_file(owned):
    site = owned("* @eve\n")
    memory = site.propose(paths=["src/app.py"])
    site.unreadable()

    assert site.decide(site.bob, memory, Action.REJECT).status is Status.REJECTED


def test_a_repetition_is_answered_though_the_file_cannot_be_read_any_more(owned):
    site = owned("* @bob\n")
    memory = site.propose(paths=["src/app.py"])
    approve = (site.store, site.bob, memory.memory_id, Decision(Action.APPROVE), 1)
    first = review.decide(*approve, Operation("once", ()))
    site.unreadable()

    assert review.decide(*approve, Operation("once", ())) == first


@pytest.mark.parametrize("atomic", [True, False])
def test_a_batch_asks_the_owners_too(owned, atomic):
    site = owned("* @eve\n")
    one, other = (site.propose(paths=["src/app.py"]) for _ in range(2))
    steps = [Step("approve", m.memory_id, m.revision) for m in (one, other)]

    def run(access):
        done = batch.run(site.store, access, steps, NEW, dry_run=False, atomic=atomic)
        return [r.status or r.error.code for r in done.results]

    assert run(site.bob) == ["proposed", "proposed"]
    site.unreadable()
    assert run(reviewer(site, "eve")) == ["forbidden", "forbidden"]
    site.readable()
    assert run(reviewer(site, "eve")) == ["accepted", "accepted"]


def test_the_owners_of_a_merged_repository_are_read_where_the_whole_is(owned):
    site = owned("* @bob\n")
    whole = site.world.repository(key="whole").repository
    owner, own = site.world.owner, site.project.repository_id
    repositories.merge(site.store, owner, own, whole.repository_id, NEW)
    site.setting(codeowners=True)
    memory = site.propose(paths=["src/app.py"])

    assert site.decide(reviewer(site, "eve"), memory).status is Status.PROPOSED
    assert site.decide(site.bob, memory).status is Status.ACCEPTED
