"""A move that is killed: no tenant is lost, none is in two places, and doing it again ends it."""

import json
import subprocess
import sys
from contextlib import closing

import pytest

from codeflow_memory.services import moving
from codeflow_memory.storage.databases import of
from codeflow_memory.storage.home import Home

from ..services.test_moving import begin, held, move

KILLS = 10
"""In each direction: so many over the whole move, and as many from when the source is put aside."""

PROGRAM = """
import json, os, signal, sys
from pathlib import Path
from codeflow_memory.services import moving
from codeflow_memory.storage.home import Home

home, server, to, to_server, at = json.loads(sys.argv[1])
count, aside = 0, []

def counted(frame, event, _):
    global count
    if event == "call" and "/codeflow_memory/" in frame.f_code.co_filename:
        count += 1
        if frame.f_code.co_name == "_move" or frame.f_code.co_name == "put_aside":
            aside.append(count)
        if count == at:
            os.kill(os.getpid(), signal.SIGKILL)

ends = Home(Path(home), server), Home(Path(to), to_server)
sys.setprofile(counted)
with moving.opened(*ends, "birch") as found:
    if found.cut_off:
        moving.finish(found)
    else:
        moving.confirm(found, moving.prepare(found))
sys.setprofile(None)
print(json.dumps([aside[0], count]))
"""


def killed_at(home, to, at):
    """Move, and kill the process at its *at*-th call; at 0, tell at which it puts the source aside,
    and how many there are.
    """
    told = json.dumps([str(home.path), home.server, str(to.path), to.server, at])
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
def ends(tmp_path, cluster):
    name = cluster.make()
    yield Home(tmp_path / "home"), Home(tmp_path / "home", cluster.url(name))
    cluster.drop(name)


@pytest.mark.slow
def test_wherever_a_move_is_killed_the_next_one_ends_it(ends):
    begin(ends[0])
    before = held(ends[0])
    directions = (ends, ends[::-1])
    places = []
    for home, to in directions:
        aside, last = killed_at(home, to, 0)
        places.append(spread(1, aside) + spread(aside, last))
    outcomes = set()
    for pair in zip(*places, strict=True):
        for (home, to), at in zip(directions, pair, strict=True):
            killed_at(home, to, at)

            here, there = held(home), held(to)
            assert (here, there) in {(before, None), (None, before), (None, None)}, at
            outcomes.add((here is None, there is None))
            if moving.find_done(home, to, "birch") is None:
                move(home, to)
            assert moving.find_done(home, to, "birch"), at
            assert (held(home), held(to)) == (None, before), at
            with closing(of(to)) as databases:
                assert [kept.name for kept in databases.earlier() if not kept.retired] == []

    # Control: it was met before the source was put aside, after the copy stood, and between.
    assert outcomes == {(False, True), (True, True), (True, False)}
