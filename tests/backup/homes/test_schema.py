"""The schemas that the backup knows are those that the migrations make."""

from codeflow_backup import fingerprint, schema

from codeflow_memory.storage import fingerprint as served
from codeflow_memory.storage import migrate
from codeflow_memory.storage.engine import APPLICATION_ID
from codeflow_memory.storage.sqlite import SQLiteEngine

from ...faults.power.survey import opened


def test_every_schema_that_the_migrations_lead_through_is_known(tmp_path):
    made = {}
    engine = SQLiteEngine(tmp_path / "memory.sqlite")
    engine.create()
    for migration in migrate.all_migrations():
        engine.script(
            migrate.script_of([migration]),
            user_version=migration.number,
            record=migrate.recorder([migration]),
        )
        engine.close()
        with opened(engine.path) as connection:
            made[migration.number] = schema.digest(connection)

    assert made == schema.KNOWN, f"codeflow_backup/schema.py: KNOWN should be {made}"
    assert schema.APPLICATION_ID == APPLICATION_ID


def test_the_backup_and_the_server_compute_one_fingerprint(place):
    with opened(place.home / "memory.sqlite") as connection:
        connection.execute("UPDATE memories SET updated_at = -9223372036854775808")
        mine = fingerprint.of_tables(connection)
    with place.started() as tenants, tenants.get("local").engine.read() as tx:
        theirs = served.of_tables(tx)

    assert {t.name: (t.rows, t.digest.hex()) for t in theirs} == {
        name: (table.rows, table.sha256) for name, table in mine.items()
    }
    assert fingerprint.combined(mine) == served.combined(theirs)


def test_values_of_every_type_have_one_fingerprint_on_both_sides(tmp_path):
    engine = SQLiteEngine(tmp_path / "memory.sqlite")
    engine.create()
    with opened(engine.path) as connection:
        for _ in connection.execute(
            """
            CREATE TABLE "odd ""name" (b TEXT NOT NULL, "a b" REAL, c BLOB, d ANY,
                                       PRIMARY KEY (b, c)) STRICT;
            CREATE TABLE keyless (a);
            CREATE TABLE z (k INTEGER PRIMARY KEY, v ANY) STRICT, WITHOUT ROWID;
            """
        ):
            pass
        values = [None, 0, -1, 2**63 - 1, -0.0, 1e300, "", "ä\0😀", b"", b"\xff\0"]
        for number, value in enumerate(values):
            connection.execute(
                'INSERT INTO "odd ""name" VALUES (?, ?, ?, ?)',
                (f"Ä{number % 3}", 0.5 * number, bytes([255 - number]), value),
            )
            connection.execute("INSERT INTO keyless VALUES (?)", (value,))
            connection.execute("INSERT INTO z VALUES (?, ?)", (-number, value))
        mine = fingerprint.of_tables(connection)
    with engine.read() as tx:
        theirs = served.of_tables(tx)
    engine.close()

    assert list(mine) == ["keyless", 'odd "name', "z"]
    assert [(t.name, t.rows, t.digest.hex()) for t in theirs] == [
        (name, table.rows, table.sha256) for name, table in mine.items()
    ]
