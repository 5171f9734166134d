"""A restore into a database server that is killed: all that stood, or all that the backup held."""

import json
import os
import subprocess
import sys
from contextlib import closing
from random import Random

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import UnauthenticatedError
from codeflow_memory.services import restoration
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage.databases import of
from codeflow_memory.storage.home import Home
from codeflow_memory.storage.restoration import stands

from ..backup.homes.test_databases import back_up, begin, held, restore, used
from ..conftest import Clock, World
from ..kept import Kept

KILLS = 50 if os.environ.get("CODEFLOW_LONG") == "1" else 7
"""So many until the swap begins, and as many from there to the end."""

PROGRAM = """
import json, os, signal, sys
from pathlib import Path
from codeflow_backup import home as homes
from codeflow_backup import restoring
from codeflow_backup.keys import KeyFile
from codeflow_backup.progress import unwatched
from codeflow_memory.services import backups, restoration
from codeflow_memory.storage import staging
from codeflow_memory.storage.home import Home

path, server, backup, at = json.loads(sys.argv[1])
count, swaps = 0, []

def counted(frame, event, _):
    global count
    if event == "call" and "/codeflow_memory/" in frame.f_code.co_filename:
        count += 1
        if frame.f_code.co_name in {"finish", "install"}:
            swaps.append(count)
        if count == at:
            os.kill(os.getpid(), signal.SIGKILL)

home, secret = Home(Path(path), server), KeyFile(bytes(range(32)))
sys.setprofile(counted)
with home.exclusive():
    restoration.resume(home)
    with staging.folder(home, staging.INCOMING) as folder:
        place = homes.Home(folder.home.path)
        restoring.restore(Path(backup), place, [secret], unwatched, replace=False)
        backups.take_in(home, folder.home)
sys.setprofile(None)
print(json.dumps([*swaps, count]))
"""


def killed_at(home, backup, at):
    """Restore, and kill the process at its *at*-th call; at 0, tell at which the swap begins, at
    which each database takes its place, and how many there are.
    """
    told = json.dumps([str(home.path), home.server, str(backup), at])
    done = subprocess.run(  # noqa: S603 - this interpreter, no shell
        [sys.executable, "-I", "-c", PROGRAM, told],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == (0 if at == 0 else -9), done.stderr
    return json.loads(done.stdout) if at == 0 else None


def spread(first, last):
    return [first + k * (last - first) // (KILLS - 1) for k in range(KILLS)]


@pytest.fixture
def source(tmp_path):
    return Home(tmp_path / "source")


@pytest.fixture
def target(tmp_path, cluster):
    """A home with another key, whose tenants have the names of those of the backup."""
    name = cluster.make()
    home = Home(tmp_path / "target", cluster.url(name))
    home.make()
    yield home
    cluster.drop(name)


@pytest.fixture
def kept(tmp_path, cluster):
    made = Kept(tmp_path / "kept", cluster)
    yield made
    made.drop()


def make_others(home, clock):
    """Make the tenants that are replaced; return a token of a person."""
    with closing(Tenants(home, now=clock, random_bytes=Random(9).randbytes)) as tenants:  # noqa: S311 - repeatable on purpose
        for slug in ("local", "birch"):
            tenants.create(slug)
        world = World(tenants, clock)
        world.project()
        return world.token("eve", Role.OWNER).text


def whole(home):
    """The databases of a home, and the key under which their tokens are."""
    return held(home), (home.path / "key").read_bytes()


def finished(home):
    """Do what the next command does first; return what then is there."""
    with home.exclusive():
        restoration.resume(home)
    return whole(home)


@pytest.mark.slow
def test_wherever_a_restore_is_killed_all_of_it_is_done_or_nothing(source, target, kept, tmp_path):
    clock, backup = Clock(), tmp_path / "b.cfmb"
    person, _ = begin(source, clock)
    back_up(source, backup)
    other = make_others(target, clock)
    before, after = whole(target), whole(source)
    assert before[1] != after[1]
    kept.keep(target, "before")
    swap, *rest = killed_at(target, backup, 0)
    assert whole(target) == after
    met = set()

    for at in [*spread(1, swap), *spread(swap, rest[-1]), *rest[:-1]]:
        kept.lay("before", target)
        killed_at(target, backup, at)

        stood, found = stands(target), held(target)
        assert found.keys() == before[0].keys(), at
        new = tuple(found[slug] == after[0][slug] for slug in ("local", "birch"))
        assert all(
            n or found[s] == before[0][s] for n, s in zip(new, ("local", "birch"), strict=True)
        )
        met.add((stood, *new))
        assert finished(target) == (after if stood else before), at
        with used(target, clock) as tenants:
            world = World(tenants, clock)
            assert world.sign_in(person if stood else other)
            with pytest.raises(UnauthenticatedError):
                world.sign_in(other if stood else person)
        assert restore(target, backup, replace=True) is None
        assert whole(target) == after
        assert not list(target.path.glob(".restore-*"))
        with closing(of(target)) as databases:
            assert [left for left in databases.earlier() if not left.retired] == []

    # Control: it was met before the swap, in its beginning, between two tenants, and behind both.
    assert met == {
        (False, False, False),
        (True, False, False),
        (True, True, False),
        (True, True, True),
    }
