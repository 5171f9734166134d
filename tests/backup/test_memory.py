"""Memory stays the same, whatever the size of a backup."""

import subprocess
import sys

from .containers import BACKUP

SECONDS = 120
MIB = 1024 * 1024

_MEASURED = """
import sys
from hashlib import sha256
from pathlib import Path
from codeflow_backup.ciphers import Suite
from codeflow_backup.container import Reader, Writer
from codeflow_backup.header import Core, new_backup_id, new_nonce_prefix
from codeflow_backup.keys import KeyFile
from codeflow_backup.manifest import Database, File, Manifest, Table
from codeflow_backup.plaintext import read_files, read_manifest
from codeflow_backup.slots import prepare

EMPTY = sha256(b"").hexdigest()
path, key, mib = Path(sys.argv[1]), KeyFile(b"k" * 32), int(sys.argv[3])
core = Core(Suite.AES_256_GCM, new_backup_id(), new_nonce_prefix(), "i", 1, 1, 1, "1")
if sys.argv[2] == "write":
    with path.open("wb") as file:
        writer = Writer(file, core, [prepare(key)])
        for _ in range(mib):
            writer.write(bytes(2**20))
        writer.finish()
elif sys.argv[2] == "chunks":
    with path.open("rb") as file:
        assert sum(map(len, Reader(file).unlock([key]).chunks())) == mib * 2**20
elif sys.argv[2] == "read":
    with path.open("rb") as file:
        payload = Reader(file).unlock([key])
        for at in range(0, payload.bytes, 30_000):
            payload.read(4096, at)
elif sys.argv[2] == "manifest":
    tables = {f"table_{n}": Table(n, "0" * 64) for n in range(40)}
    held = Database("local", "i", 1, 1, "0" * 64, tables, "0" * 64, 0, "")
    files = tuple(File(f"tenants/t{n}/memory.sqlite", 0, EMPTY, held) for n in range(mib))
    made = Manifest(files)
    with path.open("wb") as file:
        writer = Writer(file, core, [prepare(key)])
        writer.write(made.prologue() + made.trailer())
        writer.finish()
elif sys.argv[2] == "contents":
    with path.open("rb") as file:
        payload = Reader(file).unlock([key])
        found = read_manifest(payload)
        assert len(list(read_files(payload, found))) == mib
elif sys.argv[2] == "hold":
    held = b"x" * (mib * 2**20)
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
"""Says the peak of memory in KiB; of the process itself, where `getrusage` after an `exec` may say
what its parent had."""


def peak(tmp_path, what, mib):
    done = subprocess.run(  # noqa: S603 - this interpreter, no shell
        [sys.executable, "-c", _MEASURED, tmp_path / f"{mib}.cfmb", what, str(mib)],
        cwd=BACKUP,
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS,
    )
    return int(done.stdout) * 1024


def test_memory_does_not_grow_with_the_backup(tmp_path):
    for what in ("write", "chunks", "read"):
        assert peak(tmp_path, what, 96) - peak(tmp_path, what, 1) <= 8 * MIB, what
        assert peak(tmp_path, what, 96) - peak(tmp_path, "nothing", 0) <= 24 * MIB, what


def test_memory_is_bounded_for_the_longest_manifest(tmp_path):
    most = 470
    peak(tmp_path, "manifest", most)

    assert (tmp_path / f"{most}.cfmb").stat().st_size > 1.9 * MIB
    assert peak(tmp_path, "contents", most) - peak(tmp_path, "nothing", 0) <= 24 * MIB


def test_the_measure_sees_memory_that_is_held(tmp_path):
    assert peak(tmp_path, "hold", 96) - peak(tmp_path, "hold", 1) >= 64 * MIB
