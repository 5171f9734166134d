"""A home whose tenants are in PostgreSQL: the commands, and what is said where that cannot be."""

import json
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

from codeflow_memory.storage import servers

from ..postgresql import Cluster
from .conftest import SECONDS, Cli, Server, environment

PASSWORD = "s3cret/of@the:login"  # noqa: S105 - of the tests' own server
ENCODED = quote(PASSWORD, safe="")


@pytest.fixture
def database(cluster):
    """A database as the runbook makes it, and its name; gone with the test."""
    name = cluster.make()
    for statement in (
        f"REVOKE ALL ON DATABASE {name} FROM PUBLIC",
        f"ALTER DATABASE {name} SET synchronous_commit = on",
    ):
        cluster.sql(statement)
    cluster.sql("REVOKE ALL ON SCHEMA public FROM PUBLIC", name)
    yield name
    cluster.drop(name)


@pytest.fixture
def url(cluster, database):
    return cluster.url(database)


@pytest.fixture
def secured(cluster, database):
    """The database's URL for a login with a password; libpq sends it to none that asks for none."""
    return cluster.url(database).replace("codeflow@", f"codeflow:{ENCODED}@")


def ask(server: Server, token: str, method: str, path: str, body=None, **headers: str):
    request = urllib.request.Request(  # noqa: S310 - the server that the test started
        server.url + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            **headers,
        },
    )
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310 - the same
        return json.load(answer)


def made(home: Path) -> list[str]:
    return sorted(p.relative_to(home).as_posix() for p in home.rglob("*"))


def memories(lines: str) -> list[str]:
    return [line for line in lines.splitlines() if '"record":"memory"' in line]


def checks(done) -> dict[str, dict[str, str]]:
    return {check["name"]: check for check in done.json["checks"]}


WRONG = [
    ("mysql://a@b/c", 2, "postgresql://user@host/name"),
    ("postgresql://codeflow@h/d?nonsense=1", 2, "postgresql://user@host/name"),
    ("postgresql://codeflow@h:a/d", 2, "postgresql://user@host/name"),
    ("postgresql://codeflow@127.0.0.1:1/d", 6, "cannot be reached: Connection refused"),
    ("postgresql://codeflow@/d?host=/nowhere", 6, "cannot be reached: No such file"),
    ("postgresql://codeflow@nowhere.invalid/d", 6, "host is not known"),
    ("postgresql://nobody@/postgres?host={folder}", 6, 'refuses us: role "nobody"'),
    ("postgresql://codeflow@/nothing?host={folder}", 6, 'refuses us: database "nothing"'),
]


@pytest.mark.parametrize(("address", "code", "said"), WRONG)
def test_a_wrong_address_is_one_sentence_and_nothing_is_made(cli, cluster, address, code, said):
    given = address.format(folder=cluster.folder)

    done = cli("up", "--port", "0", "--database", given)

    assert (done.code, done.out, done.err.count("\n")) == (code, "", 1)
    assert said in done.err
    assert not cli.home.exists()


@pytest.mark.parametrize("text", ["host=127.0.0.1 password=s3cret", "postgresql:u:s3cret@h/x"])
def test_a_server_that_is_named_otherwise_is_no_folder(cli, text):
    done = cli("up", "--port", "0", "--database", text)

    assert (done.code, done.err.count("\n"), cli.home.exists()) == (2, 1, False)
    assert "postgresql://user@host/name" in done.err
    assert "s3cret" not in done.err


@pytest.mark.parametrize(
    "command",
    [
        ["token", "create", "--principal", "ann", "--kind", "user", "--role", "reader"],
        ["retention", "preview"],
        ["import-json", "memory.json"],
    ],
)
def test_no_other_command_makes_a_home_of_a_database_that_is_away(cli, command):
    done = cli(*command, "--database", "postgresql://codeflow@127.0.0.1:1/d")

    assert (done.code, cli.home.exists()) == (6, False)


@pytest.mark.parametrize(
    ("attributes", "grant"),
    [
        ("LOGIN NOINHERIT", "GRANT CONNECT, CREATE ON DATABASE {0} TO poor"),
        ("LOGIN NOINHERIT CREATEROLE", "GRANT CONNECT ON DATABASE {0} TO poor"),
    ],
)
def test_a_login_that_may_make_no_tenant_is_told_so_and_nothing_is_made(
    cli, cluster, database, attributes, grant
):
    cluster.sql(f"CREATE ROLE poor {attributes}")
    for statement in (grant, "GRANT CONNECT ON DATABASE {0} TO poor"):
        cluster.sql(statement.format(database))
    try:
        done = cli("up", "--port", "0", "--database", cluster.url(database, "poor"))
    finally:
        cluster.sql(f"REVOKE ALL ON DATABASE {database} FROM poor")
        cluster.sql("DROP ROLE poor")

    assert (done.code, cli.home.exists()) == (1, False)
    assert "needs CREATEROLE, and CREATE on the database" in done.err


def test_a_database_that_cannot_hold_every_text_is_refused(cli, cluster):
    cluster.sql(
        "CREATE DATABASE latin OWNER codeflow ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
    )
    try:
        done = cli("up", "--port", "0", "--database", cluster.url("latin"))
    finally:
        cluster.drop("latin")

    assert (done.code, cli.home.exists()) == (1, False)
    assert "its encoding is LATIN1" in done.err


def test_a_server_that_is_too_old_is_refused():
    servers.check_fitness(servers.OLDEST, "UTF8")
    with pytest.raises(servers.StoreUnusableError, match="PostgreSQL 14 is too old"):
        servers.check_fitness(140_012, "UTF8")


def test_without_the_package_for_it_the_extra_is_named(home, url):
    blind = "import sys; sys.modules['psycopg'] = None\n"
    run = "from codeflow_memory.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(  # noqa: S603 - this interpreter, no shell
        [sys.executable, "-I", "-c", blind + run, "up", "--port", "0", "--database", url],
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )

    assert (done.returncode, home.exists()) == (1, False)
    assert "pip install 'codeflow-memory[postgres]'" in done.stderr


def test_the_database_comes_from_option_credential_variable_and_configuration_in_this_order(
    cli, home, url, tmp_path
):
    home.mkdir(mode=0o700)
    nowhere = "postgresql://codeflow@127.0.0.1:1/d"
    (home / "config.toml").write_text(f'[database]\nurl = "{url}"\n')
    cli("tenant", "create", "birch").ok()
    assert not (home / "memory.sqlite").exists()
    assert cli("tenant", "list", CODEFLOW_DATABASE=nowhere).code == 6
    (tmp_path / "codeflow-database").write_text(f"{url}\n")
    credentials = {"CREDENTIALS_DIRECTORY": str(tmp_path), "CODEFLOW_DATABASE": nowhere}

    assert "birch" in cli("tenant", "list", **credentials).ok().out
    assert cli("tenant", "list", "--database", nowhere, **credentials).code == 6
    assert "birch" not in cli("tenant", "list", "--database", home, **credentials).ok().out
    (tmp_path / "codeflow-database").write_text("nonsense")
    assert cli("tenant", "list", **credentials).code == 2


def test_the_scheme_of_an_address_may_be_in_any_case(cli, home, url, tmp_path):
    shouted = url.replace("postgresql://", "PostgreSQL://")
    assert shouted != url
    cli("tenant", "create", "birch", "--database", shouted).ok()
    assert "birch" in cli("tenant", "list", "--database", url).ok().out
    (tmp_path / "codeflow-database").write_text(shouted)

    for more in ({"CODEFLOW_DATABASE": shouted}, {"CREDENTIALS_DIRECTORY": str(tmp_path)}):
        assert "birch" in cli("tenant", "list", **more).ok().out
    (home / "config.toml").write_text(f'[database]\nurl = "{shouted}"\n')
    assert "birch" in cli("tenant", "list").ok().out
    moved = ("tenant", "move", "birch", "--to")
    cli(*moved, home, "--yes").ok()
    cli(*moved, shouted, "--database", home, "--yes").ok()
    assert "birch" in cli("tenant", "list").ok().out


def test_a_configured_url_that_is_none_is_refused_by_its_key_and_not_quoted(cli, home):
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text('[database]\nurl = "mysql://a:geheim@b/c"\n')

    for command in (["up", "--port", "0"], ["doctor", "--json"], ["tenant", "list"]):
        done = cli(*command)
        assert done.code in {1, 2}
        assert "config.toml/database/url" in done.out + done.err
        assert "geheim" not in done.out + done.err
    assert made(home) == ["config.toml"]


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
    assert {name for name, c in checks(doctor).items() if c["state"] != "ok"} == {"durability"}
    assert "fsync" in checks(doctor)["durability"]["detail"]
    assert checks(doctor)["engine"]["detail"].startswith("PostgreSQL ")
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


def test_files_beside_a_server_are_said_to_be_served_to_nobody(cli, home, url, tmp_path):
    cli("tenant", "create", "birch").ok()
    other = Cli(tmp_path / "other")
    other.home.mkdir(mode=0o700)
    shutil.copy(home / "key", other.home / "key")
    other("tenant", "create", "oak", "--database", url).ok()

    doctor = cli("doctor", "--json", "--database", url)
    assert checks(doctor)["files"]["state"] == "warning"
    assert "local, birch" in checks(doctor)["files"]["detail"]
    assert "tenant move" in checks(doctor)["files"]["fix"]

    server = Server(home, "--database", url)
    server.process.terminate()
    _, said = server.process.communicate(timeout=SECONDS)
    assert "not served" in said


@pytest.fixture
def own_cluster():
    """A server on which no tenant's role is another login's."""
    made = Cluster()
    made.start()
    yield made
    made.remove()


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
    assert "cannot be reached" in checks(done)["engine"]["detail"]
    assert "git" in checks(done)


def command_line(pid: int) -> str:
    """What every user of the machine sees of a process."""
    listed = subprocess.run(  # noqa: S603 - a number of our own, no shell
        ["ps", "-o", "args=", "-ww", "-p", str(pid)],  # noqa: S607 - whichever the system has
        capture_output=True,
        text=True,
        check=True,
    )
    return listed.stdout


def test_a_password_is_in_no_output_error_log_or_list_of_processes(cli, home, secured, repository):
    said = []
    server = Server(home, "--database", secured)
    said.append(command_line(server.process.pid))
    said.append(json.dumps(server.first))
    token = server.first["token"]
    said.append(json.dumps(ask(server, token, "GET", "/api/status")))
    for command in (
        ["status", "--json"],
        ["doctor"],
        ["doctor", "--json"],
        ["learn", str(repository.path)],
        ["tenant", "list"],
        ["tenant", "create", "Not A Slug"],
        ["no-such-command"],
        ["up", "--port", "0"],
    ):
        done = cli(*command, CODEFLOW_DATABASE=secured)
        said += [done.out, done.err]
        done = cli(*command[:1], "--database", secured, *command[1:])
        said += [done.out, done.err]
    for wrong in (
        secured.replace("codeflow:", "nobody:"),
        f"postgresql://codeflow:{PASSWORD}@127.0.0.1:1/d",
        f"postgresql://codeflow:{ENCODED}@127.0.0.1:1/d",
        f"postgresql://codeflow:{ENCODED}@nowhere.invalid/d",
        f"postgresql://codeflow@127.0.0.1:1/d?password={ENCODED}",
        f"postgresql://codeflow@127.0.0.1:1/d?password={ENCODED}&nonsense=1",
    ):
        for more in ({}, {"CODEFLOW_DATABASE": wrong}):
            argv = ["token", "list"] if more else ["token", "list", "--database", wrong]
            done = cli(*argv, **more)
            assert done.code in {0, 2, 6}, done.err
            said += [done.out, done.err]
        done = cli("token", "list", wrong)
        said += [done.out, done.err]
    server.process.terminate()
    said += server.process.communicate(timeout=SECONDS)
    said += [p.read_text("utf-8", "replace") for p in home.rglob("*") if p.is_file()]

    whole = "\n".join(said)
    assert "s3cret" not in whole
    assert "codeflow-memory" in said[0] or "codeflow_memory" in said[0]
    assert "postgresql://codeflow@" in said[0]


@pytest.fixture
def locked(own_cluster):
    """A database's URL for a login that the server asks for its password; gone with the test."""
    cluster = own_cluster
    database = cluster.make()
    cluster.sql(f"CREATE ROLE locked LOGIN CREATEROLE NOINHERIT PASSWORD '{PASSWORD}'")
    cluster.sql(f"GRANT CONNECT, CREATE ON DATABASE {database} TO locked")
    rules = cluster.data / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"local all locked scram-sha-256\n{before}")
    cluster.sql("SELECT pg_reload_conf()")
    address = cluster.url(database, "locked")
    deadline = time.monotonic() + SECONDS
    while is_let_in(address):
        assert time.monotonic() < deadline
    return address


def is_let_in(address: str) -> bool:
    try:
        psycopg.connect(address).close()
    except psycopg.OperationalError:
        return False
    return True


def test_the_password_comes_from_the_address_its_file_or_the_credential(cli, locked, tmp_path):
    whole = locked.replace("locked@", f"locked:{ENCODED}@")
    (tmp_path / "codeflow-database").write_text(whole)
    passwords = tmp_path / "passwords"
    passwords.write_text("*:*:*:locked:" + PASSWORD.replace(":", "\\:"))
    passwords.chmod(0o600)
    make = ("token", "create", "--principal", "ann", "--kind", "user", "--role", "reader")

    without = cli(*make, "--database", locked)
    wrong = cli(*make, "--database", locked.replace("locked@", "locked:wrong@"))
    assert (without.code, wrong.code, cli.home.exists()) == (6, 6, False)
    assert "password" in without.err
    assert 'refuses us: password authentication failed for user "locked"' in wrong.err
    for argv, more in (
        (["--database", whole], {}),
        ([], {"CODEFLOW_DATABASE": whole}),
        ([], {"CREDENTIALS_DIRECTORY": str(tmp_path)}),
        (["--database", locked], {"PGPASSFILE": str(passwords)}),
    ):
        done = cli(*make, *argv, **more).ok()
        assert "s3cret" not in done.out + done.err


def test_the_search_for_the_password_would_see_it(secured):
    """What was called by a shell without the command's own care shows it."""
    with subprocess.Popen(  # noqa: S603 - this interpreter, no shell
        [sys.executable, "-I", "-c", "input()", secured], stdin=subprocess.PIPE
    ) as process:
        assert "s3cret" in command_line(process.pid)
        process.communicate(b"\n")


def test_a_home_of_files_imports_nothing_of_the_other_engine(probe, cli):
    cli("tenant", "create", "birch").ok()
    for command in (["tenant", "list"], ["doctor"], ["status"], ["retention", "preview"]):
        _, _, modules = probe(*command)
        assert modules.isdisjoint({"psycopg", "psycopg_pool", "psycopg_binary"}), command
    assert "apsw" in modules


def test_a_command_whose_database_goes_away_ends_as_unreachable(cli, url, cluster, database):
    cli("tenant", "create", "birch", "--database", url).ok()
    cluster.sql(f"ALTER DATABASE {database} ALLOW_CONNECTIONS false")

    done = cli("tenant", "list", "--database", url)

    assert done.code == 6
    assert done.err.endswith("[unreachable]\n")
