"""Rivals for a functional key, decided at two servers at once: one holds it, whatever happens."""

import http.client
import signal
import subprocess
import threading
import time

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.memory import Status
from codeflow_memory.services import audits

from ..program import Server
from .clients import Client, until

WIDE = "[limits]\nrequests_per_minute_token = 600000\nrequests_per_minute_tenant = 600000\n"
ROUNDS = 6
RIVALS = 4


@pytest.fixture
def clock():
    """The servers' own: the time of a store never steps back behind one that was ahead."""
    return lambda: time.time_ns() // 1_000


@pytest.fixture
def servers(new_home):
    started = []
    for home in (new_home(), new_home()):
        (home.path / "config.toml").write_text(WIDE)
        started.append(Server(home.path, "--database", home.server, err=subprocess.DEVNULL))
    yield started
    for server in started:
        server.stop(signal.SIGKILL)


@pytest.fixture
def rivals(world, cast, project):
    """Propose values of one key."""

    def propose(name):
        facts = {"kind": "fact", "key": f"{name} | version"}
        return [
            world.propose(cast.ann, project, **facts, title=f"{name} at {number}")
            for number in range(RIVALS)
        ]

    return propose


def at_once(*requests):
    """Send each request, a client and what it is called with, let go together."""
    together, answers = threading.Barrier(len(requests)), []

    def send(client, *given):
        together.wait()
        try:
            answers.append(client(*given[:3], If_Match=given[3]).status)
        except (OSError, http.client.HTTPException):
            answers.append(0)

    threads = [threading.Thread(target=send, args=request) for request in requests]
    for thread in threads:
        thread.start()
    return threads, answers


def approve(client, memory):
    return client, "POST", f"/api/memories/{memory.memory_id}/approve", {}, '"1"'


def agree(world, cast, memories):
    """One holds the key at most, who waits names it, and who was superseded was closed."""
    found = [world.get(cast.bob, memory).memory for memory in memories]
    held = tuple(memory.memory_id for memory in found if memory.status is Status.ACCEPTED)
    assert len(held) <= 1
    for memory in found:
        if memory.status is Status.PROPOSED:
            assert memory.conflicts_with == held
        if memory.status is Status.SUPERSEDED:
            assert memory.superseded_by is not None
            assert memory.content.valid_to is not None
    return held


def test_two_people_at_two_servers_leave_one_holder(world, cast, rivals, servers):
    tokens = [world.token(name, Role.REVIEWER).text for name in ("bea", "cid")]
    clients = [
        Client(server, token) for server, token in zip(servers, tokens, strict=True) for _ in "12"
    ]
    for number in range(ROUNDS):
        first, second, third, fourth = memories = rivals(f"round-{number}")
        edit = clients[3], "PATCH", f"/api/memories/{fourth.memory_id}", {"body": "Other"}, '"1"'
        threads, answers = at_once(
            approve(clients[0], first),
            approve(clients[2], second),
            approve(clients[1], third),
            edit,
        )
        for thread in threads:
            thread.join()

        assert sorted(answers) == [200] * 4
        assert len(agree(world, cast, memories)) == 1
    assert audits.verify(world.store, world.owner).sound
    for client in clients:
        client.close()


def test_a_server_that_is_killed_while_it_decides_leaves_no_half(world, cast, rivals, servers):
    token = world.token("bea", Role.REVIEWER).text
    whole = [memory for number in range(ROUNDS) for memory in rivals(f"kill-{number}")]
    answers = []

    def decide():
        client = Client(servers[0], token)
        try:
            for memory in whole:
                answers.append(client(*approve(client, memory)[1:4], If_Match='"1"'))
        except (OSError, http.client.HTTPException):
            client.close()

    deciding = threading.Thread(target=decide)
    deciding.start()
    until(60, lambda: len(answers) >= RIVALS)
    servers[0].stop(signal.SIGKILL)
    deciding.join()

    other = Client(servers[1], token)
    left = [m for m in whole if world.get(cast.bob, m).memory.status is Status.PROPOSED]
    assert left
    for number in range(ROUNDS):
        agree(world, cast, whole[number * RIVALS : (number + 1) * RIVALS])
    assert {other(*approve(other, memory)[1:4], If_Match='"1"').status for memory in left} <= {200}
    for number in range(ROUNDS):
        assert len(agree(world, cast, whole[number * RIVALS : (number + 1) * RIVALS])) == 1
    assert audits.verify(world.store, world.owner).sound
    other.close()
