"""A PostgreSQL of the tests' own: on a scratch folder, reached by its socket, by nobody else.

It must not run as root, so there it runs as ``nobody``. The product logs in as ``codeflow``, which
is no superuser and inherits nothing, as the runbook has it. Its words sort as people sort them, not
by bytes: whatever forgets the collation is noticed.
"""

import os
import shutil
import subprocess
import tempfile
from contextlib import closing
from itertools import count
from pathlib import Path

import psycopg

USER = "codeflow"
_UNSAFE = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
"""Nothing of it outlives the tests, and those of power loss are not about it."""


def program(name: str) -> str:
    """Find a program of the newest PostgreSQL: Debian's are not on the path."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name))
    found = shutil.which(name, path=os.pathsep.join(map(str, reversed(folders)))) or shutil.which(
        name
    )
    assert found, f"{name} is not installed: ops/setup postgresql"
    return found


class Cluster:
    """One server; `start` before use, `stop` at the end."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="cfm-pg-"))
        self._numbers = count(1)
        self._user = "nobody" if os.getuid() == 0 else None

    def start(self, *settings: str) -> None:
        if self._user is not None:
            shutil.chown(self.folder, self._user)
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
        self.stop()
        shutil.rmtree(self.folder)

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
        name = f"t{next(self._numbers)}"
        self.sql(f"CREATE DATABASE {name}")
        self.sql(f"REVOKE ALL ON DATABASE {name} FROM PUBLIC")
        self.sql(f"GRANT CONNECT, CREATE ON DATABASE {name} TO {USER}")
        self.sql("REVOKE ALL ON SCHEMA public FROM PUBLIC", name)
        return name

    def copy(self, database: str, to: str) -> None:
        """Make *to*, or make it anew, as *database* is; nobody is connected to it any more."""
        self.sql(f"DROP DATABASE IF EXISTS {to} WITH (FORCE)")
        self.sql(f"CREATE DATABASE {to} TEMPLATE {database} OWNER {USER} STRATEGY file_copy")

    def drop(self, database: str) -> None:
        self.sql(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")

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
        assert done.returncode == 0, done.stdout or (self.folder / "log").read_text()
