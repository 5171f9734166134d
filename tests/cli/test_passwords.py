"""The password of a database's login: where it is taken from, and where it is never seen."""

import json
import subprocess
import sys
import time
from urllib.parse import quote

import psycopg
import pytest

from ..program import SECONDS, Server
from .conftest import ask

PASSWORD = "s3cret/of@the:login"  # noqa: S105 - of the tests' own server


ENCODED = quote(PASSWORD, safe="")


@pytest.fixture
def secured(cluster, database):
    """The database's URL for a login with a password; libpq sends it to none that asks for none."""
    return cluster.url(database).replace("codeflow@", f"codeflow:{ENCODED}@")


def command_line(pid: int) -> str:
    """What every user of the machine sees of a process."""
    listed = subprocess.run(  # noqa: S603 - a number of our own, no shell
        ["ps", "-o", "args=", "-ww", "-p", str(pid)],  # noqa: S607 - whichever the system has
        capture_output=True,
        text=True,
        check=True,
    )
    return listed.stdout


def test_a_password_is_in_no_output_error_log_or_list_of_processes(cli, home, secured, repository):
    said = []
    server = Server(home, "--database", secured)
    said.append(command_line(server.process.pid))
    said.append(json.dumps(server.first))
    token = server.first["token"]
    said.append(json.dumps(ask(server, token, "GET", "/api/status")))
    for command in (
        ["status", "--json"],
        ["doctor"],
        ["doctor", "--json"],
        ["learn", str(repository.path)],
        ["tenant", "list"],
        ["tenant", "create", "Not A Slug"],
        ["no-such-command"],
        ["up", "--port", "0"],
    ):
        done = cli(*command, CODEFLOW_DATABASE=secured)
        said += [done.out, done.err]
        done = cli(*command[:1], "--database", secured, *command[1:])
        said += [done.out, done.err]
    for wrong in (
        secured.replace("codeflow:", "nobody:"),
        f"postgresql://codeflow:{PASSWORD}@127.0.0.1:1/d",
        f"postgresql://codeflow:{ENCODED}@127.0.0.1:1/d",
        f"postgresql://codeflow:{ENCODED}@nowhere.invalid/d",
        f"postgresql://codeflow@127.0.0.1:1/d?password={ENCODED}",
        f"postgresql://codeflow@127.0.0.1:1/d?password={ENCODED}&nonsense=1",
    ):
        for more in ({}, {"CODEFLOW_DATABASE": wrong}):
            argv = ["token", "list"] if more else ["token", "list", "--database", wrong]
            done = cli(*argv, **more)
            assert done.code in {0, 2, 6}, done.err
            said += [done.out, done.err]
        done = cli("token", "list", wrong)
        said += [done.out, done.err]
    server.process.terminate()
    said += server.process.communicate(timeout=SECONDS)
    said += [p.read_text("utf-8", "replace") for p in home.rglob("*") if p.is_file()]

    whole = "\n".join(said)
    assert "s3cret" not in whole
    assert "codeflow-memory" in said[0] or "codeflow_memory" in said[0]
    assert "postgresql://codeflow@" in said[0]


@pytest.fixture
def locked(own_cluster):
    """A database's URL for a login that the server asks for its password; gone with the test."""
    cluster = own_cluster
    database = cluster.make()
    cluster.sql(f"CREATE ROLE locked LOGIN CREATEROLE NOINHERIT PASSWORD '{PASSWORD}'")
    cluster.sql(f"GRANT CONNECT, CREATE ON DATABASE {database} TO locked")
    rules = cluster.data / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"local all locked scram-sha-256\n{before}")
    cluster.sql("SELECT pg_reload_conf()")
    address = cluster.url(database, "locked")
    deadline = time.monotonic() + SECONDS
    while is_let_in(address):
        assert time.monotonic() < deadline
    return address


def is_let_in(address: str) -> bool:
    try:
        psycopg.connect(address).close()
    except psycopg.OperationalError:
        return False
    return True


def test_the_password_comes_from_the_address_its_file_or_the_credential(cli, locked, tmp_path):
    whole = locked.replace("locked@", f"locked:{ENCODED}@")
    (tmp_path / "codeflow-database").write_text(whole)
    passwords = tmp_path / "passwords"
    passwords.write_text("*:*:*:locked:" + PASSWORD.replace(":", "\\:"))
    passwords.chmod(0o600)
    make = ("token", "create", "--principal", "ann", "--kind", "user", "--role", "reader")

    without = cli(*make, "--database", locked)
    wrong = cli(*make, "--database", locked.replace("locked@", "locked:wrong@"))
    assert (without.code, wrong.code, cli.home.exists()) == (6, 6, False)
    assert "password" in without.err
    assert 'refuses us: password authentication failed for user "locked"' in wrong.err
    for argv, more in (
        (["--database", whole], {}),
        ([], {"CODEFLOW_DATABASE": whole}),
        ([], {"CREDENTIALS_DIRECTORY": str(tmp_path)}),
        (["--database", locked], {"PGPASSFILE": str(passwords)}),
    ):
        done = cli(*make, *argv, **more).ok()
        assert "s3cret" not in done.out + done.err


def test_the_search_for_the_password_would_see_it(secured):
    """What was called by a shell without the command's own care shows it."""
    with subprocess.Popen(  # noqa: S603 - this interpreter, no shell
        [sys.executable, "-I", "-c", "input()", secured], stdin=subprocess.PIPE
    ) as process:
        assert "s3cret" in command_line(process.pid)
        process.communicate(b"\n")
