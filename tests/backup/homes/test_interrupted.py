"""Databases that a killed process left in mid-change, and backups beside a running server."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from codeflow_backup import creating, home, verifying
from codeflow_backup.errors import HomeInUseError
from codeflow_backup.progress import unwatched

from ...program import Server
from .acting import SECRET

BUSY = 503

_HALF = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.executescript("PRAGMA cache_size = 5; BEGIN IMMEDIATE; CREATE TABLE half (x)")
for _ in range(200):
    connection.execute("INSERT INTO half VALUES (zeroblob(4000))")
connection.execute("UPDATE audit SET reason = 'half'")
connection.execute("DELETE FROM memory_terms")
connection.execute("DELETE FROM manifest_lists")
os.kill(os.getpid(), signal.SIGKILL)
"""


def interrupt(place, name="memory.sqlite"):
    """Let a process be killed in the middle of a change that reached the file."""
    before = (place.home / name).read_bytes()
    done = subprocess.run(  # noqa: S603 - this interpreter, no shell
        [sys.executable, "-I", "-c", _HALF, place.home / name], check=False
    )

    assert done.returncode == -signal.SIGKILL
    assert (place.home / f"{name}-journal").stat().st_size > 512, "no journal was left"
    assert (place.home / name).read_bytes() != before, "nothing had reached the file"


@pytest.mark.parametrize("name", ["memory.sqlite", "tenants/birch/memory.sqlite"])
def test_a_backup_holds_what_was_committed_before_the_interruption(place, empty, tmp_path, name):
    expected = place.rows(), place.rows("birch")
    interrupt(place, name)

    place.back_up(tmp_path / "b.cfmb")
    empty.restore(tmp_path / "b.cfmb")

    assert (empty.rows(), empty.rows("birch")) == expected
    assert (place.rows(), place.rows("birch")) == expected
    assert not (place.home / f"{name}-journal").exists()


def test_a_copy_of_the_interrupted_file_alone_would_not(place, tmp_path):
    """Control: the interruption is one that a copy does not survive."""
    expected = place.rows()
    interrupt(place)
    copied = tmp_path / "copied.sqlite"
    copied.write_bytes((place.home / "memory.sqlite").read_bytes())

    connection = sqlite3.connect(copied)
    try:
        terms = connection.execute("SELECT COUNT(*) FROM memory_terms").fetchone()[0]
    except sqlite3.DatabaseError:
        terms = None
    connection.close()

    assert terms != len(expected["memory_terms"])


def test_an_interrupted_home_is_restored_over_and_its_journal_undoes_nothing(place, backup):
    expected = place.rows()
    interrupt(place)

    place.restore(backup, replace=True)

    assert not (place.home / "memory.sqlite-journal").exists()
    assert place.rows() == expected


def test_a_refused_restore_leaves_an_interrupted_home_as_a_start_would(place, backup, tmp_path):
    expected = place.rows()
    raw = backup.read_bytes()
    (tmp_path / "t").write_bytes(raw[:-100] + bytes([raw[-100] ^ 1]) + raw[-99:])
    interrupt(place)

    with pytest.raises(Exception, match="not what was written"):
        place.restore(tmp_path / "t", replace=True)

    assert place.rows() == expected


class Caller:
    """Asks a served home over HTTP with its first token."""

    def __init__(self, first):
        self.host = urlsplit(first["url"]).netloc
        self.token = first["token"]
        self.repository = self.ask("POST", "repositories", {"key": "k"})["id"]
        made = self.ask("POST", f"repositories/{self.repository}/projects", {"slug": "core"})
        self.project = made["id"]

    def ask(self, method, path, body=None):
        status, _, answer = self.answer(method, path, body)
        assert status < 300, answer
        return answer

    def answer(self, method, path, body=None):
        connection = HTTPConnection(self.host, timeout=30)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body)
        connection.request(method, f"/api/{path}", data, headers)
        response = connection.getresponse()
        found = response.status, dict(response.getheaders()), json.loads(response.read() or "{}")
        connection.close()
        return found

    def write(self, title):
        body = {"collection": "private", "kind": "guidance", "title": title, "body": f"{title}."}
        return self.answer("POST", f"projects/{self.project}/memories", body)

    def titles(self):
        found = self.ask("GET", f"projects/{self.project}/memories?limit=100")
        return {item["title"] for item in found["items"]}


@pytest.fixture
def served(tmp_path):
    server = Server(tmp_path / "served")
    yield server
    server.stop()


def test_a_server_serves_on_while_it_is_backed_up_and_its_writers_wait(served, tmp_path, empty):
    caller = Caller(served.first)
    assert caller.write("before")[0] == 201
    where, answers = home.Home(tmp_path / "served"), []
    seen = []

    def write():
        # On a busy machine it may be told to come again, and does.
        while (answer := caller.write("meanwhile"))[0] == BUSY:
            pass
        answers.append(answer)

    writer = threading.Thread(target=write)

    def watch(label, done, total):
        if label == "writing" and not seen:
            writer.start()
            # The lock is held: a reader sees what stands, and the writer cannot be done.
            seen.append((caller.titles(), list(answers)))
        if label == "verifying" and done == total:
            writer.join()

    creating.create(where, tmp_path / "b.cfmb", [SECRET], watch)
    assert seen == [({"before"}, [])]
    writer.join()
    assert [status for status, _, _ in answers] == [201]
    assert caller.write("after")[0] == 201
    assert caller.titles() == {"before", "meanwhile", "after"}

    empty.restore(tmp_path / "b.cfmb")
    (kept,) = empty.rows()["memories"]
    assert "before" in kept


def test_a_writer_that_waited_too_long_is_told_to_come_again(served, tmp_path):
    caller = Caller(served.first)
    where, answers = home.Home(tmp_path / "served"), []

    def watch(label, _done, _total):
        if label == "writing" and not answers:
            answers.append(caller.write("too long"))

    creating.create(where, tmp_path / "b.cfmb", [SECRET], watch)

    ((status, headers, answer),) = answers
    assert status == BUSY
    assert answer["type"].endswith(":busy")
    assert int({k.lower(): v for k, v in headers.items()}["retry-after"]) >= 1
    assert caller.write("again")[0] == 201


def test_a_served_home_is_not_restored_into_and_serves_on(served, place, backup, tmp_path):
    caller = Caller(served.first)
    target = type(place)(tmp_path / "served", place.clock)

    with pytest.raises(HomeInUseError):
        target.restore(backup, replace=True)

    assert caller.write("still here")[0] == 201
    assert served.stop() == 0
    verifying.verify(backup, [SECRET], None, unwatched)
    assert target.rows()["memories"]


def test_a_restored_home_is_served_and_says_so_once(backup, empty):
    empty.restore(backup)

    for expected in (True, False):
        server = Server(empty.home)
        assert server.first["home"] == os.fspath(empty.home)
        server.process.send_signal(signal.SIGTERM)
        _, err = server.process.communicate(timeout=60)
        assert ("a backup was restored here" in err) is expected
        assert server.process.returncode == 0
    assert empty.rows("birch")["store"][0][4] == 1
