"""The product's own mutations as workloads."""

from pathlib import Path

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.candidates import Candidate
from codeflow_memory.domain.lifecycle import Action
from codeflow_memory.domain.memory import Collection, Content, Kind, Pair, Status
from codeflow_memory.domain.retention import Policy
from codeflow_memory.domain.selection import Request
from codeflow_memory.services import (
    batch,
    deletion,
    feedback,
    grants,
    memories,
    principals,
    publication,
    retention,
    review,
    runs,
    selections,
    teams,
    tokens,
)
from codeflow_memory.services.review import Decision

from .consistency import check
from .drill import Workload
from .stores import PROJECT, REPOSITORY, REVIEWER, Call, prepare, step_of, steps_of


def text(title: str, *, collection: Collection, **fields: object) -> Candidate:
    """Make a candidate whose body has some hundred words."""
    body = " ".join(f"{title.lower().replace(' ', '_')}_{number}" for number in range(60))
    supersedes = fields.pop("supersedes", None)
    content = Content(kind=Kind.DECISION, title=title, body=body, **fields)
    return Candidate(content, collection, supersedes=supersedes)


def keep_a_note(call: Call) -> None:
    note = text("A note", collection=Collection.PRIVATE, tags=("note",), paths=("src/**",))
    memories.create(call.store, call.owner, PROJECT, REPOSITORY, note, call.operation)


def propose(call: Call) -> None:
    proposal = text("A rule", collection=Collection.PROJECT, sources=("file:src/rule.py",))
    memories.create(call.store, call.owner, PROJECT, REPOSITORY, proposal, call.operation)


def edit_the_note(call: Call) -> None:
    changes = {"body": "another body of the note", "tags": ["note", "edited"]}
    made = call.made("keep_a_note")
    memories.revise(call.store, call.owner, made, changes, 1, call.operation)


def approve(call: Call) -> None:
    decide(call, call.made("propose"), Decision(Action.APPROVE, comment="good"), 1)


def decide(call: Call, memory_id: str, decision: Decision, revision: int) -> None:
    review.decide(call.store, call.reviewer, memory_id, decision, revision, call.operation)


def publish(call: Call) -> None:
    made = call.made("keep_a_note")
    publication.publish(call.store, call.owner, made, 2, call.operation)


def reject_the_published(call: Call) -> None:
    decide(call, call.made("publish"), Decision(Action.REJECT, reason="not-durable"), 1)


def propose_a_successor(call: Call) -> None:
    old = Pair(call.made("propose"), 2)
    successor = text("A better rule", collection=Collection.PROJECT, supersedes=old)
    memories.create(call.store, call.owner, PROJECT, REPOSITORY, successor, call.operation)


def approve_the_successor(call: Call) -> None:
    decide(call, call.made("propose_a_successor"), Decision(Action.APPROVE), 1)


def give_feedback(call: Call) -> None:
    made = call.made("propose_a_successor")
    judgement = feedback.Judgement(helpful=True, note="it helped")
    feedback.give(call.store, call.reviewer, made, judgement, call.operation)


def change_two_at_once(call: Call) -> None:
    archiving = batch.Step(
        action=Action.ARCHIVE,
        memory_id=call.made("propose_a_successor"),
        revision=2,
        decision=Decision(Action.ARCHIVE),
    )
    editing = batch.Step(
        action=batch.EDIT,
        memory_id=call.made("keep_a_note"),
        revision=2,
        changes={"title": "A changed note"},
    )
    done = batch.run(
        call.store, call.owner, [archiving, editing], call.operation, dry_run=False, atomic=True
    )
    assert done.applied, done.results


def delete_the_note(call: Call) -> None:
    deletion.delete(
        call.store, call.owner, call.made("keep_a_note"), 3, call.operation, reason="wrong"
    )


def select(call: Call) -> None:
    request = Request(query="a_note_1 another body")
    selected = selections.create(call.store, call.owner, PROJECT, REPOSITORY, request)
    assert selected.record["entries"]


def _prepare_selected(home: Path) -> None:
    """Make a home whose one note a manifest lists; a selection has no receipt, so is no step."""
    prepare(home)
    for number, work in enumerate((keep_a_note, select), start=1):
        step_of(number, work).run(home, None)


def delete_the_first(call: Call) -> None:
    deletion.delete(call.store, call.owner, call.made("keep_a_note"), 1, call.operation)


def delete_the_rejected(call: Call) -> None:
    deletion.delete(call.store, call.owner, call.made("publish"), 2, call.operation)


def make_a_principal(call: Call) -> None:
    principals.create(call.store, call.owner, call.operation, name="agent", kind="agent")


def give_a_role(call: Call) -> None:
    principal = call.made("make_a_principal")
    grants.create(
        call.store, call.owner, call.operation, principal=principal, role=Role.READER, repo=None
    )


def make_a_team(call: Call) -> None:
    teams.create(call.store, call.owner, call.operation, team_slug="core", name=None)


def make_a_token(call: Call) -> None:
    new = tokens.NewToken(principal=REVIEWER, kind=None, role=Role.READER)
    tokens.create(call.store, call.owner, new, call.operation)


def revoke_the_token(call: Call) -> None:
    tokens.revoke(call.store, call.owner, call.made("make_a_token"), call.operation)


def remove_the_principal(call: Call) -> None:
    principals.remove(call.store, call.owner, "agent", call.operation)


def start_a_run(call: Call) -> None:
    new = runs.NewRun(repo=REPOSITORY, project=PROJECT, agent="agent")
    runs.start(call.store, call.owner, new, call.operation)


def end_the_run(call: Call) -> None:
    runs.end(call.store, call.owner, call.made("start_a_run"), call.operation)


MEMORIES = Workload(
    "memories",
    prepare,
    steps_of(
        keep_a_note,
        propose,
        edit_the_note,
        approve,
        publish,
        reject_the_published,
        propose_a_successor,
        approve_the_successor,
        give_feedback,
        change_two_at_once,
        delete_the_note,
        delete_the_rejected,
    ),
    images=1_500,
    answers=True,
    check=check,
)

SELECTED = Workload(
    "a deletion of what was selected",
    _prepare_selected,
    (step_of(3, delete_the_first),),
    images=150,
    answers=True,
    check=check,
)


def _prepare_aged(home: Path) -> None:
    """Make a home with a note that a manifest lists and a proposal, both old enough to go."""
    prepare(home)
    for number, work in enumerate((keep_a_note, propose, select), start=1):
        step_of(number, work).run(home, None)


def apply_retention(call: Call) -> None:
    """Preview and apply; a retry that finds everything gone has nothing to do."""
    policies = (Policy(frozenset(), frozenset(), frozenset(Status), 0, None),)
    plan = retention.preview(call.store, call.owner, policies)
    assert len(plan.outcome.removed) in {0, 2}
    if plan.outcome.removed:
        retention.apply(call.store, call.owner, policies, plan.fingerprint, cascade=False)


RETENTION = Workload(
    "retention",
    _prepare_aged,
    (step_of(4, apply_retention),),
    images=150,
    answers=True,
    check=check,
)

ADMINISTRATION = Workload(
    "administration",
    prepare,
    steps_of(
        make_a_principal,
        give_a_role,
        make_a_team,
        make_a_token,
        revoke_the_token,
        start_a_run,
        end_the_run,
        remove_the_principal,
    ),
    images=500,
    answers=True,
    check=check,
)
