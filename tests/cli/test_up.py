"""``up``: from nothing to a served home, and back to closed files."""

import json
import signal
import sqlite3
import struct
import urllib.request
from contextlib import closing

import pytest


def projects(url: str, token: str):
    request = urllib.request.Request(  # noqa: S310 - the server that the test started
        url + "/api/projects", headers={"Authorization": f"Bearer {token}"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - the same
        return json.load(answer)


def damage(path):
    data = bytearray(path.read_bytes())
    for page in range(1, 12):
        data[page * 4096 : page * 4096 + 200] = b"\xa5" * 200
    path.write_bytes(data)


def make_foreign(path):
    data = bytearray(path.read_bytes())
    data[68:72] = struct.pack(">I", 0x12345678)
    path.write_bytes(data)


def make_newer(path):
    data = bytearray(path.read_bytes())
    data[60:64] = struct.pack(">I", 9_999)
    path.write_bytes(data)


def truncate(path):
    path.write_bytes(path.read_bytes()[:5_000])


@pytest.mark.parametrize("spoil", [damage, make_foreign, make_newer, truncate])
def test_a_database_that_cannot_be_used_is_named_and_left_alone(cli, home, spoil):
    cli("token", "create", "--principal", "a", "--kind", "user", "--role", "reader").ok()
    path = home / "memory.sqlite"
    spoil(path)
    before = path.read_bytes()

    done = cli("up", "--port", "0")

    assert done.code == 1
    assert "memory.sqlite" in done.err
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "text", ["nonsense", "[clock]\noffset_seconds = 5\n", "[unknown]\na = 1\n"]
)
def test_a_wrong_configuration_is_refused_by_its_key(cli, home, text):
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text(text)

    done = cli("up", "--port", "0")

    assert (done.code, "config.toml" in done.err) == (2, True)
    assert not (home / "memory.sqlite").exists()


def test_an_older_document_with_faults_is_refused_and_creates_nothing(cli, home):
    home.mkdir(mode=0o700)
    (home / "memory.json").write_text(
        '{"version": 7, "entries": [], "receipts": [], "feedback": []}'
    )

    done = cli("up", "--port", "0")

    assert (done.code, "/version" in done.err) == (1, True)
    assert not (home / "memory.sqlite").exists()
    assert (home / "memory.json").exists()


def test_the_first_line_has_the_token_once_and_the_file_keeps_it(home, serve):
    server = serve()
    assert server.first.keys() == {"url", "home", "tenant", "token"}
    token = server.first["token"]
    assert (home / "token").read_text().strip() == token
    assert projects(server.url, token)["items"] == []
    assert server.stop() == 0

    again = serve()
    assert again.first.keys() == {"url", "home", "tenant"}
    assert projects(again.url, token)["items"] == []


def test_a_second_server_is_refused_and_a_killed_one_leaves_nothing_in_the_way(cli, serve):
    server = serve()
    refused = cli("up", "--port", "0")
    assert (refused.code, "another server" in refused.err) == (1, True)

    server.stop(signal.SIGKILL)

    assert serve().stop() == 0


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_well_and_leaves_a_closed_database(home, serve, how):
    server = serve()

    assert server.stop(how) == 0

    assert [p.name for p in home.glob("memory.sqlite*")] == ["memory.sqlite"]
    with closing(
        sqlite3.connect(f"file:{home / 'memory.sqlite'}?mode=ro".replace("%", "%25"), uri=True)
    ) as file:
        assert file.execute("PRAGMA quick_check").fetchone() == ("ok",)


def test_files_are_private_whatever_the_umask(home, serve):
    serve(umask=0).stop()

    others = {p.name: oct(p.stat().st_mode) for p in home.rglob("*") if p.stat().st_mode & 0o077}
    assert others == {}
    assert home.stat().st_mode & 0o777 == 0o700


def test_the_path_of_the_database_names_the_home(home, serve):
    assert serve("--database", str(home / "memory.json")).first["home"] == str(home)


def test_a_taken_port_is_a_clear_refusal(cli, serve, tmp_path):
    port = serve().url.rpartition(":")[2]

    done = cli("up", "--home", tmp_path / "other", "--port", port)

    assert (done.code, f":{port}" in done.err) == (1, True)
    assert "--port 0" in done.err


def test_without_a_home_the_command_that_makes_it_is_named(cli):
    done = cli("status")

    assert (done.code, "`codeflow-memory up`" in done.err) == (4, True)
    assert done.err.endswith("[not-found]\n")


def test_the_own_token_reaches_the_own_server_only(cli, serve, tmp_path):
    server = serve()
    assert cli("status", "--json", CODEFLOW_URL=server.url).ok().json["url"] == server.url

    elsewhere = cli("status", CODEFLOW_URL=server.url, CODEFLOW_HOME=str(tmp_path / "other"))

    assert elsewhere.code == 3


def test_commands_answer_alike_beside_a_server_and_over_it(cli, serve, repository):
    server = serve()
    cli("learn", repository.path).ok()

    for argv in (
        ["review", "list", "--json"],
        ["project", "list", "--json"],
        ["repo", "list", "--json"],
        ["memory", "list", "--status", "proposed", "--jsonl"],
        ["repo", "show", str(repository.path), "--json"],
    ):
        local, remote = cli(*argv).ok(), cli(*argv, CODEFLOW_URL=server.url).ok()
        assert local.out == remote.out != "", argv


def test_without_json_the_address_is_the_data_and_the_rest_is_talk(launch, home):
    process = launch("up", "--port", "0")
    assert process.stdout.readline().startswith("http://127.0.0.1:")

    process.send_signal(signal.SIGTERM)

    assert process.wait(timeout=60) == 0
    assert "codeflow-memory learn" in process.stderr.read()
    assert (home / "token").exists()
