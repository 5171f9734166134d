"""Random governance on real services: what is held stays out of sight, a key has one holder."""

import os
from collections import defaultdict
from dataclasses import replace
from itertools import combinations, count

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from codeflow_memory.domain import keys, trust
from codeflow_memory.domain.access import Origin
from codeflow_memory.domain.candidates import parse_candidate
from codeflow_memory.domain.errors import CodeflowError
from codeflow_memory.domain.lifecycle import MOVES, Action, allows
from codeflow_memory.domain.memory import Collection, Kind, Memory, Pair, Sensitivity, Status
from codeflow_memory.domain.selection import Request
from codeflow_memory.domain.times import DAY, to_rfc3339
from codeflow_memory.services import (
    conflicts,
    decay,
    deletion,
    expiry,
    feedback,
    governance,
    memories,
    review,
    search,
    selections,
    succession,
    undo,
)
from codeflow_memory.services.feedback import Judgement
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.review import Decision
from codeflow_memory.services.search import Question
from codeflow_memory.storage import memories as rows
from codeflow_memory.storage import revisions

from .model.acting import NEW, Acting, prepare

LONG = os.environ.get("CODEFLOW_LONG") == "1"
EXAMPLES = {"sqlite": 300 if LONG else 16, "postgresql": 60 if LONG else 4}
STEPS = 50

BY_A_PERSON = {"approve", "restore", "undo"}
"""Actions that lead into service, each a person's."""

people = st.sampled_from(("con", "rev", "max"))
origins = st.sampled_from(
    (Origin.USER, Origin.USER, Origin.AGENT, Origin.BACKGROUND, Origin.IMPORT, Origin.REPOSITORY)
)
key_texts = st.sampled_from(("api | version", "API|Version", "api | version", "notes", None))
drafts = st.fixed_dictionaries(
    {
        "collection": st.sampled_from(("private", "project", "project")),
        "key": key_texts,
        "kind": st.sampled_from(("fact", "fact", "fact", "temporal", "skill")),
        "sensitivity": st.sampled_from(("normal", "normal", "normal", "normal", "secret")),
    }
)
numbers = st.integers(0, 30)
actions = st.sampled_from((*Action, Action.APPROVE, Action.APPROVE, Action.APPROVE, Action.RESTORE))
words = count()


class Machine(RuleBasedStateMachine):
    """One project; who writes, decides, undoes and waits."""

    def __init__(self, cast, ground, name) -> None:
        super().__init__()
        self.cast = cast
        self.project = cast.project
        self.acting = Acting(cast, ground, name)
        self.made: list[str] = []

    def call(self, name, service, *arguments, origin=Origin.USER, **options):
        """Call a service as *name*; a refusal is an answer like another."""
        access = replace(self.acting.sign_in(name), origin=origin)
        try:
            return service(self.acting.store, access, *arguments, **options)
        except CodeflowError:
            return None

    def one(self, number: int) -> Memory:
        wanted = self.made[number % len(self.made)]
        return next(m for m in self.all() if m.memory_id == wanted)

    def all(self) -> list[Memory]:
        with self.acting.store.engine.read() as tx:
            return rows.of_repository(tx, self.cast.repository)

    def keep(self, name, origin, draft):
        """Write what *draft* says with words of its own."""
        word = next(words)
        text = f"walrus {word:x}{word * 7919:x} says {word * 104729:x}"
        candidate = parse_candidate(draft | {"title": f"value {word}", "body": text})
        view = self.call(name, memories.create, self.project, None, candidate, NEW, origin=origin)
        if view is not None:
            self.made.append(view.memory.memory_id)
        return view

    @rule(origin=origins, collection=st.sampled_from(("private", "project")), approve=st.booleans())
    def value(self, origin, collection, approve):
        draft = {"collection": collection, "kind": "fact", "key": "api | version"}
        view = self.keep("con", origin, draft)
        if approve and collection == "project":
            self.decided("rev", view.memory, Decision(Action.APPROVE))

    @rule()
    def undo_once_another_holds_the_key(self):
        draft = {"collection": "private", "kind": "fact", "key": "api | version"}
        old = self.keep("con", Origin.USER, draft)
        self.decided("con", old.memory, Decision(Action.OUTDATE))
        self.keep("con", Origin.USER, draft)
        self.call("con", undo.undo, NEW, batch=None, item=old.memory.memory_id)

    @rule(days=st.sampled_from((None, -1, 3)), key=key_texts)
    def dated(self, days, key):
        draft = {"collection": "private", "kind": "fact", "key": key}
        if days is not None:
            draft["valid_to"] = to_rfc3339(self.acting.clock.at + days * DAY)
        self.keep("con", Origin.USER, draft)

    @rule(
        name=people,
        origin=origins,
        draft=drafts,
        named=st.sampled_from((None, None, "supersedes", "derived_from")),
        number=numbers,
    )
    def write(self, name, origin, draft, named, number):
        raw = dict(draft)
        if named is not None and self.made:
            old = self.one(number)
            pair = {"memory_id": old.memory_id, "revision": old.revision}
            raw[named] = pair if named == "supersedes" else [pair]
        self.keep(name, origin, raw)

    def decided(self, name, memory, decision):
        operation = Operation(f"op-{next(words)}", ("decide", memory.memory_id))
        return self.call(
            name, review.decide, memory.memory_id, decision, memory.revision, operation
        )

    @precondition(lambda self: self.made)
    @rule(name=people, number=numbers, action=actions, again=st.booleans())
    def decide(self, name, number, action, again):
        memory = self.one(number)
        other = self.one(number + 1).memory_id if action is Action.SUPERSEDE else None
        if action is Action.DELETE:
            self.call(name, deletion.delete, memory.memory_id, memory.revision, NEW)
            return
        decision = Decision(action, superseded_by=other)
        operation = Operation(f"op-{next(words)}", ("decide", memory.memory_id))
        answers = [
            self.call(name, review.decide, memory.memory_id, decision, memory.revision, operation)
            for _ in range(1 + again)
        ]
        # Governance is idempotent by receipt.
        assert answers[0] is None or all(a.memory == answers[0].memory for a in answers)
        now = self.one(number)
        moved = now.status is not memory.status
        assert not moved or now.status in MOVES[memory.status]
        assert not moved or allows(action, memory.status)

    @precondition(lambda self: self.made)
    @rule(name=people, number=numbers, origin=origins, key=key_texts)
    def revise(self, name, number, origin, key):
        memory = self.one(number)
        changes = {"key": key, "body": f"walrus edited {next(words):x}"}
        revision = memory.revision
        self.call(name, memories.revise, memory.memory_id, changes, revision, NEW, origin=origin)

    @precondition(lambda self: self.made)
    @rule(name=people, number=st.none() | numbers)
    def undo(self, name, number):
        item = None if number is None else self.one(number).memory_id
        self.call(name, undo.undo, NEW, batch=None, item=item)

    @precondition(lambda self: self.made)
    @rule(name=people, number=numbers, helpful=st.booleans())
    def judge(self, name, number, helpful):
        self.call(name, feedback.give, self.one(number).memory_id, Judgement(helpful), NEW)

    @rule(days=st.integers(1, 12))
    def wait(self, days):
        self.acting.clock.at += days * DAY
        expiry.run(self.acting.store)
        decay.run(self.acting.store)

    @invariant()
    def nothing_held_is_seen_and_a_key_has_one_holder(self):
        everything = self.all()
        accepted = [m for m in everything if m.status is Status.ACCEPTED]
        self.what_is_held_is_out_of_sight({m.memory_id for m in accepted})
        self.a_functional_key_has_one_holder(accepted)
        with self.acting.store.engine.read() as tx:
            for memory in accepted:
                self.it_was_let_in(tx, memory)
            for memory in everything:
                self.its_conflicts_and_trust_follow(tx, memory)

    def what_is_held_is_out_of_sight(self, accepted):
        for name in ("rea", "con"):
            found = self.call(name, search.find, self.project, None, Question("walrus", limit=100))
            given = self.call(name, selections.create, self.project, None, Request(query="walrus"))
            assert {r.memory_id for r in found.results} <= accepted
            assert {p.memory_id for p in given.places} <= accepted

    @staticmethod
    def it_was_let_in(tx, memory):
        steps = revisions.find_all(tx, memory.repository_id, memory.memory_id)
        first = next(s for s in steps if s.status is Status.ACCEPTED)
        explicit = first.action == "create" and memory.collection is not Collection.PROJECT
        assert explicit or first.action in BY_A_PERSON
        assert memory.sensitivity is not Sensitivity.SECRET

    def a_functional_key_has_one_holder(self, accepted):
        held = defaultdict(list)
        for memory in accepted:
            digest = keys.digest(memory.content)
            if digest is not None and keys.is_functional(memory.content, keys.FUNCTIONAL):
                held[memory.scope_id, digest].append(memory.content)
        at = self.acting.clock.at
        for contents in held.values():
            assert not any(keys.clash(a, b, at) for a, b in combinations(contents, 2))

    def its_conflicts_and_trust_follow(self, tx, memory):
        expected, over = set(), set()
        if memory.status is Status.PROPOSED:
            where = (tx, memory.scope_id, memory.content)
            now = conflicts.holders(*where, self.acting.clock.at, but=memory.memory_id)
            named = (memory.supersedes or Pair("", 1)).memory_id
            expected = {h.memory.memory_id for h in now} - {named}
            # One whose validity is over may be named until its job has run.
            over = {h.memory.memory_id for h in conflicts.holders(*where, 0)} - expected
        assert expected <= set(memory.conflicts_with) <= expected | over
        assert (memory.status is Status.SUPERSEDED) <= (memory.superseded_by is not None)
        if memory.content is not None and memory.content.kind is not Kind.TEMPORAL:
            contended = bool(memory.conflicts_with)
            kind = memory.content.kind
            assert memory.trust == trust.effective(memory.standing, kind, 0, conflicting=contended)

    def teardown(self) -> None:
        self.acting.close()


def run_machine(place, examples: int) -> None:
    cast = prepare(place.home("prepared"))
    homes = count()

    run_state_machine_as_test(
        lambda: Machine(cast, place, str(next(homes))),
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


def test_no_sequence_lets_anything_in_or_gives_a_key_two_holders(place, engine_name):
    run_machine(place, EXAMPLES[engine_name])


@pytest.mark.parametrize(
    ("module", "name", "defect"),
    [
        pytest.param(succession, "link", lambda _, stored, *__, **___: stored.memory, id="no link"),
        pytest.param(conflicts, "settle_others", lambda *_: None, id="contenders never hear"),
        pytest.param(undo, "_check_keys", lambda *_: None, id="undo makes a second holder"),
        pytest.param(
            governance, "_route", lambda *_: (Status.ACCEPTED, None), id="everything is let in"
        ),
    ],
)
def test_a_defect_is_noticed(module, name, defect, place, monkeypatch):
    """Control: the machine must fail on a product that breaks a rule."""
    monkeypatch.setattr(module, name, defect)

    with pytest.raises(AssertionError):
        run_machine(place, 12 * EXAMPLES["sqlite"])
