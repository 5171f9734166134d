"""A PostgreSQL of the tests' own: on a scratch folder, reached by its socket, by nobody else.

It must not run as root, so there it runs as ``nobody``. The product logs in as ``codeflow``, which
is no superuser and inherits nothing, as the runbook has it. Its words sort as people sort them, not
by bytes: whatever forgets the collation is noticed.
"""

import os
import re
import shutil
import subprocess
import tempfile
from contextlib import closing
from itertools import count
from pathlib import Path

import psycopg

USER = "codeflow"
_SECONDS = 60
_UNSAFE = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
"""Nothing of it outlives the tests, and those of power loss are not about it."""

_FOLDERS = (
    "usr/lib/postgresql/*/bin",
    "usr/pgsql-*/bin",
    "opt/homebrew/opt/postgresql@*/bin",
    "usr/local/opt/postgresql@*/bin",
)
"""Where systems put the programs of each version, off the path."""

_SHORT = "/tmp"  # noqa: S108 - the parent of a private folder
"""A socket's path has about a hundred characters, and who runs the server may enter each folder."""

_GUARD = """
cat
"$1" stop --mode=immediate --pgdata="$2/data"
rm -rf "$2"
"""
"""Waits until its input ends, which is when the tests end, however they do."""


def program(name: str) -> str:
    """Find a program of the newest PostgreSQL."""
    found = [path for pattern in _FOLDERS for path in Path("/").glob(f"{pattern}/{name}")]
    best = max(found, key=lambda path: int(re.findall(r"\d+", str(path))[0]), default=None)
    best = best or shutil.which(name)
    assert best, f"{name} is not installed: run ops/setup postgresql"
    return str(best)


class Cluster:
    """One server; `start` before use, `remove` at the end.

    When the tests are killed it ends with them, and its folder goes.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="cfm-pg-", dir=_SHORT))
        self._numbers = count(1)
        self._user = "nobody" if os.getuid() == 0 else None
        if self._user is not None:
            shutil.chown(self.folder, self._user)
        self._guard = subprocess.Popen(  # noqa: S603 - our own words
            ["/bin/sh", "-c", _GUARD, "guard", program("pg_ctl"), self.folder],
            user=self._user,
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def start(self, *settings: str) -> None:
        is_new = not self.data.exists()
        if is_new:
            self._run(
                program("initdb"),
                f"--pgdata={self.data}",
                "--username=postgres",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C.UTF-8",
                "--locale-provider=icu",
                "--icu-locale=en",
                "--no-sync",
                "--no-instructions",
            )
        options = {"max_connections": "60", "listen_addresses": "", "shared_buffers": "64MB"}
        given = (*_UNSAFE, *(f"{k}={v}" for k, v in options.items()), *settings)
        told = " ".join([f"-k {self.folder}", *(f"-c {setting}" for setting in given)])
        self._run(
            program("pg_ctl"),
            "start",
            "--wait",
            f"--pgdata={self.data}",
            f"--log={self.folder / 'log'}",
            f"--options={told}",
        )
        if is_new:
            self.sql(f"CREATE ROLE {USER} LOGIN CREATEROLE NOINHERIT")

    def stop(self, mode: str = "immediate") -> None:
        self._run(program("pg_ctl"), "stop", f"--mode={mode}", f"--pgdata={self.data}")

    def remove(self) -> None:
        """Let the guard stop it, if it runs, and take the folder away."""
        self._guard.communicate(timeout=_SECONDS)
        assert not self.folder.exists()

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def url(self, database: str, user: str = USER) -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def sql(self, statement: str, database: str = "postgres") -> list[tuple]:
        """Run a statement as the superuser."""
        with closing(psycopg.connect(self.url(database, "postgres"), autocommit=True)) as admin:
            found = admin.execute(statement)
            return found.fetchall() if found.description else []

    def make(self) -> str:
        """Make a database for the product's login, as the runbook has it; return its name."""
        name = self._new_name()
        self.sql(f"CREATE DATABASE {name}")
        self._open_to_the_login_alone(name)
        self.sql("REVOKE ALL ON SCHEMA public FROM PUBLIC", name)
        return name

    def copy(self, database: str) -> str:
        """Copy a database to which nobody is connected; return the copy's name."""
        name = self._new_name()
        self.sql(f"CREATE DATABASE {name} TEMPLATE {database}")
        self._open_to_the_login_alone(name)
        return name

    def put_back(self, database: str, to: str) -> None:
        """Make *to*, or make it anew, as *database* is; nobody is connected to it any more."""
        self.drop(to)
        self.sql(f"CREATE DATABASE {to} TEMPLATE {database} STRATEGY file_copy")
        self._open_to_the_login_alone(to)

    def drop(self, database: str) -> None:
        self.sql(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")

    def _open_to_the_login_alone(self, name: str) -> None:
        self.sql(f"REVOKE ALL ON DATABASE {name} FROM PUBLIC")
        self.sql(f"GRANT CONNECT, CREATE ON DATABASE {name} TO {USER}")

    def _new_name(self) -> str:
        # A process of a test may make some, too.
        return f"t{os.getpid()}_{next(self._numbers)}"

    def _run(self, *command: str) -> None:
        done = subprocess.run(  # noqa: S603 - our own words
            command,
            user=self._user,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if command[1] != "start" else subprocess.DEVNULL,
            stderr=subprocess.STDOUT if command[1] != "start" else subprocess.DEVNULL,
            check=False,
        )
        said = done.stdout or b""
        assert b"ICU is not supported" not in said, "the tests need a PostgreSQL built with ICU"
        log = self.folder / "log"
        assert done.returncode == 0, said or (log.read_text() if log.exists() else command)
