"""Memory does not grow with the store: many megabytes need no more than a few."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ...faults.power.survey import opened
from .acting import SECRET

STORE_BYTES = 33 * 1024 * 1024
MOST_BYTES = 24 * 1024 * 1024

_MEASURED = """
import json, sys
from codeflow_backup import cli, commands, key_commands, shelf_commands
def peak():
    # Not getrusage: its peak begins with that of the process that started this one.
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
before = peak()
ACT
print(json.dumps([code, peak() - before]))
"""
RUN = "code = cli.main(sys.argv[1:])"
READ_WHOLE = "code = len(open(sys.argv[1], 'rb').read()) == 0"


on_linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")


@pytest.fixture
def large(place):
    """A home whose first tenant has done very many operations."""
    with opened(place.home / "memory.sqlite") as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(
            """
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
            INSERT INTO receipts
            SELECT 'prn', 'op_' || (i * 7919 % 30011), lower(hex(randomblob(32))), 'create',
                   'mem', 1, hex(randomblob(500)), i
              FROM n
            """
        )
    assert (place.home / "memory.sqlite").stat().st_size >= STORE_BYTES
    return place


def grown(*arguments, act=RUN):
    """Run a command in a process of its own; return how much memory it took beyond its start."""
    done = subprocess.run(  # noqa: S603 - this interpreter, no shell
        [sys.executable, "-I", "-c", _MEASURED.replace("ACT", act), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
    )
    code, size = json.loads(done.stdout.splitlines()[-1])
    assert code == 0, done.stderr
    return size


@pytest.mark.slow
@on_linux
def test_a_large_store_takes_little_memory_whatever_is_done_with_it(large, empty, tmp_path):
    key, target = tmp_path / "key", tmp_path / "b.cfmb"
    key.write_bytes(SECRET.data)
    commands = {
        "create": ("--home", large.home, "--to", target),
        "verify": (target,),
        "restore": (target, "--home", empty.home),
    }

    sizes = {name: grown(name, *more, "--keyfile", key) for name, more in commands.items()}

    print(f"memory beyond the start: {sizes}")  # noqa: T201 - what it reached
    assert all(size <= MOST_BYTES for size in sizes.values()), sizes
    assert empty.rows() == large.rows()


@on_linux
def test_the_measure_sees_a_file_that_is_read_whole(large):
    """Control."""
    assert grown(large.home / "memory.sqlite", act=READ_WHOLE) > MOST_BYTES
