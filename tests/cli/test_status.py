"""``status``: operators and owners see how the tenant is run; others see what is theirs."""

import json

import pytest


@pytest.fixture
def token_of(cli, tmp_path):
    """Make a token of a role; returns the option that names its file."""

    def make(role):
        made = cli("token", "create", "--principal", role, "--kind", "user", "--role", role)
        path = tmp_path / f"token-{role}"
        path.write_text(made.ok().out.split()[0])
        path.chmod(0o600)
        return ["--token-file", str(path)]

    return make


@pytest.mark.parametrize("role", ["reader", "contributor", "reviewer", "maintainer"])
def test_who_does_not_run_the_tenant_sees_what_was_seen_before(cli, token_of, role):
    told = cli("status", "--json", *token_of(role)).ok().json

    assert told.keys() == {"version", "home", "url", "projects"}


@pytest.mark.parametrize("served", [False, True])
def test_who_runs_it_sees_sizes_audit_jobs_limits_and_what_was_last_done(
    cli, home, serve, token_of, served
):
    operator = token_of("operator")
    (home / "operations.json").write_text(
        json.dumps({"last_backup": {"at": "2026-05-01T02:00:00Z", "file": "b.cfmb"}})
    )
    (home / "undo-20990501T020000Z").mkdir()
    env = {"CODEFLOW_URL": serve().url} if served else {}

    for who in ([], operator):
        told = cli("status", "--json", *who, **env).ok().json["operations"]
        assert told["schema_version"] >= 1
        assert told["last_backup"] == {"at": "2026-05-01T02:00:00Z", "file": "b.cfmb"}
        assert told["last_drill"] is None
        assert told["earlier_states"] == ["undo-20990501T020000Z"]
        assert told["database_bytes"] == (home / "memory.sqlite").stat().st_size
    shown = cli("status", *operator, **env).ok().out
    for part in ("b.cfmb", "none known", "undo-20990501T020000Z", "project_entries 0 of 5000"):
        assert part in shown
