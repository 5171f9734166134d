"""What a caller may not see cannot be told from what is not there by the time of the answer.

Both are asked for in turn through HTTP, of a server in a process of its own, and Welch's t compares
the times. What is claimed is that so many pairs do not tell them apart, not that no number would.

Source:
    Reparaz, Balasch and Verbauwhede, "Dude, is my code constant time?" (2017): interleaved classes,
    upper percentiles cut, |t| below 4.5.
"""

import json
import math
import os
import socket
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from itertools import count
from random import Random
from urllib.parse import urlsplit

import pytest

from codeflow_memory.adapters.secrets import parse_token
from codeflow_memory.domain.access import Role

pytestmark = pytest.mark.long

PAIRS = int(os.environ.get("CODEFLOW_PAIRS", "20000"))
LEAST_T = 4.5
KEPT = 0.8
"""Of the times of both classes together, the shortest so many: what is longer is the machine."""

ENTRIES = 200
"""Of each kind, so that none stays in a cache that its counterpart is not in."""

CONFIG = """
[limits]
requests_per_minute_token = 1000000000
requests_per_minute_tenant = 1000000000
failed_sign_ins = 1000000000
"""

ENTRY = "/api/memories/"

SOUND = ""

FETCHES_THEN_CHECKS = """
from codeflow_memory.storage import memories

scoped = memories.find_all

def find_all(tx, scope_ids, memory_ids):
    every = [row[0] for row in tx.rows("SELECT scope_id FROM scopes")]
    found = scoped(tx, every, memory_ids)
    return [stored for stored in found if stored.memory.scope_id in set(scope_ids)]

memories.find_all = find_all
"""
"""A control: the entry is read, and then it is looked whether the caller may see it."""

KNOWS_TENANTS_FIRST = """
from codeflow_memory.domain.errors import NotFoundError, UnauthenticatedError
from codeflow_memory.http.caller import Callers

steps = Callers._authenticate

def authenticate(self, parts):
    try:
        self._stores.get(parts.tenant)
    except NotFoundError:
        raise UnauthenticatedError from None
    return steps(self, parts)

Callers._authenticate = authenticate
"""
"""A control: an unknown tenant is refused before a token is looked for."""

PROGRAM = """
import sys
from codeflow_memory.cli import main
{broken}
sys.exit(main(["up", "--port", "0", "--json", "--no-browser", "--home", sys.argv[1]]))
"""


class Prepared:
    """A home with entries that Eve does not see, and the requests that ask for them."""

    def __init__(self, world) -> None:
        self.home = world.tenants.home
        (self.home.path / "config.toml").write_text(CONFIG)
        self._numbers = count()
        self.world = world
        self.project = world.project("shop")
        other = world.project("other")
        eve = world.token("eve", Role.CONTRIBUTOR, repo=self.project.repository_id)
        self.eve = eve.text
        seen = world.sign_in(eve.text)
        bob = world.person("bob", Role.CONTRIBUTOR)
        for _ in range(ENTRIES):
            world.write(seen, self.project, collection="private", body=f"Seen {self._word()}")
        self.words = [self._word() for _ in range(ENTRIES)]
        self.private = [
            self._hidden(bob, self.project, word, collection="private") for word in self.words
        ]
        self.elsewhere = [self._hidden(bob, other, self._word()) for _ in range(ENTRIES)]

    def _word(self) -> str:
        return f"word{Random(next(self._numbers)).randrange(10**8, 10**9)}"  # noqa: S311 - no secret

    def _hidden(self, author, project, word: str, **more) -> str:
        file = f"file:src/{word}.py"
        written = self.world.write(author, project, body=f"Told {word}", sources=[file], **more)
        return written.memory.memory_id

    def missing(self, ids: list[str]) -> list[str]:
        """Ids that nothing has, each beside one that something has."""
        known = set(self.private) | set(self.elsewhere)
        made = [f"{one[:-1]}{'0' if one[-1] != '0' else '1'}" for one in ids]
        return [one for one in made if one not in known]


@pytest.fixture(scope="module")
def prepared(shared_world):
    return Prepared(shared_world)


@contextmanager
def serving(prepared, broken: str):
    """Serve the home by a process of its own; give what asks it."""
    command = [sys.executable, "-c", PROGRAM.format(broken=broken), str(prepared.home.path)]
    where = os.environ | {"CODEFLOW_DATABASE": prepared.home.server or ""}
    with subprocess.Popen(  # noqa: S603 - ours
        command, env=where, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            url = json.loads(process.stdout.readline())["url"]
            with closing_client(url) as client:
                yield client
        finally:
            process.terminate()


@contextmanager
def closing_client(url: str):
    client = Client(url)
    try:
        yield client
    finally:
        client.close()


class Client:
    """One connection that is kept, and exact times."""

    def __init__(self, url: str) -> None:
        self.host = urlsplit(url).netloc
        address, _, port = self.host.partition(":")
        self._connection = socket.create_connection((address, int(port)), 30)
        self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self) -> None:
        self._connection.close()

    def request(self, path: str, token: str, method: str = "GET", *headers: str) -> bytes:
        named = [f"Host: {self.host}", f"Authorization: Bearer {token}", *headers]
        return "\r\n".join([f"{method} {path} HTTP/1.1", *named, "", ""]).encode("ascii")

    def ask(self, request: bytes) -> tuple[float, int]:
        """Send *request*; return the seconds until its whole answer was here, and its status."""
        began = time.perf_counter()
        self._connection.sendall(request)
        got = self._connection.recv(65536)
        head, _, body = got.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        while len(body) < length:
            body += self._connection.recv(65536)
        return time.perf_counter() - began, int(head[9:12])


def ids(known: str, method: str = "GET", *headers: str):
    def requests(prepared, client):
        hidden = getattr(prepared, known)
        return tuple(
            [
                client.request(f"/api/memories/{one}", prepared.eve, method, *headers)
                for one in asked
            ]
            for asked in (hidden, prepared.missing(hidden))
        )

    return requests


def search(prepared, client):
    path = f"/api/projects/{prepared.project.project_id}/memory/search?q="
    nowhere = [prepared._word() for _ in range(ENTRIES)]
    return tuple(
        [client.request(path + word, prepared.eve) for word in asked]
        for asked in (prepared.words, nowhere)
    )


def graph(of: str):
    def requests(prepared, client):
        path = f"/api/projects/{prepared.project.project_id}/memory/graph?depth=2&around="
        if of == "file":
            hidden = [f"file:src/{word}.py" for word in prepared.words]
            missing = [f"file:src/{prepared._word()}.py" for _ in range(ENTRIES)]
        else:
            hidden, missing = prepared.private, prepared.missing(prepared.private)
        return tuple(
            [client.request(path + node, prepared.eve) for node in asked]
            for asked in (hidden, missing)
        )

    return requests


def tokens(tenant: str, *, known: bool):
    """A known id under a wrong secret, or an unknown id, against an unknown id."""

    def requests(prepared, client):
        eve = parse_token(prepared.eve)
        one = eve.token_id if known else eve.token_id[::-1]
        other = f"{eve.token_id[:-1]}{'a' if eve.token_id[-1] != 'a' else 'b'}"
        wrong = eve.secret[::-1]
        return (
            [client.request("/api/projects", f"cfm_{tenant}_{one}_{wrong}")],
            [client.request("/api/projects", f"cfm_local_{other}_{wrong}")],
        )

    return requests


QUESTIONS = {
    "an entry of another's collection": (ids("private"), 404),
    "an entry of another repository": (ids("elsewhere"), 404),
    "a change of another's entry": (ids("private", "DELETE", 'If-Match: "1"'), 404),
    "a word of another's entry": (search, 200),
    "another's entry in the graph": (graph("entry"), 200),
    "a file of another's entry in the graph": (graph("file"), 200),
    "a token with a wrong secret": (tokens("local", known=True), 401),
    "a token of no tenant": (tokens("nobody", known=False), 401),
}


def welch(a: list[float], b: list[float]) -> float:
    """Return Welch's t of what both have below their common upper percentile."""
    most = sorted(a + b)[int(KEPT * (len(a) + len(b)))]
    a, b = ([one for one in times if one < most] for times in (a, b))
    spread = statistics.variance(a) / len(a) + statistics.variance(b) / len(b)
    return (statistics.fmean(a) - statistics.fmean(b)) / math.sqrt(spread)


def compare(prepared, client, name: str, pairs: int) -> float:
    """Ask for the one and for the other, in an order that chance decides each time."""
    build, status = QUESTIONS[name]
    chance = Random(name)  # noqa: S311 - no secret
    classes = build(prepared, client)
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(pairs + 200):
        order = [0, 1] if chance.random() < 0.5 else [1, 0]
        for of in order:
            taken, got = client.ask(chance.choice(classes[of]))
            assert got == status
            if number >= 200:
                times[of].append(taken)
    return welch(*times)


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_time_of_an_answer_does_not_tell_what_is_there(prepared, name):
    with serving(prepared, SOUND) as client:
        t = compare(prepared, client, name, PAIRS)

    print(f"{name}: t = {t:.2f} over {PAIRS} pairs")  # noqa: T201 - what a run of --long is for
    assert abs(t) < LEAST_T


@pytest.mark.parametrize(
    ("broken", "name"),
    [
        (FETCHES_THEN_CHECKS, "an entry of another's collection"),
        (FETCHES_THEN_CHECKS, "an entry of another repository"),
        (KNOWS_TENANTS_FIRST, "a token of no tenant"),
    ],
    ids=["fetched-private", "fetched-elsewhere", "tenant-first"],
)
def test_a_server_that_looks_before_it_checks_is_noticed(prepared, broken, name):
    """Control: the same pairs and the same statistic."""
    with serving(prepared, broken) as client:
        t = compare(prepared, client, name, PAIRS)

    print(f"control, {name}: t = {t:.2f} over {PAIRS} pairs")  # noqa: T201 - as above
    assert abs(t) > LEAST_T


def test_equal_classes_are_not_told_apart_and_a_small_shift_is():
    """Control of the statistic itself: a shift of a twentieth of the spread, over heavy tails."""
    chance = Random(3)  # noqa: S311 - no secret
    times = [[chance.lognormvariate(0, 0.2) for _ in range(20_000)] for _ in range(2)]

    assert abs(welch(*times)) < LEAST_T
    assert abs(welch(times[0], [one + 0.05 * 0.2 for one in times[1]])) > LEAST_T
