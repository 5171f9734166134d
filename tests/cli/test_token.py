"""``token`` and ``tenant``."""

import pytest

CREATE = ("token", "create", "--kind", "user", "--role")


def test_a_token_is_made_listed_used_and_revoked(cli):
    made = cli(*CREATE, "reader", "--principal", "zoë@example.org", "--ttl", "1h", "--json").json
    assert made.keys() >= {"token", "principal", "expires_at"}
    assert made["expires_at"].endswith("Z")

    rows = cli("token", "list", "--json").json["items"]
    assert [(r["id"], r["token"], r["principal"]) for r in rows] == [
        (made["id"], None, made["principal"])
    ]
    assert cli("project", "list", CODEFLOW_TOKEN=made["token"]).code == 0

    cli("token", "revoke", made["id"], "--yes").ok()

    assert cli("project", "list", CODEFLOW_TOKEN=made["token"]).code == 3


def test_a_token_of_less_than_an_owner_makes_no_token(cli):
    reader = cli(*CREATE, "maintainer", "--principal", "max", "--json").json["token"]

    done = cli(*CREATE, "owner", "--principal", "max", CODEFLOW_TOKEN=reader)

    assert (done.code, done.err.endswith("[forbidden]\n")) == (3, True)


def test_a_token_of_one_tenant_reaches_no_other(cli):
    cli("tenant", "create", "birch").ok()
    made = cli(*CREATE, "owner", "--principal", "a", "--tenant", "birch", "--json").json

    for argv in (
        ["token", "list", "--tenant", "local"],
        [*CREATE, "owner", "--principal", "x", "--tenant", "local"],
    ):
        assert cli(*argv, CODEFLOW_TOKEN=made["token"]).code == 4
    assert cli("tenant", "list", CODEFLOW_TOKEN=made["token"]).code == 3


def test_tenants_are_made_once_and_listed(cli):
    cli("tenant", "create", "birch").ok()

    again = cli("tenant", "create", "birch")
    assert (again.code, again.err.endswith("[exists]\n")) == (5, True)
    assert cli("tenant", "list").ok().out.split() == ["TENANT", "local", "birch"]
    assert cli("tenant", "list", "--jsonl").ok().out.splitlines()[1] == '{"tenant": "birch"}'


def test_a_dry_run_makes_nothing(cli):
    cli("tenant", "create", "birch").ok()
    cli("tenant", "create", "oak", "--dry-run").ok()
    cli(*CREATE, "reader", "--principal", "a", "--dry-run").ok()

    assert cli("token", "list").ok().out == ""
    assert "oak" not in cli("tenant", "list").ok().out


def test_over_a_server_the_same_commands_answer_alike(cli, serve):
    url = serve().url
    made = cli(*CREATE, "reader", "--principal", "ann", "--ttl", "7d", "--json", CODEFLOW_URL=url)
    assert made.ok().json.keys() == {"token", "principal", "expires_at", "id", "name"}

    local, remote = cli("token", "list", "--json"), cli("token", "list", "--json", CODEFLOW_URL=url)
    named = [[r["id"] for r in done.ok().json["items"]] for done in (local, remote)]
    assert named[0] == named[1]

    cli("token", "revoke", made.json["id"], "--yes", CODEFLOW_URL=url).ok()
    other = cli(*CREATE, "reader", "--principal", "b", "--tenant", "oak", CODEFLOW_URL=url)
    assert other.code == 4


@pytest.mark.parametrize(
    "argv",
    [
        ("--version",),
        ("--help",),
        ("token", "--help"),
        (*CREATE, "reader", "--principal", "a"),
        ("token", "list"),
        ("tenant", "list"),
        ("audit", "verify"),
    ],
    ids=" ".join,
)
def test_light_commands_import_no_server(cli, probe, argv):
    cli("tenant", "create", "birch").ok()

    code, _, modules = probe(*argv)

    assert code == 0
    assert not {"litestar", "uvicorn", "git"}.intersection(modules)


def test_the_version_is_told_at_once(probe):
    """0.15 s of processor on an idle machine; a busy one takes up to three times that."""
    _, seconds, modules = probe("--version")

    assert seconds < 0.15 * 3
    assert not {"apsw", "pydantic", "cryptography", "rich"}.intersection(modules)


def test_completion_is_clicks_own(cli):
    asked = {
        "_CODEFLOW_MEMORY_COMPLETE": "bash_complete",
        "COMP_WORDS": "codeflow-memory tok",
        "COMP_CWORD": "1",
    }

    assert "plain,token" in cli(**asked).out
