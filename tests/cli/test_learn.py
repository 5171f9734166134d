"""``learn``: a repository's guidance is proposed once, and again only what changed (06 §1)."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from codeflow_memory.cli import stores
from codeflow_memory.domain.lifecycle import Action
from codeflow_memory.domain.memory import Pair, Status
from codeflow_memory.services import access as accesses
from codeflow_memory.services import deletion, learning, review
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.recomputation import recompute
from codeflow_memory.services.review import Decision
from codeflow_memory.storage import citations, lights
from codeflow_memory.storage import memories as rows
from codeflow_memory.storage.home import Home

ONCE = Operation(None, ("test",))
RULES = "# Rules\n\n## Tests\n\nRun every test before a push.\n\n## Style\n\nFour spaces.\n"


class Learner:
    """Learns one repository in a home of its own."""

    def __init__(self, store, repository):
        self.store = store
        self.access = stores.owner(store)
        self.repository = repository

    def learn(self, *, project=None, dry_run=False):
        return learning.learn(
            self.store, self.access, self.repository.path, project, dry_run=dry_run
        )

    def actions(self, **more):
        return {o.title: o.action for o in self.learn(**more).outcomes}

    def all(self) -> dict[str, list]:
        """Every memory by its title."""
        with self.store.engine.read() as tx:
            reach = accesses.reach_everywhere(tx, self.access)
            found = rows.find_all(
                tx,
                reach.scopes,
                [m.memory_id for m in lights.in_statuses(tx, reach.scopes, Status)],
            )
        by_title: dict[str, list] = {}
        for stored in found:
            content = stored.memory.content
            by_title.setdefault(content.title if content else "", []).append(stored.memory)
        return by_title

    def only(self, title):
        (memory,) = self.all()[title]
        return memory

    def decide(self, memory, action, **more):
        decision = Decision(action, **more)
        return review.decide(
            self.store, self.access, memory.memory_id, decision, memory.revision, ONCE
        ).memory


@pytest.fixture
def learner(tmp_path, repository) -> Iterator[Learner]:
    with opened(tmp_path / "h") as store:
        yield Learner(store, repository)


@contextmanager
def opened(path):
    home = Home(path)
    home.make()
    tenants = stores.Tenants(home, now=lambda: time.time_ns() // 1000)
    try:
        yield stores.ensure_local(tenants)
    finally:
        tenants.close()


@pytest.mark.parametrize(
    ("place", "code", "sentence"),
    [
        ("absent", 4, "there is no folder"),
        ("file.md", 2, "is a file"),
        ("plain", 4, "lies in no git repository"),
    ],
)
def test_where_nothing_can_be_learned_is_said(cli, tmp_path, place, code, sentence):
    (tmp_path / "plain").mkdir()
    (tmp_path / "file.md").write_text("# Rules\n")

    done = cli("learn", tmp_path / place)

    assert (done.code, sentence in done.err) == (code, True)
    assert not cli.home.exists()


def test_a_folder_without_a_commit_is_refused(cli, tmp_path, repository):
    empty = type(repository)(tmp_path / "empty")
    done = cli("learn", empty.path)
    assert (done.code, "no commit" in done.err) == (2, True)


def test_a_reader_learns_nothing(cli, repository):
    made = cli("token", "create", "--principal", "r", "--kind", "user", "--role", "reader")

    done = cli("learn", repository.path, CODEFLOW_TOKEN=made.out.strip())

    assert (done.code, done.err.endswith("[forbidden]\n")) == (3, True)
    assert cli("repo", "list").ok().out == ""


def test_pieces_are_proposed_with_their_sources_and_origin(learner):
    commit = learner.repository.git("rev-parse", "HEAD")

    learned = learner.learn()

    assert [(o.action, o.title) for o in learned.outcomes] == [
        ("proposed", "Tests"),
        ("proposed", "Style"),
    ]
    memory = learner.only("Tests")
    assert (memory.status, memory.origin) == (Status.PROPOSED, "repository")
    assert memory.content.sources == (f"file:AGENTS.md@{commit}#L5-L5", f"commit:{commit}")
    assert learned.commit == commit
    assert learned.project.slug == "sh-p-front"


def test_the_cited_lines_are_anchored(learner):
    learner.learn()
    memory = learner.only("Tests")

    with learner.store.engine.read() as tx:
        (kept,) = citations.find_all(tx, memory.repository_id, [memory.memory_id])

    assert kept.source == memory.content.sources[0]
    assert len(kept.blob_hash) == 40
    assert kept.lines_hash is not None


def test_again_nothing_is_proposed_and_nothing_is_written(learner):
    learner.learn()
    before = learner.all()

    assert set(learner.actions().values()) == {"unchanged"}
    assert learner.all() == before


def test_a_dry_run_answers_the_same_and_keeps_nothing(learner):
    dry = learner.actions(dry_run=True)

    assert learner.all() == {}
    assert learner.actions() == dry


def test_a_new_piece_alone_is_proposed_though_every_line_below_it_moved(learner):
    learner.learn()
    learner.repository.commit(
        {"AGENTS.md": RULES.replace("## Tests", "## New\n\nText.\n\n## Tests")}
    )

    assert learner.actions() == {"New": "proposed", "Tests": "unchanged", "Style": "unchanged"}


def test_a_changed_piece_revises_what_is_still_proposed(learner):
    learner.learn()
    old = learner.only("Style")
    commit = learner.repository.commit({"AGENTS.md": RULES.replace("Four", "Two")})

    assert learner.actions()["Style"] == "revised"

    new = learner.only("Style")
    assert (new.memory_id, new.revision, new.content.body) == (old.memory_id, 2, "Two spaces.")
    assert f"commit:{commit}" in new.content.sources


def test_a_changed_piece_of_accepted_guidance_is_its_proposed_successor(learner):
    learner.learn()
    old = learner.decide(learner.only("Style"), Action.APPROVE)
    learner.repository.commit({"AGENTS.md": RULES.replace("Four", "Two")})

    assert learner.actions()["Style"] == "proposed"

    by_status = {m.status: m for m in learner.all()["Style"]}
    new = by_status[Status.PROPOSED]
    assert by_status[Status.ACCEPTED] == old
    assert new.supersedes == Pair(old.memory_id, old.revision)
    assert learner.actions()["Style"] == "unchanged"

    learner.decide(new, Action.APPROVE)
    assert {m.status for m in learner.all()["Style"]} == {Status.ACCEPTED, Status.SUPERSEDED}
    assert learner.actions()["Style"] == "unchanged"


def test_what_vanished_is_outdated_when_proposed_and_reviewed_when_accepted(learner):
    learner.learn()
    learner.decide(learner.only("Style"), Action.APPROVE)
    learner.repository.commit({"AGENTS.md": "# Rules\n\n## Other\n\nText.\n"})

    actions = learner.actions()

    assert actions == {"Other": "proposed", "Tests": "vanished", "Style": "vanished"}
    assert learner.only("Tests").status is Status.OUTDATED
    style = learner.only("Style")
    assert (style.status, style.review_reason, style.revision) == (Status.ACCEPTED, "vanished", 2)
    assert learner.actions() == {"Other": "unchanged"}


def test_what_comes_back_leaves_the_queue_or_is_proposed_again(learner):
    learner.learn()
    learner.decide(learner.only("Style"), Action.APPROVE)
    learner.repository.commit({"AGENTS.md": "# Rules\n\n## Other\n\nText.\n"})
    learner.learn()
    learner.repository.commit({"AGENTS.md": RULES})

    actions = learner.actions()

    assert (actions["Style"], actions["Tests"]) == ("unchanged", "proposed")
    assert learner.only("Style").review_reason is None
    assert {m.status for m in learner.all()["Tests"]} == {Status.OUTDATED, Status.PROPOSED}


@pytest.mark.parametrize("how", ["rejected", "deleted"])
def test_what_a_person_decided_against_is_not_proposed_again(learner, how):
    learner.learn()
    memory = learner.only("Style")
    if how == "rejected":
        learner.decide(memory, Action.REJECT, reason="wrong")
    else:
        deletion.delete(learner.store, learner.access, memory.memory_id, memory.revision, ONCE)

    assert learner.actions() == {"Tests": "unchanged", "Style": "unchanged"}
    # The same text under another heading's place is the same text.
    learner.repository.commit({"docs/adr/0001-x.md": "# Style\n\nFour spaces.\n"})
    outcome = {o.title: o for o in learner.learn().outcomes if o.action == "refused"}
    assert outcome.keys() <= {"Style"}


def test_one_text_in_two_places_is_one_memory_until_one_of_them_changes(learner):
    same = "## Style\n\nFour spaces.\n"
    learner.repository.commit({"AGENTS.md": f"# R\n\n{same}", "CONTRIBUTING.md": f"# C\n\n{same}"})
    actions = [o.action for o in learner.learn().outcomes]
    assert sorted(actions) in (["known", "proposed"], ["proposed", "proposed"])
    first = {m.memory_id: m for found in learner.all().values() for m in found}

    learner.repository.commit({"CONTRIBUTING.md": "# C\n\n## Style\n\nTwo spaces.\n"})
    learner.learn()

    now = {m.memory_id: m for found in learner.all().values() for m in found}
    texts = {m.content.body for m in now.values() if m.status is Status.PROPOSED}
    assert texts == {"Four spaces.", "Two spaces."}
    assert first.keys() <= now.keys()


def test_a_secret_in_guidance_is_not_kept_and_hidden_characters_are_shown(learner):
    key = "AKIA" + "Z7Q4M2K9X1C8V5B3"
    text = f"# R\n\n## Keys\n\nUse aws_access_key_id = {key}.\n\n## Odd\n\nA\u202eB.\n"
    learner.repository.commit({"AGENTS.md": text})
    learner.learn()

    assert key not in learner.only("Keys").content.body
    assert "\u202e" not in learner.only("Odd").content.body
    assert "202E" in learner.only("Odd").content.body


def test_clones_are_one_repository_and_a_named_project_is_made_once(learner, tmp_path):
    first = learner.learn(project="core")
    clone = tmp_path / "clone"
    learner.repository.git("clone", "--quiet", ".", str(clone))
    again = learning.learn(learner.store, learner.access, clone, "core", dry_run=False)

    assert again.repository_id == first.repository_id
    assert again.project == first.project
    assert {o.action for o in again.outcomes} == {"unchanged"}


def test_derived_rows_agree_with_what_was_learned_and_decided(learner):
    learner.learn()
    learner.decide(learner.only("Style"), Action.APPROVE)

    assert recompute(learner.store, sample=None) == (2, [])


def test_the_command_tells_what_it_did(cli, repository):
    first = cli("learn", repository.path, "--json").ok().json
    assert first["counts"] == {"proposed": 2}
    assert [item["title"] for item in first["items"]] == ["Tests", "Style"]

    again = cli("learn", cwd=repository.path).ok()
    assert again.out.splitlines()[-1].endswith("2 unchanged")
