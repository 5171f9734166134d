"""``doctor``: says what is wrong and what to do, changes nothing."""

import hashlib

import pytest


def states(done):
    return {check["name"]: check["state"] for check in done.json["checks"]}


def test_a_home_that_is_not_there_is_a_fault(cli, home):
    done = cli("doctor", "--json")

    assert (done.code, states(done)) == (1, {"home": "fault"})
    assert not home.exists()


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
