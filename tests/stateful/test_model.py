"""Random operations on real services and a real home, compared with a model after every step."""

import os
from collections.abc import Collection
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RULE_MARKER,
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.budget import Budget
from codeflow_memory.domain.errors import (
    CodeflowError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    OperationReusedError,
    RevisionConflictError,
    UnauthenticatedError,
)
from codeflow_memory.domain.lifecycle import Action
from codeflow_memory.domain.memory import Status
from codeflow_memory.domain.selection import Request, Selection
from codeflow_memory.services import access as accesses
from codeflow_memory.services import (
    deletion,
    entries,
    feedback,
    governance,
    grants,
    listing,
    memories,
    projects,
    publication,
    recomputation,
    registration,
    replay,
    review,
    runs,
    search,
    selections,
    succession,
    teams,
)
from codeflow_memory.services.feedback import Judgement
from codeflow_memory.services.listing import Filter
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.projects import NewProject
from codeflow_memory.services.registration import Clone
from codeflow_memory.services.review import Decision
from codeflow_memory.services.search import Question
from codeflow_memory.storage import audit
from codeflow_memory.storage import memories as rows

from .model import believed
from .model.acting import NAMES, NEW, STEP, Acting, body, candidate, prepare, title
from .model.believed import Believed, Caller, Wish

LONG = os.environ.get("CODEFLOW_LONG") == "1"
EXAMPLES = {"sqlite": 700 if LONG else 35, "postgresql": 200 if LONG else 8}
"""Fewer where each of some two hundred statements a step is a message to a server."""

SPARSE = 4
"""There what must hold is also looked at after every fourth moment only, and at the end."""

STEPS = 60

people = st.sampled_from(("owner", "max", "rev", "con", "red", "rea", "bot", "eve", "run"))
writers = st.sampled_from(("con", "con", "red", "rev", "eve", "bot", "run"))
texts = st.integers(0, 7)
places = st.sampled_from(((), ("src/**",), ("docs/a.md",)))
marks = st.sampled_from(("normal", "normal", "normal", "normal", "sensitive", "secret"))
picks = st.integers(0, 1 << 16)
PAGE = 3
MAX_PROJECTS = 4


class Machine(RuleBasedStateMachine):
    """One home under random operations."""

    def __init__(self, cast, ground, name) -> None:
        super().__init__()
        self.real = Acting(cast, ground, name)
        self.model = Believed()
        self.model.projects[cast.project] = cast.repository
        self.team = cast.team
        self.who: dict[str, Caller] = {
            name: Caller(
                c.name, c.principal, c.person, set(c.roles), set(c.teams), set(c.sponsored)
            )
            for name, c in cast.callers.items()
        }
        self.repositories = {"first": cast.repository}
        self.grants: dict[str, tuple[str, str | None]] = {}
        self.manifests: dict[str, tuple[str, str, Selection]] = {}
        self.done: dict[str, tuple] = {}
        self.run_project: str | None = None
        self.sparse = 1 if cast.home.server is None else SPARSE
        with self.real.store.engine.read() as tx:
            self.rows = audit.count(tx)
        (self.first_grant,) = self.real.do(
            "owner", grants.page, principal="eve", after=None, limit=9
        ).items
        self.grants[self.first_grant.grant_id] = ("reviewer", None)

    def teardown(self) -> None:
        self.everybody_sees_what_the_model_says()
        self.derived_rows_are_what_their_entries_give()
        self.every_single_read()
        self.real.close()

    def is_due(self) -> bool:
        """Whether the invariants are looked at now."""
        return self.real.clock.at // STEP % self.sparse == 0

    # What a step needs.

    def tick(self) -> None:
        self.real.clock.at += STEP
        self.model.now = self.real.clock.at

    def caller(self, name: str) -> Caller:
        if name == "run" and self.run_project is None:
            name = "con"
        return self.who[name]

    def project(self, pick: int) -> str:
        return sorted(self.model.projects)[pick % len(self.model.projects)]

    def entry(self, pick: int) -> str:
        if not self.model.entries or pick % 97 == 13:
            return "mem_01KABCDEFGHJKMNPQRSTVWXYZ0"
        ids = sorted(self.model.entries)
        return ids[pick % len(ids)]

    def revision(self, memory_id: str) -> int:
        entry = self.model.entries.get(memory_id)
        return 1 if entry is None else entry.revision

    def told(self, who: Caller, service, *arguments, **options):
        """Return what the service answers: a value, or the class of its refusal."""
        try:
            return self.real.do(who.name, service, *arguments, **options)
        except CodeflowError as error:
            return type(error)

    def same(self, answer, refused) -> bool:
        """Check a refusal against the model's; tell whether there was none."""
        got = answer if isinstance(answer, type) else None
        assert got is refused, (got, refused)
        return refused is None

    def written(self, who: Caller, wish: Wish, operation: Operation = NEW):
        answer = self.told(who, memories.create, wish.project, None, candidate(wish), operation)
        refused, known = self.model.create(who, wish)
        if not self.same(answer, refused):
            return None
        if known is None:
            assert not answer.duplicate
            self.model.added(who, wish, answer.memory.memory_id)
        else:
            assert (answer.duplicate, answer.memory.memory_id) == (True, known)
            self.model.said_again(who, known)
            assert answer.memory.trust == self.model.entries[known].trust
        return answer

    # Writing.

    @initialize()
    def begin_with_some_guidance(self) -> None:
        """Entries of each collection that are in service: most rules need some."""
        (place,) = self.model.projects
        for text in range(4):
            self.tick()
            made = self.written(self.who["con"], Wish(place, "project", text))
            self.decided("rev", "approve", made.memory.memory_id)
        for name in ("con", "rev"):
            self.tick()
            self.written(self.who[name], Wish(place, "private", 5))
        self.written(self.who["red"], Wish(place, "team", 6, team=self.team))

    @rule(name=writers, project=picks, text=texts, paths=places, mark=marks)
    def propose(self, name, project, text, paths, mark) -> None:
        self.tick()
        self.written(self.caller(name), Wish(self.project(project), "project", text, paths, mark))

    @rule(name=people, project=picks, text=texts, mark=marks)
    def keep_privately(self, name, project, text, mark) -> None:
        self.tick()
        self.written(self.caller(name), Wish(self.project(project), "private", text, (), mark))

    @rule(name=people, project=picks, text=texts)
    def share_with_the_team(self, name, project, text) -> None:
        self.tick()
        wish = Wish(self.project(project), "team", text, team=self.team)
        self.written(self.caller(name), wish)

    @rule(name=writers, project=picks, text=texts, source=picks, back=st.integers(-1, 1))
    def derive(self, name, project, text, source, back) -> None:
        self.tick()
        memory_id = self.entry(source)
        pair = (memory_id, max(1, self.revision(memory_id) - back))
        self.written(
            self.caller(name), Wish(self.project(project), "project", text, derived=(pair,))
        )

    @rule(name=writers, text=texts, old=picks, stale=st.integers(0, 4))
    def propose_a_successor(self, name, text, old, stale) -> None:
        self.tick()
        memory_id = self.entry(old)
        entry = self.model.entries.get(memory_id)
        place = self.project(old) if entry is None else entry.project
        collection = "project" if entry is None else entry.collection
        revision = self.revision(memory_id) + (stale == 0)
        wish = Wish(
            place,
            collection,
            text,
            team=self.team if collection == "team" else None,
            supersedes=(memory_id, revision),
        )
        self.written(self.caller(name), wish)

    @rule(name=writers, which=picks)
    def say_the_same_again(self, name, which) -> None:
        self.tick()
        entry = self.model.entries.get(self.entry(which))
        if entry is not None:
            wish = Wish(
                entry.project, entry.collection, entry.text, entry.paths, entry.sensitivity,
                entry.team,
            )  # fmt: skip
            self.written(self.caller(name), wish)

    @rule(name=writers, which=picks, text=texts, mark=marks, stale=st.integers(0, 6))
    def revise(self, name, which, text, mark, stale) -> None:
        self.tick()
        who, memory_id = self.caller(name), self.entry(which)
        revision = self.revision(memory_id) + (stale == 0)
        changes = {"title": title(text), "body": body(text), "sensitivity": mark}
        answer = self.told(who, memories.revise, memory_id, changes, revision, NEW)
        refused = self.model.revise(who, memory_id, revision, text=text, sensitivity=mark)
        self.same(answer, refused)

    @rule(name=people, which=picks)
    def delete(self, name, which) -> None:
        self.tick()
        who, memory_id = self.caller(name), self.entry(which)
        revision = self.revision(memory_id)
        answer = self.told(who, deletion.delete, memory_id, revision, NEW)
        self.same(answer, self.model.delete(who, memory_id, revision))

    @rule(name=people, which=picks)
    def publish(self, name, which) -> None:
        self.tick()
        who, memory_id = self.caller(name), self.entry(which)
        revision = self.revision(memory_id)
        answer = self.told(who, publication.publish, memory_id, revision, NEW)
        refused, wish = self.model.publish(who, memory_id, revision)
        if self.same(answer, refused):
            self.model.added(who, wish, answer.memory.memory_id)
            made = self.model.entries[answer.memory.memory_id]
            self.model._put(replace(made, run=None) if who.run is None else made)

    # Deciding.

    def decide(self, name: str, action: str, which: int, successor: int = 0) -> None:
        self.decided(name, action, self.entry(which), self.entry(successor))

    def decided(self, name: str, action: str, memory_id: str, successor: str = "") -> None:
        self.tick()
        who, revision = self.caller(name), self.revision(memory_id)
        by = successor if action == "supersede" else None
        decision = Decision(Action(action), superseded_by=by)
        answer = self.told(who, review.decide, memory_id, decision, revision, NEW)
        self.same(answer, self.model.decide(who, memory_id, revision, action, by))

    @rule(name=st.sampled_from(("rev", "rev", "max", "eve", "owner", "con", "bot")), which=picks)
    def approve(self, name, which) -> None:
        self.decide(name, "approve", which)

    @rule(which=picks)
    def accept_whatever_is_open(self, which) -> None:
        """A helping hand: without it few entries of an example are ever accepted."""
        waiting = [i for i, e in sorted(self.model.entries.items()) if e.status == "proposed"]
        if waiting:
            self.decided("max", "approve", waiting[which % len(waiting)])

    @rule(name=people, which=picks)
    def reject(self, name, which) -> None:
        self.decide(name, "reject", which)

    @rule(name=people, which=picks, successor=picks)
    def supersede(self, name, which, successor) -> None:
        self.decide(name, "supersede", which, successor)

    @rule(name=people, which=picks)
    def outdate(self, name, which) -> None:
        self.decide(name, "outdate", which)

    @rule(name=people, which=picks)
    def archive(self, name, which) -> None:
        self.decide(name, "archive", which)

    @rule(name=people, which=picks)
    def restore(self, name, which) -> None:
        self.decide(name, "restore", which)

    @rule(name=people, which=picks)
    def send_back(self, name, which) -> None:
        self.decide(name, "return", which)

    @rule(name=people, which=picks)
    def decide_on_a_stale_revision(self, name, which) -> None:
        self.tick()
        who, memory_id = self.caller(name), self.entry(which)
        decision = Decision(Action.OUTDATE)
        revision = self.revision(memory_id) + 1
        answer = self.told(who, review.decide, memory_id, decision, revision, NEW)
        seen = memory_id in self.model.visible(who)
        assert answer is (RevisionConflictError if seen else NotFoundError)

    @rule(name=people, which=picks, helpful=st.booleans())
    def judge(self, name, which, helpful) -> None:
        self.tick()
        who, memory_id = self.caller(name), self.entry(which)
        answer = self.told(who, feedback.give, memory_id, Judgement(helpful), NEW)
        if self.same(answer, self.model.judge(who, memory_id, helpful=helpful)):
            assert answer.trust == self.model.entries[memory_id].trust

    # Operation ids.

    @rule(name=st.sampled_from(("con", "red", "rev")), project=picks, text=texts)
    def write_with_an_operation_id(self, name, project, text) -> None:
        self.tick()
        operation = Operation(f"op-{len(self.done)}", (name, str(text)))
        who = self.caller(name)
        wish = Wish(self.project(project), "private", text, ("op/**",))
        answer = self.written(who, wish, operation)
        if answer is not None:
            kept = (answer.memory.memory_id, answer.memory.revision)
            self.done[operation.operation_id] = (name, wish, operation, kept, answer.duplicate)

    @precondition(lambda self: self.done)
    @rule(which=picks)
    def repeat_an_operation(self, which) -> None:
        self.tick()
        name, wish, operation, kept, duplicate = sorted(self.done.values(), key=str)[
            which % len(self.done)
        ]
        answer = self.told(
            self.caller(name), memories.create, wish.project, None, candidate(wish), operation
        )
        gone = self.model.entries[kept[0]].status == "deleted"
        revision = self.model.entries[kept[0]].revision if gone else kept[1]
        assert (answer.memory.memory_id, answer.memory.revision) == (kept[0], revision)
        assert answer.duplicate == duplicate

    @precondition(lambda self: self.done)
    @rule(which=picks)
    def reuse_an_operation_id(self, which) -> None:
        self.tick()
        name, wish, operation, _, _ = sorted(self.done.values(), key=str)[which % len(self.done)]
        other = Operation(operation.operation_id, (*operation.parts, "other"))
        answer = self.told(
            self.caller(name), memories.create, wish.project, None, candidate(wish), other
        )
        assert answer is OperationReusedError

    # People, places and runs.

    @rule(name=people, number=st.integers(0, 2))
    def register_a_repository(self, name, number) -> None:
        self.tick()
        who, key = self.caller(name), f"key-{number}"
        answer = self.told(who, registration.register, Clone(key=key), NEW)
        tenant_wide = who.run is None and any(
            where is None and believed.RANKS[role] >= 2 for role, where in who.roles
        )
        if self.same(answer, None if tenant_wide else ForbiddenError):
            assert answer.created == (key not in self.repositories)
            found = answer.repository.repository_id
            assert self.repositories.setdefault(key, found) == found

    @rule(name=people, where=picks, number=st.integers(0, 2))
    def make_a_project(self, name, where, number) -> None:
        if len(self.model.projects) >= MAX_PROJECTS:
            return
        self.tick()
        who = self.caller(name)
        repository = sorted(self.repositories.values())[where % len(self.repositories)]
        slug = f"part-{number}"
        answer = self.told(who, projects.create, repository, NewProject(slug), NEW)
        rank = who.rank(repository)
        refused = NotFoundError if rank < 1 else ForbiddenError if rank < 2 or who.run else None
        if refused is None and isinstance(answer, type):
            assert answer is InvalidRequestError, "the slug is taken"
        elif self.same(answer, refused):
            self.model.projects[answer.project.project_id] = repository

    @rule(role=st.sampled_from(("reader", "contributor", "reviewer", "owner")), where=picks)
    def give_eve_a_role(self, role, where) -> None:
        self.tick()
        places = [None, *sorted(self.repositories.values())]
        repo = places[where % len(places)]
        made = self.real.do(
            "owner", grants.create, NEW, principal="eve", role=Role(role), repo=repo
        )
        self.grants[made.grant_id] = (role, repo)
        self.cut_eve()

    @rule(which=picks)
    def take_a_role_from_eve(self, which) -> None:
        self.tick()
        if self.grants:
            grant_id = sorted(self.grants)[which % len(self.grants)]
            self.real.do("owner", grants.remove, grant_id, NEW)
            del self.grants[grant_id]
            self.cut_eve()

    def cut_eve(self) -> None:
        """A token made with the role of a reviewer never does more."""
        cut = {("reviewer" if role == "owner" else role, where) for role, where in
               self.grants.values()}  # fmt: skip
        self.who["eve"].roles = cut

    @rule(name=st.sampled_from(("con", "red", "rev", "eve", "bot")))
    def join_or_leave_the_team(self, name) -> None:
        self.tick()
        who = self.who[name]
        if self.team in who.teams:
            self.real.do("owner", teams.remove_member, self.team, name, NEW)
            who.teams.remove(self.team)
        else:
            self.real.do("owner", teams.add_member, self.team, name, NEW)
            who.teams.add(self.team)
        if self.run_project is not None and name == "con":
            self.who["run"].teams = set(who.teams)

    @rule(project=picks)
    def start_or_end_a_run(self, project) -> None:
        self.tick()
        con = self.who["con"]
        if self.run_project is None:
            self.run_project = self.project(project)
            run_id = self.real.start_run("con", self.run_project)
            role = ("contributor", self.model.projects[self.run_project])
            run = (run_id, self.run_project)
            self.who["run"] = replace(con, name="run", roles={role}, teams=set(con.teams), run=run)
            return
        self.real.do("con", runs.end, self.who.pop("run").run[0], NEW)
        self.run_project = None
        try:
            self.real.sign_in("run")
        except UnauthenticatedError:
            return
        raise AssertionError("the token of a run that ended still names a caller")

    # Reading.

    @rule(name=people, project=picks, text=texts)
    def search(self, name, project, text) -> None:
        who, place = self.caller(name), self.project(project)
        answer = self.told(who, search.find, place, None, Question(NAMES[text], limit=100))
        if self.same(answer, self.refused_to_read(who, place)):
            wanted = {
                i
                for i, e in self.model.visible(who).items()
                if (e.project, e.status, e.text) == (place, "accepted", text)
            }
            assert {found.memory_id for found in answer.results} == wanted

    @rule(name=people, project=picks, status=st.sampled_from(list(Status)))
    def turn_the_pages_of_a_list(self, name, project, status) -> None:
        who, place = self.caller(name), self.project(project)
        refused = self.refused_to_read(who, place)
        got, after = [], None
        for _ in range(100):
            page = self.told(who, listing.find, place, None, Filter(status=status), after, PAGE)
            if not self.same(page, refused):
                return
            got += [view.memory.memory_id for view in page.items]
            after = page.next_after
            if after is None:
                break
        wanted = [
            e
            for e in self.model.visible(who).values()
            if (e.project, e.status) == (place, str(status))
        ]
        assert got == [e.id for e in sorted(wanted, key=lambda e: (-e.at, e.id))]
        counted = {str(status): len(wanted)} if wanted else {}
        assert page.facets["status"] == counted

    @rule(name=people, project=picks, text=texts, entries=st.integers(1, 9))
    def select(self, name, project, text, entries) -> None:
        self.tick()
        who, place = self.caller(name), self.project(project)
        wanted = Request(query=f"{NAMES[text]} common", budget=Budget(4_000, entries))
        answer = self.told(who, selections.create, place, None, wanted)
        if self.same(answer, self.refused_to_read(who, place)):
            listed = {(e["memory_id"], e["revision"]) for e in answer.record["entries"]}
            seen = {
                (i, e.revision)
                for i, e in self.model.visible(who).items()
                if (e.project, e.status, e.sensitivity) == (place, "accepted", "normal")
            }
            assert listed <= seen
            assert len(listed) <= entries
            self.manifests[answer.manifest.manifest_id] = (who.name, place, answer)

    def refused_to_read(self, who: Caller, project: str):
        if not self.model.sees_project(who, project):
            return NotFoundError
        return ForbiddenError if who.run is not None and who.run[1] != project else None

    # What holds after every step.

    @precondition(is_due)
    @invariant()
    def everybody_sees_what_the_model_says(self) -> None:
        ids = sorted(self.model.entries)
        for name, who in self.who.items():
            access = self.real.sign_in(name)
            with self.real.store.engine.read() as tx:
                reach = accesses.reach_everywhere(tx, access)
                found = rows.find_all(tx, reach.scopes, ids)
            seen = {s.memory.memory_id: told(s.memory) for s in found
                    if reach.sees(s.memory, before=s.before)}  # fmt: skip
            stored = self.model.entries
            visible = self.model.visible(who)
            assert seen == {i: expected(e, stored) for i, e in visible.items()}, name

    @precondition(is_due)
    @invariant()
    def derived_rows_are_what_their_entries_give(self) -> None:
        compared, drift = recomputation.recompute(self.real.store, sample=None)
        live = [e for e in self.model.entries.values() if e.status != "deleted"]
        assert (compared, drift) == (len(live), [])

    @precondition(is_due)
    @invariant()
    def the_audit_is_a_chain_that_only_grows(self) -> None:
        with self.real.store.engine.read() as tx:
            assert audit.first_fault(tx, self.real.store.keys.audit_hash) is None
            rows_now = audit.count(tx)
        assert rows_now >= self.rows
        self.rows = rows_now

    @precondition(is_due)
    @invariant()
    def revisions_have_no_gaps(self) -> None:
        kept: dict[str, list] = {}
        with self.real.store.engine.read() as tx:
            for row in tx.rows(
                "SELECT memory_id, revision, status FROM memory_revisions"
                " ORDER BY memory_id, revision"
            ):
                kept.setdefault(row[0], []).append((row[1], row[2]))
        assert kept == {
            i: [(r, self.model.history[i, r].status) for r in range(1, e.revision + 1)]
            for i, e in self.model.entries.items()
        }

    @precondition(is_due)
    @invariant()
    def every_selection_replays(self) -> None:
        for manifest_id, (name, place, made) in self.manifests.items():
            who = self.who.get(name)
            if who is None or self.refused_to_read(who, place):
                continue
            again = self.real.do(name, replay.run, place, None, manifest_id)
            listed = [self.model.entries[e["memory_id"]] for e in made.record["entries"]]
            if all(e.status != "deleted" and self.model.sees(who, e) for e in listed):
                assert again.verified
                assert again.context == made.context
            if any(e.status == "deleted" or not self.model.reaches(who, e) for e in listed):
                assert not again.verified

    def every_single_read(self) -> None:
        """Everybody asks for everything, once an example."""
        for who in self.who.values():
            seen = self.model.visible(who)
            for memory_id in self.model.entries:
                answer = self.told(who, memories.get, memory_id)
                if memory_id in seen:
                    assert told(answer.memory) == expected(seen[memory_id], seen)
                else:
                    assert answer is NotFoundError


def told(memory) -> tuple:
    """What is compared of a memory."""
    content = memory.content
    text = None if content is None else (content.title, content.body, content.paths)
    pairs = None if content is None else [(p.memory_id, p.revision) for p in content.derived_from]
    return (
        memory.revision, str(memory.status), str(memory.collection), memory.owner, memory.author,
        memory.team_id, memory.run_id, memory.project_id, memory.superseded_by, memory.trust,
        memory.updated_at, text, pairs,
    )  # fmt: skip


def expected(entry: believed.Entry, visible: Collection[str]) -> tuple:
    """The same of an entry of the model; a successor that the caller does not see is not named."""
    successor = entry.superseded_by if entry.superseded_by in visible else None
    gone = entry.status == "deleted"
    text = None if gone else (title(entry.text), body(entry.text), entry.paths)
    return (
        entry.revision, entry.status, entry.collection, entry.owner, entry.author,
        entry.team, entry.run, entry.project, successor, entry.trust,
        entry.at, text, None if gone else list(entry.derived),
    )  # fmt: skip


def run_machine(place, examples: int) -> None:
    cast = prepare(place.home("prepared"))
    numbers = count()

    run_state_machine_as_test(
        lambda: Machine(cast, place, str(next(numbers))),
        settings=settings(
            max_examples=examples,
            stateful_step_count=STEPS,
            deadline=None,
            derandomize=not LONG,
            database=None,
            report_multiple_bugs=False,
            # Shrinking takes minutes: the long run, which is random, does it.
            phases=list(Phase) if LONG else [Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_the_store_is_what_the_model_says_after_every_step(place, engine_name):
    run_machine(place, EXAMPLES[engine_name])


@pytest.mark.skipif(LONG, reason="the long run would shrink what it is meant to find")
@pytest.mark.parametrize(
    ("module", "name", "defect"),
    [
        pytest.param(review, "_may_decide", lambda *_: False, id="anybody decides"),
        pytest.param(entries, "index", lambda *_: None, id="no terms are written"),
        pytest.param(entries, "link", lambda *_: None, id="no edges are written"),
        pytest.param(succession, "supersede_old", lambda *_: None, id="the old one stays"),
        pytest.param(governance, "_check_rejected", lambda *_: None, id="rejections are forgotten"),
    ],
)
def test_a_defect_is_noticed(module, name, defect, place, monkeypatch):
    """Control: the machine must fail on a product that breaks a rule."""
    monkeypatch.setattr(module, name, defect)

    # It ends with the first that is found; which come first is chance.
    with pytest.raises(AssertionError):
        run_machine(place, 4 * EXAMPLES["sqlite"])


def test_the_machine_has_many_rules():
    rules = [name for name in vars(Machine) if hasattr(getattr(Machine, name), RULE_MARKER)]

    assert len(rules) >= 20
