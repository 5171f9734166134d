"""``retention`` as processes: exit codes, plans, holds, and a document that is not imported."""

import json

import pytest

from .test_transfer import ENTRY, document, legacy  # noqa: F401 - a fixture

POLICY = "[[retention]]\nolder_than_days = 30\n"


@pytest.fixture
def old(legacy, tmp_path):  # noqa: F811 - the fixture
    """A home that waits for the import of one rejected and one accepted entry, and a policy."""
    rejected = ENTRY | {"id": "mem_00000000000000000000000002", "status": "rejected"}
    path = legacy(document(ENTRY, rejected))
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY)
    return path, policy, rejected["id"]


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


def test_a_home_that_is_not_there_is_not_made(cli):
    assert cli("retention", "preview").code == 4
    assert not cli.home.exists()


def test_a_wrong_policy_is_wrong_usage_and_names_its_key(cli, old):
    _, policy, _ = old
    policy.write_text(POLICY + "days = 1\n")

    for command in (("preview",), ("apply", "--plan", "0" * 64, "--yes")):
        done = cli("retention", *command, "--policy", policy)
        assert (done.code, done.out) == (2, "")
        assert "policy.toml/retention/0/days" in done.err


def test_a_preview_reads_a_document_that_waits_and_imports_nothing(cli, old):
    _, policy, rejected = old
    before = contents(cli.home)

    done = cli("retention", "preview", "--policy", policy, "--json").ok()
    plain = cli("retention", "preview", "--policy", policy).ok()

    assert contents(cli.home) == before
    assert done.json["imported"] is False
    (item,) = done.json["remove"]
    assert (item["id"], item["revision"], item["status"]) == (rejected, 2, "rejected")
    assert item["reasons"] == ["policy 1: unchanged for 30 days"]
    assert ENTRY["body"] not in done.out + plain.out + plain.err
    assert ENTRY["title"] not in done.out + plain.out + plain.err
    assert "preview again once it is" in plain.err


def test_a_document_that_is_wrong_is_told_and_left(cli, legacy):  # noqa: F811 - the fixture
    legacy(document(ENTRY | {"status": "odd"}))
    before = contents(cli.home)

    assert cli("retention", "preview").code == 2
    assert contents(cli.home) == before


def test_a_plan_of_a_document_is_stale_once_it_is_imported(cli, old):
    _, policy, rejected = old
    plan = cli("retention", "preview", "--policy", policy, "--json").ok().json["plan"]

    done = cli("retention", "apply", "--plan", plan, "--policy", policy, "--yes")

    assert (done.code, "[stale-plan]" in done.err) == (5, True)
    assert cli("memory", "show", rejected, "--json").ok().json["status"] == "rejected"


def test_what_a_plan_says_is_removed_and_nothing_else(cli, old):
    _, policy, rejected = old
    cli("status").ok()
    given = ("--policy", policy, "--json")
    plan = cli("retention", "preview", *given).ok().json
    assert (plan["imported"], [i["id"] for i in plan["remove"]]) == (True, [rejected])

    assert cli("retention", "apply", "--plan", "0" * 64, *given, "--yes").code == 5
    assert cli("retention", "apply", "--plan", plan["plan"], "--yes").code == 5
    assert cli("retention", "apply", "--plan", plan["plan"], *given).code == 2
    tried = cli("retention", "apply", "--plan", plan["plan"], *given, "--dry-run").ok()
    assert tried.json == plan
    done = cli("retention", "apply", "--plan", plan["plan"], *given, "--yes").ok()
    assert done.json == {
        "plan": plan["plan"],
        "removed": [rejected],
        "marked": [],
        "left": [],
    }
    assert cli("memory", "show", rejected, "--json").ok().json["status"] == "deleted"
    assert cli("memory", "show", ENTRY["id"], "--json").ok().json["status"] == "accepted"


def test_the_policies_of_the_configuration_are_taken_and_a_file_wins(cli, old):
    _, policy, rejected = old
    cli("status").ok()
    none = cli("retention", "preview").ok()
    assert "there is no policy" in none.err
    (cli.home / "config.toml").write_text(POLICY)
    assert [i["id"] for i in cli("retention", "preview", "--json").ok().json["remove"]] == [
        rejected
    ]
    policy.write_text(POLICY.replace("30", "36500"))

    assert cli("retention", "preview", "--policy", policy, "--json").ok().json["remove"] == []


def test_a_server_applies_no_plan(cli):
    for command in (("preview",), ("hold", "list")):
        assert cli("retention", *command, "--url", "http://127.0.0.1:9").code == 2


@pytest.mark.usefixtures("old")
def test_a_token_that_owns_nothing_previews_and_holds_nothing(cli):
    made = cli("token", "create", "--principal", "ann", "--kind", "user", "--role", "maintainer")
    token = {"CODEFLOW_TOKEN": made.ok().out.strip()}

    assert cli("retention", "preview", **token).code == 3
    held = cli("retention", "hold", "add", ENTRY["id"], "--reason", "a case", **token)
    assert held.code == 3


def test_a_held_memory_is_kept_until_its_hold_is_removed(cli, old):
    _, policy, rejected = old
    assert cli("retention", "hold", "add", "--reason", "x").code == 2
    assert cli("retention", "hold", "add", rejected, "--project", "core", "--reason", "x").code == 2
    assert cli("retention", "hold", "add", "mem_0", "--reason", "x").code == 4

    made = cli("retention", "hold", "add", rejected, "--reason", "a case", "--json").ok().json
    assert cli("retention", "hold", "list", "--json").ok().json["items"] == [made]
    assert "a case" in cli("retention", "hold", "list").ok().out
    plan = cli("retention", "preview", "--policy", policy, "--json").ok().json
    assert (plan["remove"], [i["id"] for i in plan["held"]]) == ([], [rejected])
    assert cli("retention", "hold", "remove", rejected).code == 2
    cli("retention", "hold", "remove", rejected, "--yes").ok()
    assert cli("retention", "hold", "remove", rejected, "--yes").code == 4
    whole = cli("retention", "hold", "add", "--project", "core", "--reason", "all", "--json").ok()
    assert whole.json["memory_id"] is None
    assert json.loads(cli("retention", "hold", "list", "--jsonl").ok().out) == whole.json
