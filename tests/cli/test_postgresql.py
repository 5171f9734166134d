"""A home whose tenants are in PostgreSQL: the commands do what they do on files."""

import shutil

import pytest

from ..program import SECONDS, Server
from .conftest import Cli, ask, made


def memories(lines: str) -> list[str]:
    return [line for line in lines.splitlines() if '"record":"memory"' in line]


def test_the_main_job_runs_and_a_second_start_knows_its_tokens(cli, home, serve, repository, url):
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text(f'[database]\nurl = "{url}"\n')
    (home / "config.toml").chmod(0o600)
    server = serve()
    token = server.first["token"]
    assert server.first.keys() == {"url", "home", "tenant", "token"}
    learned = cli("learn", repository.path, "--json").ok()
    assert learned.code == 0
    queue = cli("review", "list", "--json").ok().json["items"]
    cli("review", "accept", *(row["id"] for row in queue)).ok()
    project = cli("project", "list", "--json").ok().json["items"][0]["id"]
    where = f"/api/projects/{project}/memory/selections"
    chosen = ask(server, token, "POST", where, {"query": "before a push run every test"})
    replayed = ask(server, token, "POST", f"{where}/{chosen['id']}/replay", {})
    status = cli("status", "--json").ok().json
    over_http = ask(server, token, "GET", "/api/status")
    exported = cli("export", "--format", "jsonl").ok().out
    person = ("token", "create", "--principal", "ann", "--kind", "user", "--role", "reviewer")
    ann = cli(*person, "--json").ok().json["token"]
    cli("tenant", "create", "birch").ok()
    cli("memory", "search", "push").ok()
    cli("audit", "verify").ok()
    assert server.stop() == 0

    assert chosen["entries"] != []
    assert (replayed["verified"], replayed["context"]) == (True, chosen["context"])
    assert status["operations"]["database_bytes"] > 0
    assert over_http["operations"]["schema_version"] == status["operations"]["schema_version"]
    assert exported.count("\n") >= len(queue)
    doctor = cli("doctor", "--json")
    assert {name for name, c in doctor.checks.items() if c["state"] != "ok"} == {"durability"}
    assert "fsync" in doctor.checks["durability"]["detail"]
    assert doctor.checks["engine"]["detail"].startswith("PostgreSQL ")
    assert not any(name.startswith("memory.sqlite") for name in made(home))

    again = serve()
    assert again.first.keys() == {"url", "home", "tenant"}
    assert ask(again, token, "GET", "/api/projects")["items"][0]["id"] == project
    assert ask(again, ann, "GET", f"{where}/{chosen['id']}")["context"] == chosen["context"]
    assert cli("tenant", "list").ok().out.split() == ["TENANT", "local", "birch"]


def test_a_demonstration_runs_and_what_was_exported_comes_back_exactly(
    cli, repository, url, cluster, tmp_path
):
    cli("demo", repository.path, "--json", "--database", url).ok()
    cli("learn", repository.path, "--database", url).ok()
    lines = cli("export", "--format", "jsonl", "--database", url).ok().out
    (tmp_path / "lines").write_text(lines)
    other = Cli(tmp_path / "other")
    name = cluster.make()
    try:
        target = ("--database", cluster.url(name))
        other("tenant", "create", "birch", *target).ok()
        other("import-jsonl", tmp_path / "lines", "--exact", *target).ok()
        back = other("export", "--format", "jsonl", *target).ok().out
        # The principals are those of the other home.
        assert memories(back) == memories(lines) != []
        other("verify", *target, cwd=repository.path).ok()
    finally:
        cluster.drop(name)


def test_what_governs_a_tenant_is_done_as_on_files(cli, repository, url, tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text('[[retention]]\nstatus = "rejected"\nolder_than_days = 1\n')
    environment = {"CODEFLOW_DATABASE": url}
    person = ("token", "create", "--principal", "ann", "--kind", "user", "--role", "reader")
    cli("learn", repository.path, **environment).ok()
    kept, gone = (row["id"] for row in cli("review", "--json", **environment).ok().json["items"])
    cli("review", "reject", gone, "--reason", "wrong", **environment).ok()
    made = cli(*person, "--json", **environment).ok().json
    cli("retention", "hold", "add", kept, "--reason", "case 7", **environment).ok()
    plan = cli("retention", "preview", "--policy", policy, "--json", **environment).ok().json
    erased = cli("erase", "--principal", "ann", "--yes", "--json", **environment).ok().json

    assert plan["plan"]
    assert erased["erased_at"]
    refused = cli("status", **environment, CODEFLOW_TOKEN=made["token"])
    assert refused.code == 3
    assert cli("audit", "verify", "--json", **environment).ok().json["sound"] is True
    assert cli("token", "list", "--json", **environment).ok().json["items"] is not None


def test_a_second_home_with_the_first_ones_key_serves_the_same_tenants(
    cli, serve, repository, url, tmp_path
):
    first = serve("--database", url)
    other = Cli(tmp_path / "other")
    other.home.mkdir(mode=0o700)
    shutil.copy(cli.home / "key", other.home / "key")
    second = Server(other.home, "--database", url)
    try:
        token = first.first["token"]
        cli("learn", repository.path, "--database", url).ok()

        (one,) = ask(first, token, "GET", "/api/projects")["items"]
        (two,) = ask(second, token, "GET", "/api/projects")["items"]
        assert one == two
    finally:
        assert second.stop() == 0


def test_a_tenant_that_stands_as_a_file_is_not_made_a_second_time(cli, home, url):
    cli("tenant", "create", "birch").ok()
    before = {p: p.read_bytes() for p in home.rglob("*") if p.is_file()}

    for command in (["up", "--port", "0"], ["tenant", "create", "birch"]):
        done = cli(*command, "--database", url)
        assert done.code == 1
        assert "this home has its file: `codeflow-memory tenant move`" in done.err

    assert cli("tenant", "list", "--database", url).ok().out == ""
    assert {p: p.read_bytes() for p in before} == before


def test_who_forgets_to_name_the_database_makes_no_second_tenant(cli, home, serve, repository, url):
    """A file beside the served one would continue the checkpoints of that one's audit."""
    serve("--database", url)

    for command in (["learn", repository.path], ["tenant", "create", "local"]):
        done = cli(*command)
        assert (done.code, done.err.count("\n")) == (1, 1)
        assert "memory.moved in the home says: name that with --database" in done.err

    assert not (home / "memory.sqlite").exists()
    cli("learn", repository.path, "--database", url).ok()
    cli("audit", "verify", "--database", url).ok()


def test_nor_does_who_uses_a_second_home_of_the_database(cli, serve, repository, url, tmp_path):
    serve("--database", url).stop()
    other = Cli(tmp_path / "other")
    other.home.mkdir(mode=0o700)
    shutil.copy(cli.home / "key", other.home / "key")
    other("learn", repository.path, "--database", url).ok()

    done = other("learn", repository.path)

    assert done.code == 1
    assert "memory.moved" in done.err
    assert not (other.home / "memory.sqlite").exists()


@pytest.mark.parametrize("configured", [False, True])
def test_a_start_says_what_its_commands_need_unless_they_find_it(launch, home, url, configured):
    home.mkdir(mode=0o700)
    if configured:
        (home / "config.toml").write_text(f'[database]\nurl = "{url}"\n')
    process = launch("up", "--port", "0", *(() if configured else ("--database", url)))
    process.stdout.readline()
    process.terminate()
    _, said = process.communicate(timeout=SECONDS)

    assert "next: codeflow-memory learn" in said
    assert ("need --database too" in said) is not configured


def test_files_beside_a_server_are_said_to_be_served_to_nobody(cli, home, url, tmp_path):
    cli("tenant", "create", "birch").ok()
    other = Cli(tmp_path / "other")
    other.home.mkdir(mode=0o700)
    shutil.copy(home / "key", other.home / "key")
    other("tenant", "create", "oak", "--database", url).ok()

    doctor = cli("doctor", "--json", "--database", url)
    assert doctor.checks["files"]["state"] == "warning"
    assert "local, birch" in doctor.checks["files"]["detail"]
    assert "tenant move" in doctor.checks["files"]["fix"]

    server = Server(home, "--database", url)
    server.process.terminate()
    _, said = server.process.communicate(timeout=SECONDS)
    assert "not served" in said


def test_a_home_of_files_imports_nothing_of_the_other_engine(probe, cli):
    cli("tenant", "create", "birch").ok()
    for command in (["tenant", "list"], ["doctor"], ["status"], ["retention", "preview"]):
        _, _, modules = probe(*command)
        assert modules.isdisjoint({"psycopg", "psycopg_pool", "psycopg_binary"}), command
    assert "apsw" in modules
