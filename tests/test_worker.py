"""The job loop, with a clock that the test moves."""

from dataclasses import dataclass

from codeflow_memory.domain import times
from codeflow_memory.domain.candidates import Candidate
from codeflow_memory.domain.memory import Collection, Content, Kind, Status
from codeflow_memory.domain.retention import OUT_OF_SERVICE, Policy
from codeflow_memory.domain.times import DAY
from codeflow_memory.services import memories, tokens
from codeflow_memory.services.mutation import Operation
from codeflow_memory.storage import tokens as token_rows
from codeflow_memory.storage.home import BALLAST
from codeflow_memory.worker import HOUR, MINUTE, Worker


@dataclass
class Seconds:
    at: float = 0.0

    def __call__(self) -> float:
        return self.at


def test_everything_is_due_at_the_start_and_nothing_again_before_its_time(world):
    seconds = Seconds()
    worker = Worker(world.tenants, seconds, ())

    assert worker.run_due() == [
        *("expiry:local", "decay:local", "uses:local", "ballast:local", "checkpoints:local"),
        *("undo:local", "terms:local", "findings:local"),
    ]
    assert worker.run_due() == []
    seconds.at = MINUTE
    assert worker.run_due() == ["uses:local", "ballast:local"]
    seconds.at = HOUR
    # Where several workers share a tenant, the store's time counts.
    world.clock.at += times.HOUR
    assert "expiry:local" in worker.run_due()


def test_an_entry_past_its_end_becomes_outdated_once_and_says_why(world):
    ann, project = world.person("ann"), world.project()
    content = Content(Kind.TEMPORAL, "Freeze", "No releases", valid_to=world.clock.at + DAY)
    made = memories.create(
        world.store,
        ann,
        project.project_id,
        None,
        Candidate(content, Collection.PRIVATE),
        Operation(None, ()),
    )
    seconds = Seconds()
    worker = Worker(world.tenants, seconds, ())

    worker.run_due()
    before = memories.get(world.store, ann, made.memory.memory_id).memory
    world.clock.at += DAY
    seconds.at = HOUR
    worker.run_due()
    after = memories.get(world.store, ann, made.memory.memory_id).memory
    history = memories.history(world.store, ann, made.memory.memory_id)

    assert (before.status, after.status) == (Status.ACCEPTED, Status.OUTDATED)
    assert [(r.action, r.actor, r.reason) for r in history][1:] == [
        ("outdate", "system", "expired")
    ]


def test_the_use_of_a_token_is_written_by_the_loop_and_not_by_the_request(world):
    issued = world.token("ann", "reader")
    world.sign_in(issued.text)

    def last_used():
        with world.store.engine.read() as tx:
            return token_rows.find(tx, issued.token.token_id).last_used_at

    assert last_used() is None
    assert tokens.record_uses(world.store) == 1
    assert last_used() == world.clock.at
    world.sign_in(issued.text)
    assert tokens.record_uses(world.store) == 0


def test_a_tenant_that_cannot_be_opened_does_not_stop_the_others(world):
    world.tenants.create("birch")
    with world.store.engine.write() as tx:
        tx.execute("UPDATE store SET tenant = 'oak'")
    world.tenants.close()

    done = Worker(world.tenants, Seconds(), ()).run_due()

    assert done.count("expiry:birch") == 1
    assert (world.tenants.home.path / BALLAST).exists()


def test_started_it_runs_and_stopped_it_ends(world):
    worker = Worker(world.tenants, Seconds(), ())

    worker.start()
    worker.stop()

    assert not worker._thread.is_alive()


def test_configured_policies_are_applied_at_the_start_and_once_a_day(world, cast, project):
    policy = Policy(frozenset(), frozenset(), OUT_OF_SERVICE, 30, None)
    entries = [world.decide(cast.bob, world.propose(cast.ann, project), "reject")]
    world.clock.at += 30 * DAY
    seconds = Seconds()
    worker = Worker(world.tenants, seconds, (policy,))

    assert "retention:local" in worker.run_due()
    entries.append(world.decide(cast.bob, world.propose(cast.ann, project), "reject"))
    world.clock.at += 30 * DAY
    seconds.at = 24 * HOUR - 1
    assert "retention:local" not in worker.run_due()
    assert [world.get(cast.max, e).memory.status for e in entries] == ["deleted", "rejected"]
    seconds.at = 24 * HOUR
    assert "retention:local" in worker.run_due()
    assert [world.get(cast.max, e).memory.status for e in entries] == ["deleted", "deleted"]
