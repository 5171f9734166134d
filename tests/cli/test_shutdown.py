"""SIGTERM: what runs is finished, how far the audit came is signed, and nothing is left held."""

import json
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from codeflow_memory.storage.home import Home

from .conftest import environment


def begun(launch):
    process = launch("up", "--port", "0", "--json")
    first = json.loads(process.stdout.readline())
    return process, first["url"].rpartition(":")[2], first["token"]


def read_all(connection):
    got = b""
    while part := connection.recv(65536):
        got += part
    return got


WATCHED = """
import sys, threading
from codeflow_memory.cli import main, stores

close = stores.close

def closing(tenants):
    working = "worker" in {thread.name for thread in threading.enumerate()}
    print("a job runs" if working else "no job runs", flush=True)
    close(tenants)

stores.close = closing
sys.exit(main(["up", "--port", "0", "--json"]))
"""


def test_jobs_have_ended_before_the_stores_are_closed(home):
    process = subprocess.Popen(  # noqa: S603 - this interpreter, no shell
        [sys.executable, "-c", WATCHED],
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)

    assert (process.returncode, out) == (0, "no job runs\n"), err


def rows(home, statement):
    place = str(home / "memory.sqlite").replace("%", "%25")
    with closing(sqlite3.connect(f"file:{place}?mode=ro", uri=True)) as database:
        return database.execute(statement).fetchall()


def test_a_change_that_is_under_way_is_made_answered_and_signed(launch, cli, home):
    process, port, token = begun(launch)
    body = json.dumps({"key": "in-flight"}).encode()
    head = (
        f"POST /api/repositories HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode()
    with socket.create_connection(("127.0.0.1", int(port)), 60) as connection:
        connection.sendall(head + body[:5])
        # A second request on another connection: the first one has been read by then.
        with socket.create_connection(("127.0.0.1", int(port)), 60) as other:
            other.sendall(f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            assert b"200" in other.recv(65536)
        process.send_signal(signal.SIGTERM)
        # One that does not wait for the request is gone by then.
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1)
        connection.sendall(body[5:])
        answer = read_all(connection)
    _, err = process.communicate(timeout=60)

    assert process.returncode == 0, err
    assert answer.startswith(b"HTTP/1.1 201"), answer
    assert rows(home, "SELECT value FROM repository_aliases WHERE kind = 'key'") == [("in-flight",)]
    assert sorted(p.name for p in home.glob("memory.*")) == ["memory.audit", "memory.sqlite"]
    with Home(home).exclusive(), Home(home).serving():
        pass
    told = cli("audit", "verify", "--json").ok().json
    assert (told["sound"], told["checkpoints"]["rows_since"]) == (True, 0)
    assert told["checkpoints"]["count"] >= 1


def test_a_server_that_served_nothing_signs_nothing_new(launch, cli):
    for _ in range(3):
        process = launch("up", "--port", "0", "--json")
        assert process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert process.returncode == 0

    told = cli("audit", "verify", "--json").ok().json

    assert (told["sound"], told["checkpoints"]["count"]) == (True, 1)


def test_a_killed_server_leaves_rows_that_the_next_one_signs_at_its_start(launch, cli):
    process, _, _ = begun(launch)
    cli("token", "create", "--principal", "a", "--kind", "user", "--role", "reader").ok()
    process.kill()
    process.communicate(timeout=60)

    again = launch("up", "--port", "0", "--json")
    assert again.stdout.readline()
    again.send_signal(signal.SIGTERM)
    again.communicate(timeout=60)

    told = cli("audit", "verify", "--json").ok().json
    assert (told["sound"], told["checkpoints"]["rows_since"]) == (True, 0)


def test_a_tail_that_was_cut_or_a_file_put_back_is_told_by_verify_and_doctor(cli, home):
    cli("token", "create", "--principal", "a", "--kind", "user", "--role", "reader").ok()
    older = (home / "memory.sqlite").read_bytes()
    cli("token", "create", "--principal", "b", "--kind", "user", "--role", "reader").ok()
    assert cli("audit", "verify").ok().out.startswith("local: ")

    (home / "memory.sqlite").write_bytes(older)

    told = cli("audit", "verify", "--json")
    assert (told.code, told.json["sound"]) == (1, False)
    assert "missing from the database" in told.json["checkpoints"]["fault"]["detail"]
    doctor = cli("doctor", "--json")
    assert doctor.code == 1
    (audit,) = [c for c in doctor.json["checks"] if c["name"] == "audit local"]
    assert "missing from the database" in audit["detail"]
    assert "missing from the database" in cli("audit", "verify").out
