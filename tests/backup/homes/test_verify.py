"""Verifying: three levels, three errors, and a manifest that does not tell the truth."""

import hashlib
import os
import subprocess
import sys
from dataclasses import replace

import pytest
from codeflow_backup import checks, databases, pages, verifying
from codeflow_backup.container import Reader, Writer
from codeflow_backup.errors import (
    DamagedError,
    InvalidKeyError,
    MissingError,
    UnknownVersionError,
    UnusableError,
    WrongKeyError,
)
from codeflow_backup.header import new_backup_id
from codeflow_backup.manifest import Manifest, Table
from codeflow_backup.plaintext import read_files, read_manifest
from codeflow_backup.progress import unwatched
from codeflow_backup.slots import prepare
from codeflow_backup.verifying import Level

from ...faults.power.survey import opened
from .acting import NEEDLE, OTHER_SECRET, SECRET, empty_an_index


def verify(path, *secrets, level=None):
    return verifying.verify(path, secrets, level, unwatched)


def rewritten(path, target, change):
    """Write the backup again, with its key, after *change* of its manifest and contents."""
    with path.open("rb") as file:
        reader = Reader(file)
        payload = reader.unlock([SECRET])
        found = read_manifest(payload)
        contents: dict[str, bytes] = {}
        for part, piece in read_files(payload, found):
            contents[part.name] = contents.get(part.name, b"") + piece
    files = change([replace(part) for part in found.files], contents)
    made = Manifest(tuple(files))
    with target.open("xb") as file:
        writer = Writer(file, replace(reader.core, backup_id=new_backup_id()), [prepare(SECRET)])
        writer.write(made.prologue())
        for part in files:
            writer.write(contents[part.name])
        writer.write(made.trailer())
        writer.finish()
    return target


def test_without_a_key_a_deeper_level_is_refused(backup):
    with pytest.raises(InvalidKeyError):
        verify(backup, level=Level.CHUNKS)


def test_what_is_not_there_or_no_file_is_told_apart(tmp_path):
    with pytest.raises(MissingError):
        verify(tmp_path / "absent")
    with pytest.raises(UnusableError):
        verify(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnusableError):
        verify(tmp_path / "pipe")


def test_a_wrong_key_damage_and_an_unknown_version_are_three_errors(backup, tmp_path):
    raw = backup.read_bytes()
    damaged, unknown = tmp_path / "d", tmp_path / "u"
    damaged.write_bytes(raw[:-200] + bytes([raw[-200] ^ 1]) + raw[-199:])
    at = raw.index(b'"format":') + len(b'"format":')
    unknown.write_bytes(raw[:at] + b"7" + raw[at + 1 :])

    with pytest.raises(WrongKeyError):
        verify(backup, OTHER_SECRET)
    with pytest.raises(DamagedError):
        verify(damaged, SECRET)
    with pytest.raises(UnknownVersionError, match="7"):
        verify(unknown, SECRET)


def test_the_deepest_level_is_the_default_and_each_says_what_it_found(backup):
    deepest, structure = verify(backup, SECRET), verify(backup)

    assert (deepest.level, structure.level) == (Level.CONTENT, Level.STRUCTURE)
    assert deepest.manifest is not None
    assert structure.manifest is None
    assert verify(backup, SECRET, level=Level.CHUNKS).manifest == deepest.manifest


@pytest.mark.parametrize(
    "name",
    [
        "../key",
        "hook.json",
        "tenants/birch/key",
        "tenants/local/memory.sqlite",
        "memory.sqlite-wal",
    ],
)
def test_a_file_that_no_home_has_is_refused(backup, tmp_path, name):
    def change(files, contents):
        contents[name] = contents["key"]
        return [replace(file, name=name) if file.name == "key" else file for file in files]

    if ".." in name:
        with pytest.raises(DamagedError):
            rewritten(backup, tmp_path / "t", change)
        return
    with pytest.raises(UnusableError):
        verify(rewritten(backup, tmp_path / "t", change), SECRET)


def test_a_database_under_another_tenants_name_is_refused(backup, tmp_path):
    def change(files, contents):
        contents["tenants/larch/memory.sqlite"] = contents["tenants/birch/memory.sqlite"]
        return [
            replace(file, name="tenants/larch/memory.sqlite") if "birch" in file.name else file
            for file in files
        ]

    with pytest.raises(UnusableError):
        verify(rewritten(backup, tmp_path / "t", change), SECRET)


def lies(database):
    """Every way in which a manifest can say something else of a database."""
    table = Table(database.tables["memories"].rows + 1, database.tables["memories"].sha256)
    other = Table(database.tables["memories"].rows, "0" * 64)
    yield replace(database, instance_id="f" * 32)
    yield replace(database, generation=database.generation + 1)
    yield replace(database, fingerprint="0" * 64)
    yield replace(database, audit_count=database.audit_count - 1)
    yield replace(database, audit_head="0" * 64)
    yield replace(database, tables=database.tables | {"memories": table})
    yield replace(database, tables=database.tables | {"memories": other})
    yield replace(database, tables={k: v for k, v in database.tables.items() if k != "jobs"})


def test_each_thing_that_a_manifest_says_of_a_database_is_compared(backup, tmp_path):
    first = verify(backup, SECRET).manifest.files[0]
    found = list(lies(first.database))
    for number, lie in enumerate(found):

        def change(files, _contents, lie=lie):
            return [replace(files[0], database=lie), *files[1:]]

        path = rewritten(backup, tmp_path / str(number), change)
        assert verify(path, SECRET, level=Level.CHUNKS).level is Level.CHUNKS
        with pytest.raises(DamagedError):
            verify(path, SECRET)

    assert len(found) == 8


@pytest.mark.parametrize(
    "lie", [{"schema_version": 1}, {"schema_version": 99}, {"ddl_sha256": "0" * 64}]
)
def test_a_schema_that_this_program_does_not_know_is_refused(backup, tmp_path, lie):
    def change(files, _contents):
        return [replace(files[0], database=replace(files[0].database, **lie)), *files[1:]]

    path = rewritten(backup, tmp_path / "t", change)

    with pytest.raises(UnusableError, match="schema"):
        verify(path, SECRET)


def crafted(path, target, folder, craft):
    """Write a backup whose first database is what *craft* made of it, with a manifest to fit."""

    def change(files, contents):
        database = folder / "crafted.sqlite"
        database.write_bytes(contents[files[0].name])
        craft(database)
        content = contents[files[0].name] = database.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        return [replace(files[0], bytes=len(content), sha256=digest), *files[1:]]

    return rewritten(path, target, change)


def schema_of(sql):
    def craft(path):
        with opened(path) as connection:
            for _ in connection.execute(f"PRAGMA writable_schema = ON; {sql}"):
                pass

    return craft


CRAFTS = {
    "trigger": schema_of("CREATE TRIGGER t AFTER UPDATE ON store BEGIN DELETE FROM memories; END"),
    "view": schema_of("CREATE VIEW v AS SELECT load_extension('x')"),
    "virtual table": schema_of("CREATE VIRTUAL TABLE v USING fts5 (x)"),
    "index on an expression": schema_of("CREATE INDEX i ON audit (abs(at))"),
    "odd statement": schema_of(
        "INSERT INTO sqlite_schema VALUES ('table', 'x', 'x', 2, 'CREATE TABLE x (')"
    ),
    "no database": lambda path: path.write_bytes(b"SQLite format 4\0" + bytes(4096)),
    "nothing": lambda path: path.write_bytes(b""),
    "huge page": lambda path: path.write_bytes(
        path.read_bytes()[:16] + b"\x00\x01" + path.read_bytes()[18:]
    ),
    "index without rows": empty_an_index,
    "cut": lambda path: path.write_bytes(path.read_bytes()[:8192]),
    "WAL mode": lambda path: path.write_bytes(
        path.read_bytes()[:18] + b"\2\2" + path.read_bytes()[20:]
    ),
}


@pytest.mark.parametrize("craft", CRAFTS)
def test_a_crafted_database_is_refused_though_the_container_is_sound(
    backup, tmp_path, empty, craft
):
    path = crafted(backup, tmp_path / "t", tmp_path, CRAFTS[craft])
    assert verify(path, SECRET, level=Level.CHUNKS).level is Level.CHUNKS

    with pytest.raises((UnusableError, DamagedError)):
        verify(path, SECRET)
    with pytest.raises((UnusableError, DamagedError)):
        empty.restore(path)

    assert {each.name for each in empty.home.iterdir()} <= {"lock", "server"}


DAMAGES = {
    "belongs to another": "UPDATE projects SET repository_id = 'x' WHERE rowid = 1",
    "term belongs to no": "UPDATE memory_terms SET memory_id = 'x' WHERE memory_id = ("
    " SELECT memory_id FROM memory_terms LIMIT 1)",
    "list of terms belongs": "UPDATE memory_term_lists SET memory_id = 'x' WHERE rowid = 1",
    "has no list": "DELETE FROM memory_term_lists WHERE rowid = 1",
    "listed term is missing": "UPDATE memory_terms SET term = 'zzz' WHERE (term, form, memory_id) ="
    " (SELECT term, form, memory_id FROM memory_terms LIMIT 1)",
    "term is in no list": "INSERT INTO memory_terms"
    " SELECT scope_id, 'zzz', form, memory_id, 1, 1, 1 FROM memory_terms LIMIT 1",
    "edge belongs to no": "UPDATE relationships SET memory_revision = 99",
    "edge leads nowhere": "UPDATE relationships SET target = 99",
    "entity has no edge": "INSERT INTO entities SELECT repository_id, 99, project_id, 'run', 'x'"
    " FROM entities LIMIT 1",
    "counters": "UPDATE scopes SET live_entries = live_entries + 1 WHERE rowid = 1",
    "text is not": "UPDATE memories SET content = content || ' ' WHERE content IS NOT NULL",
    "breaks at row 2": "UPDATE audit SET previous_hash = 'x' WHERE sequence = 2",
    "last rows": "DELETE FROM audit WHERE sequence = (SELECT MAX(sequence) FROM audit)",
}


def checked(path):
    with opened(path) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        checks.check_content(connection, "memory.sqlite")


@pytest.mark.parametrize("fault", DAMAGES)
def test_rows_that_disagree_are_found(place, fault):
    path = place.home / "memory.sqlite"
    checked(path)
    with opened(path) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(DAMAGES[fault])
        assert connection.changes() > 0

    with pytest.raises(DamagedError, match=fault):
        checked(path)


def test_a_database_in_a_container_cannot_be_written_and_makes_no_file(backup, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    with backup.open("rb") as file:
        payload = Reader(file).unlock([SECRET])
        found = read_manifest(payload)
        start = found.offsets()[0]

        def read(length, offset):
            return payload.read(length, start + offset)

        with pages.opened(read, found.files[0].bytes) as connection:
            with pytest.raises(UnusableError), databases.translated("memory.sqlite"):
                connection.execute("DELETE FROM audit")
            titles = connection.execute("SELECT title FROM memories ORDER BY title").fetchall()

    assert ("The needle",) in titles
    assert sorted(tmp_path.rglob("*")) == before


_WATCHED = """
import sys
from pathlib import Path
from codeflow_backup.cli import main
opened = []
def watch(event, arguments):
    if event == "open" and isinstance(arguments[2], int) and arguments[2] & 0o1103:
        opened.append(str(arguments[0]))
    if event in {"os.mkdir", "os.rename", "os.link", "socket.connect", "subprocess.Popen"}:
        opened.append(event)
sys.addaudithook(watch)
code = main(["verify", sys.argv[1], "--keyfile", sys.argv[2], "--json"])
print(code, opened)
"""


def test_whatever_the_level_nothing_is_written_anywhere(backup, tmp_path):
    key = tmp_path / "key"
    key.write_bytes(SECRET.data)

    done = subprocess.run(  # noqa: S603 - this interpreter, no shell
        [sys.executable, "-I", "-B", "-c", _WATCHED, backup, key],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.splitlines()[-1] == "0 []"
    assert '"level": 2' in done.stdout
    assert NEEDLE not in done.stdout
