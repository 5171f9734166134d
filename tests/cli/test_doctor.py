"""``doctor``: says what is wrong and what to do, changes nothing."""

import hashlib
import os
import sqlite3
from contextlib import closing

import pytest

from codeflow_memory.storage.home import Home


def states(done):
    return {check["name"]: check["state"] for check in done.json["checks"]}


def test_a_home_that_is_not_there_is_a_fault(cli, home):
    done = cli("doctor", "--json")

    assert (done.code, states(done)) == (1, {"home": "fault"})
    assert not home.exists()


@pytest.mark.parametrize("name", ["server", "operations.json"])
def test_a_pipe_in_the_home_holds_up_nobody(cli, home, name):
    cli("tenant", "create", "birch").ok()
    (home / name).unlink(missing_ok=True)
    os.mkfifo(home / name, 0o600)

    assert cli("doctor", "--json").code in {0, 7}
    assert "last_backup" in cli("status", "--json").ok().json["operations"]


@pytest.mark.parametrize(
    ("spoil", "name", "code"),
    [
        (lambda home: (home / "key").chmod(0o644), "modes", 7),
        (lambda home: home.chmod(0o755), "home", 7),
        (lambda home: (home / "key").unlink(), "key", 1),
        (lambda home: (home / "key").write_bytes(b"short"), "key", 1),
        (lambda home: (home / "token").write_text("nonsense"), "token", 7),
        (lambda home: (home / "memory.json").write_text("{}"), "import", 1),
        (lambda home: (home / "config.toml").write_text("x = 1"), "configuration", 1),
        (
            lambda home: (home / "config.toml").write_text('[repositories]\nroots = ["/absent"]'),
            "roots",
            7,
        ),
    ],
)
def test_each_thing_that_is_wrong_is_named_with_its_fix(cli, home, spoil, name, code):
    cli("tenant", "create", "birch").ok()
    spoil(home)
    if (home / "config.toml").exists():
        (home / "config.toml").chmod(0o600)

    done = cli("doctor", "--json")

    wrong = [c for c in done.json["checks"] if c["state"] != "ok"]
    assert done.code == code
    assert name in {c["name"] for c in wrong}
    assert all(c["fix"] for c in wrong)


def test_a_home_of_which_git_is_not_found_is_warned_of(cli, tmp_path):
    cli("tenant", "create", "birch").ok()

    done = cli("doctor", "--json", PATH=str(tmp_path))

    assert (done.code, states(done)["git"]) == (7, "warning")
    assert "install git" in next(c["fix"] for c in done.json["checks"] if c["name"] == "git")
    assert states(cli("doctor", "--json").ok())["git"] == "ok"


def test_a_ballast_that_is_missing_or_spent_is_warned_of(cli, home):
    cli("tenant", "create", "birch").ok()
    assert states(cli("doctor", "--json"))["ballast"] == "ok"
    (home / "ballast").write_bytes(b"")
    assert states(cli("doctor", "--json"))["ballast"] == "warning"
    (home / "ballast").unlink()

    assert states(cli("doctor", "--json"))["ballast"] == "warning"


def test_a_home_without_a_database_is_warned_of(cli, home):
    home.mkdir(mode=0o700)

    done = cli("doctor", "--json")

    assert (done.code, states(done)["databases"]) == (7, "warning")


def test_a_home_that_something_holds_alone_is_warned_of(cli, home):
    cli("tenant", "create", "birch").ok()
    with Home(home).exclusive():
        done = cli("doctor", "--json")

    assert (done.code, states(done)["lock"]) == (7, "warning")


def alter(home, statement):
    """Change the database behind the program's back."""
    with closing(sqlite3.connect(home / "memory.sqlite")) as database, database:
        assert database.execute(statement).rowcount > 0


def test_an_index_that_says_otherwise_than_its_entries_is_a_fault(cli, home, repository):
    cli("learn", repository.path).ok()
    assert states(cli("doctor", "--json").ok())["database local"] == "ok"
    alter(home, "UPDATE scopes SET live_entries = live_entries + 1")

    done = cli("doctor", "--json")

    assert (done.code, states(done)["index local"]) == (1, "fault")


def test_an_audit_that_somebody_rewrote_is_a_fault_and_its_verification_fails(cli, home):
    cli("tenant", "create", "birch").ok()
    sound = cli("audit", "verify", "--json").ok().json
    alter(home, "UPDATE audit SET item = 'somebody' WHERE sequence = 2")

    done = cli("doctor", "--json")
    verified, told = cli("audit", "verify", "--json"), cli("audit", "verify")

    assert (done.code, states(done)["audit local"]) == (1, "fault")
    assert (verified.code, told.code) == (1, 1)
    assert "broken at row 2" in told.out
    assert verified.json["fault"]["sequence"] == 2
    assert verified.json | {"fault": None, "sound": True} == sound
    assert cli("audit", "verify", "--tenant", "birch").code == 0


@pytest.mark.parametrize("role", ["maintainer", "operator"])
def test_who_is_no_owner_verifies_no_audit(cli, role):
    made = cli(
        "token", "create", "--kind", "user", "--role", role, "--principal", "max", "--json"
    ).ok()

    done = cli("audit", "verify", CODEFLOW_TOKEN=made.json["token"])

    assert (done.code, done.out) == (3, "")
    assert done.err.endswith("[forbidden]\n")


def test_the_configuration_that_the_variable_names_is_the_one_that_counts(cli, home, tmp_path):
    cli("tenant", "create", "birch").ok()
    (home / "config.toml").write_text("x = 1")
    (home / "config.toml").chmod(0o600)
    file = tmp_path / "other.toml"
    file.write_text("[limits]\nfailed_sign_ins = 3\n")

    done = cli("doctor", "--json", CODEFLOW_CONFIG=str(file)).ok()

    found = next(c for c in done.json["checks"] if c["name"] == "configuration")
    assert (found["state"], found["detail"]) == ("ok", f"{file} read")
    file.write_text("x = 1")
    wrong = cli("doctor", "--json", CODEFLOW_CONFIG=str(file))
    assert (wrong.code, states(wrong)["configuration"]) == (1, "fault")
    assert cli("tenant", "list", CODEFLOW_CONFIG=str(file)).code == 2


def test_a_damaged_database_is_a_fault_and_is_not_written_to(cli, home):
    cli("tenant", "create", "birch").ok()
    path = home / "tenants" / "birch" / "memory.sqlite"
    data = bytearray(path.read_bytes())
    for page in range(1, 12):
        data[page * 4096 : page * 4096 + 200] = b"\xa5" * 200
    path.write_bytes(data)
    before = hashlib.sha256(path.read_bytes()).hexdigest()

    done = cli("doctor", "--json")

    assert done.code == 1
    assert states(done)["database birch"] == "fault"
    assert states(done)["database local"] == "ok"
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before


def test_a_sound_home_is_well_beside_its_server_and_without_it(cli, serve):
    server = serve()
    beside = cli("doctor", "--json").ok()
    assert server.url in next(c["detail"] for c in beside.json["checks"] if c["name"] == "server")
    server.stop()

    assert set(states(cli("doctor", "--json").ok()).values()) == {"ok"}


def test_rows_from_before_another_key_are_said_to_be_checked_for_order_alone(cli, home):
    cli("tenant", "create", "birch").ok()
    sound = cli("audit", "verify", "--tenant", "birch", "--json").ok().json
    assert (sound["sound"], sound["order_only"]) == (True, 0)

    (home / "key").write_bytes(b"k" * 32)
    moved = cli("audit", "verify", "--tenant", "birch", "--json").ok().json
    said = cli("audit", "verify", "--tenant", "birch").ok().out

    assert (moved["sound"], moved["order_only"]) == (True, sound["rows"])
    assert f"rows 1 to {sound['rows']} are from an earlier key" in said
    details = {c["name"]: c["detail"] for c in cli("doctor", "--json").json["checks"]}
    assert "from an earlier key, by order alone" in details["database birch"]


def test_a_server_makes_no_new_key_beside_a_database(cli, home):
    cli("tenant", "create", "birch").ok()
    (home / "key").unlink()

    done = cli("audit", "verify", "--tenant", "birch")

    assert done.code != 0
    assert "restore it from a backup" in done.err
    assert not (home / "key").exists()


def test_the_table_has_every_finding_and_every_fix_whole(cli, home):
    """In columns: what goes on in the next line stands under where it began."""
    cli("tenant", "create", "birch").ok()
    (home / "token").write_text("nonsense")
    (home / "memory.json").write_text("{}")
    checks = cli("doctor", "--json").json["checks"]

    lines = cli("doctor").out.splitlines()

    places = [lines[0].index(title) for title in ("STATE", "CHECK", "FOUND", "FIX")]
    columns = [
        " ".join(" ".join(line[begin:end] for line in lines[1:]).split())
        for begin, end in zip(places, [*places[1:], None], strict=True)
    ]
    assert any(len(check["fix"] or "") > 72 for check in checks)
    for name, column in zip(("state", "name", "detail", "fix"), columns, strict=True):
        assert column == " ".join(" ".join(check[name] or "" for check in checks).split())


def test_the_doctor_names_what_is_open_and_the_statement_that_closes_it(cli, own_cluster):
    cluster = own_cluster
    name = cluster.make()
    cluster.sql(f"GRANT CONNECT ON DATABASE {name} TO PUBLIC")
    cluster.sql("CREATE SCHEMA cfm_stray", name)
    cluster.sql("CREATE ROLE loose LOGIN CREATEROLE INHERIT CONNECTION LIMIT 5")
    cluster.sql(f"GRANT CREATE ON DATABASE {name} TO loose")
    cluster.sql("GRANT CREATE ON SCHEMA public TO PUBLIC", name)
    address = ("--database", cluster.url(name, "loose"))
    try:
        cli("tenant", "create", "birch", *address).ok()
        found = cli("doctor", "--json", *address)
        fixes = [c["fix"] for c in found.json["checks"] if c["fix"]]
        for fix in fixes:
            if fix.startswith(("ALTER ROLE", "REVOKE")):
                cluster.sql(fix, name)
        cluster.sql("DROP SCHEMA cfm_stray", name)
        cluster.sql("ALTER ROLE loose CONNECTION LIMIT -1")
        cluster.sql(f"GRANT CONNECT ON DATABASE {name} TO loose")
        after = cli("doctor", "--json", *address)
    finally:
        cluster.drop(name)
        cluster.sql("DROP ROLE IF EXISTS loose, cfm_birch, cfm_local")

    wrong = {c["name"] for c in found.json["checks"] if c["state"] != "ok"}
    assert found.code == 7
    assert wrong == {"login", "public", "connections", "durability", "schemas"}
    assert f'REVOKE ALL ON DATABASE "{name}" FROM PUBLIC' in fixes
    assert "REVOKE ALL ON SCHEMA public FROM PUBLIC" in fixes
    assert 'ALTER ROLE "loose" NOINHERIT' in fixes
    left = {c["name"] for c in after.json["checks"] if c["state"] != "ok"}
    assert left == {"durability"}


def test_the_doctor_says_that_the_server_is_away_and_looks_at_the_rest(cli):
    cli("tenant", "create", "birch").ok()

    done = cli("doctor", "--json", "--database", "postgresql://codeflow@127.0.0.1:1/d")

    assert done.code == 1
    assert "cannot be reached" in done.checks["engine"]["detail"]
    assert "git" in done.checks
