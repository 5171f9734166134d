"""Which database is meant, and what is said of one that cannot be used."""

import subprocess
import sys

import pytest

from codeflow_memory.storage import servers

from ..program import SECONDS, environment
from .conftest import made

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


def test_a_command_whose_database_goes_away_ends_as_unreachable(cli, url, cluster, database):
    cli("tenant", "create", "birch", "--database", url).ok()
    cluster.sql(f"ALTER DATABASE {database} ALLOW_CONNECTIONS false")

    done = cli("tenant", "list", "--database", url)

    assert done.code == 6
    assert done.err.endswith("[unreachable]\n")
