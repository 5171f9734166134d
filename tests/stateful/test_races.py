"""Many at once from one revision: one wins, the others are told, and the history shows no gap."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from uuid import uuid4

import pytest

from codeflow_memory.app import Wiring, create_app
from codeflow_memory.domain.access import Origin, Role
from codeflow_memory.domain.errors import (
    CodeflowError,
    RevisionConflictError,
    UnauthenticatedError,
)
from codeflow_memory.domain.lifecycle import Action
from codeflow_memory.domain.selection import Request
from codeflow_memory.services import access as accesses
from codeflow_memory.services import feedback, memories, review, selections, tokens
from codeflow_memory.services.feedback import Judgement
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.review import Decision
from codeflow_memory.services.tokens import NewToken
from codeflow_memory.settings import Settings
from codeflow_memory.storage import audit, principals

from .asking import Asking, served
from .model.acting import NEW, Acting, candidate, prepare
from .model.believed import Wish

WRITERS = 8
ROUNDS = 12


@dataclass
class Scene:
    """An opened home and one accepted project memory in it."""

    real: Acting
    project: str
    memory_id: str
    revision: int = 2
    names: list[str] = field(default_factory=list)


@pytest.fixture
def scene(place):
    cast = prepare(place.home("prepared"))
    real = Acting(cast, place)
    view = real.do(
        "con", memories.create, cast.project, None, candidate(Wish(cast.project, "project", 0)), NEW
    )
    memory_id = view.memory.memory_id
    real.do("rev", review.decide, memory_id, Decision(Action.APPROVE), 1, NEW)
    made = Scene(real, cast.project, memory_id)
    for number in range(WRITERS):
        name = f"writer-{number}"
        person(made, name, Role.REVIEWER)
        made.names.append(name)
    yield made
    real.close()


def person(scene: Scene, name: str, role: Role) -> str:
    """Add somebody with a token of that role; return the token's id."""
    store = scene.real.store
    with store.engine.read() as tx:
        first = principals.first_owner(tx)
        owner = accesses.of_principal(store, tx, first.principal_id, Origin.USER)
    made = tokens.create(store, owner, NewToken(name, "user", role), NEW)
    scene.real.tokens[name] = made.text
    return made.token.token_id


def at_once(work, names):
    """Do *work* for every name in a thread of its own, all let go together."""
    barrier = threading.Barrier(len(names))

    def one(name):
        barrier.wait()
        try:
            return work(name)
        except CodeflowError as error:
            return error

    with ThreadPoolExecutor(len(names)) as pool:
        return list(pool.map(one, names))


def winners(answers):
    return [a for a in answers if not isinstance(a, CodeflowError)]


def test_of_eight_revisions_from_one_one_wins_and_seven_are_told(scene):
    revision = scene.revision
    authors = []
    for number in range(ROUNDS):

        def revise(name, text=number, base=revision):
            changes = {"title": f"round {text} of {name}"}
            return name, scene.real.do(name, memories.revise, scene.memory_id, changes, base, NEW)

        answers = at_once(revise, scene.names)

        ((name, view),) = winners(answers)
        lost = [a for a in answers if isinstance(a, CodeflowError)]
        assert {type(error) for error in lost} == {RevisionConflictError}
        assert {(error.expected, error.current) for error in lost} == {(revision, revision + 1)}
        revision = view.memory.revision
        authors.append((revision, name))

    history = scene.real.do("rev", memories.history, scene.memory_id)
    assert [r.revision for r in history] == list(range(1, revision + 1))
    written = {r.revision: (r.actor, r.content.title) for r in history}
    for number, (at, name) in enumerate(authors):
        principal = scene.real.sign_in(name).principal_id
        assert written[at] == (principal, f"round {number} of {name}")


def test_writers_that_read_again_lose_nothing(scene):
    """Each adds its tags with retries; every one of them is in the last revision."""

    def add(name):
        for number in range(3):
            while True:
                stands = scene.real.do(name, memories.get, scene.memory_id).memory
                tags = [*stands.content.tags, f"{name[-1]}-{number}"]
                body = f"{stands.content.body}\n{name[-1]}-{number}"
                changes = {"tags": tags[-16:], "body": body}
                try:
                    scene.real.do(
                        name, memories.revise, scene.memory_id, changes, stands.revision, NEW
                    )
                    break
                except RevisionConflictError:
                    continue

    assert all(a is None for a in at_once(add, scene.names))

    last = scene.real.do("rev", memories.get, scene.memory_id).memory
    lines = last.content.body.splitlines()[1:]
    assert sorted(lines) == sorted(f"{n}-{i}" for n in range(WRITERS) for i in range(3))
    assert last.revision == scene.revision + len(lines)


def test_of_eight_approvals_one_accepts(scene):
    wish = candidate(Wish(scene.project, "project", 1))
    made = scene.real.do("con", memories.create, scene.project, None, wish, NEW).memory

    def approve(name):
        decision = Decision(Action.APPROVE)
        return scene.real.do(name, review.decide, made.memory_id, decision, 1, NEW)

    answers = at_once(approve, scene.names)

    (view,) = winners(answers)
    assert (str(view.memory.status), view.memory.revision) == ("accepted", 2)
    stands = scene.real.do("rev", memories.get, made.memory_id)
    assert (stands.memory.revision, len(stands.approvals)) == (2, 1)


def test_one_operation_sent_eight_times_at_once_has_one_effect_and_one_answer(scene):
    operation = Operation("once", ("the same request",))

    def create(_):
        wish = candidate(Wish(scene.project, "private", 2))
        return scene.real.do("con", memories.create, scene.project, None, wish, operation)

    answers = at_once(create, scene.names)

    assert len(winners(answers)) == WRITERS
    assert {(a.memory.memory_id, a.memory.revision, a.duplicate) for a in answers} == {
        (answers[0].memory.memory_id, 1, False)
    }


def test_eight_equal_proposals_at_once_are_one_memory(scene):
    def create(name):
        wish = candidate(Wish(scene.project, "project", 3))
        return scene.real.do(name, memories.create, scene.project, None, wish, NEW)

    answers = at_once(create, scene.names)

    assert len({a.memory.memory_id for a in answers}) == 1
    assert sorted(a.duplicate for a in answers) == [False] + [True] * (WRITERS - 1)


def test_a_token_that_is_revoked_while_it_is_used_names_nobody_from_then_on(scene):
    token_id = person(scene, "gone", Role.REVIEWER)
    revoked = threading.Event()
    after = []

    def use(name):
        if name != "gone":
            scene.real.do("owner", tokens.revoke, token_id, NEW)
            revoked.set()
            return
        for number in range(200):
            late = revoked.is_set()
            try:
                changes = {"title": f"try {number}"}
                stands = scene.real.do("rev", memories.get, scene.memory_id).memory.revision
                scene.real.do(name, memories.revise, scene.memory_id, changes, stands, NEW)
            except UnauthenticatedError:
                return
            after.append(late)

    at_once(use, ["gone", "owner"])

    assert not any(after), "a change was made with a token that had been revoked before"
    with pytest.raises(UnauthenticatedError):
        scene.real.sign_in("gone")


def test_what_a_caller_held_before_the_revocation_is_refused_within_the_transaction(scene):
    token_id = person(scene, "gone", Role.REVIEWER)
    held = scene.real.sign_in("gone")
    scene.real.do("owner", tokens.revoke, token_id, NEW)

    with pytest.raises(UnauthenticatedError):
        memories.revise(scene.real.store, held, scene.memory_id, {"title": "late"}, 2, NEW)


def test_everything_at_once_leaves_a_chain_and_no_drift(scene):
    def live(name):
        for number in range(4):
            wish = candidate(Wish(scene.project, "private", number, ("by/" + name,)))
            made = scene.real.do(name, memories.create, scene.project, None, wish, NEW).memory
            scene.real.do(name, selections.create, scene.project, None, Request(query="basil"))
            scene.real.do(name, feedback.give, made.memory_id, Judgement(helpful=True), NEW)

    assert all(a is None for a in at_once(live, scene.names))

    store = scene.real.store
    with store.engine.read() as tx:
        assert audit.first_fault(tx, store.keys.audit_hash) is None


@pytest.fixture
def http(scene):
    def build(hosts):
        return create_app(Wiring(scene.real.tenants, Settings(), hosts, lambda: uuid4().hex))

    with served(build) as url:
        yield lambda name: Asking(url, scene.real.tokens[name])


def test_over_http_one_wins_and_seven_get_412_with_what_stands(scene, http):
    path = f"/api/memories/{scene.memory_id}"

    answers = at_once(
        lambda name: http(name).send("PATCH", path, {"title": f"by {name}"}, {"If-Match": '"2"'}),
        scene.names,
    )

    assert sorted(a.status for a in answers) == [200] + [412] * (WRITERS - 1)
    for lost in (a for a in answers if a.status == 412):
        assert (lost.json["code"], lost.json["current_revision"]) == ("revision-conflict", 3)
    (won,) = (a for a in answers if a.status == 200)
    assert http("rev").send("GET", path).json["title"] == won.json["title"]


def test_over_http_one_idempotency_key_has_one_effect(scene, http):
    body = {"kind": "fact", "collection": "private", "title": "sent twice", "body": "sent twice"}
    path = f"/api/projects/{scene.project}/memories"

    answers = at_once(
        lambda _: http("con").send("POST", path, body, {"Idempotency-Key": "once"}), scene.names
    )

    assert {a.status for a in answers} == {201}
    assert len({a.body for a in answers}) == 1
