"""Homes that were filled through the services, and the command as a process of its own."""

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage.home import Home

from ...conftest import Clock, World
from .acting import NEEDLE, Place, fill


@pytest.fixture(scope="session")
def filled(tmp_path_factory) -> Path:
    """A filled home with the tenants ``local`` and ``birch``; only copied."""
    home = Home(tmp_path_factory.mktemp("filled") / "home")
    home.make()
    clock = Clock()
    tenants = Tenants(home, now=clock, random_bytes=Random(7).randbytes)  # noqa: S311 - repeatable on purpose
    tenants.create("local")
    fill(World(tenants, clock))
    tenants.create("birch")
    tenants.close()
    return home.path


@pytest.fixture
def place(filled, tmp_path, clock) -> Place:
    """A copy of `filled` that nothing uses."""
    return Place(filled, clock).copy(tmp_path / "home")


@pytest.fixture
def empty(tmp_path, clock) -> Place:
    """A home that does not exist yet."""
    return Place(tmp_path / "elsewhere" / "home", clock)


@pytest.fixture
def backup(place, tmp_path):
    """A backup of `place`."""
    target = tmp_path / "b.cfmb"
    place.back_up(target)
    return target


@pytest.fixture
def command():
    """Run ``codeflow-backup``; returns its exit code, and what it wrote on stdout and stderr."""

    def run(*arguments, code=0):
        done = subprocess.run(  # noqa: S603 - this program, no shell
            [sys.executable, "-I", "-W", "error", "-m", "codeflow_backup", *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert "Traceback" not in done.stderr + done.stdout, done.stderr
        assert NEEDLE not in done.stderr + done.stdout
        assert done.returncode == code, done.stderr
        return done

    return run
