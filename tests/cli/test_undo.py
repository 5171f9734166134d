"""``undo``: the last change, a batch or an entry, and what is refused."""

import json

import pytest

pytestmark = pytest.mark.usefixtures("learned")


@pytest.fixture
def learned(cli, repository):
    cli("learn", repository.path).ok()


def test_what_is_not_there_cannot_be_undone(cli):
    for named in ("mem_absent", "bat_absent", "x"):
        done = cli("undo", named)
        assert (done.code, done.err.endswith("[not-found]\n")) == (4, True)


def test_a_later_change_is_a_conflict(cli):
    (first, _) = cli("review", "--json").json["items"]
    cli("review", "accept", first["id"]).ok()
    undone = cli("undo", first["id"], "--json").json["batch_id"]
    cli("review", "accept", first["id"]).ok()

    done = cli("undo", undone)

    assert (done.code, done.err.endswith("[undo-conflict]\n")) == (5, True)


def test_the_last_decision_is_undone_and_told(cli):
    (first, second) = cli("review", "--json").json["items"]
    cli("review", "accept", first["id"]).ok()
    cli("review", "accept", second["id"]).ok()

    done = cli("memory", "undo", "--json").ok().json

    assert [r["memory_id"] for r in done["reverted"]] == [second["id"]]
    assert cli("memory", "show", second["id"], "--json").json["status"] == "proposed"
    assert cli("memory", "show", first["id"], "--json").json["status"] == "accepted"
    told = cli("undo").ok()
    assert first["id"] in told.out
    assert "undone as bat_" in told.err


def test_the_audit_is_listed_with_the_batches_that_undo_takes(cli):
    (first, _) = cli("review", "--json").json["items"]
    cli("review", "accept", first["id"]).ok()

    rows = cli("audit", "list", "--item", first["id"], "--json").ok().json["items"]

    assert [row["action"] for row in rows] == ["approve", "approve-given", "create"]
    assert (
        json.loads(
            cli("memory", "audit", "list", "--item", first["id"], "--jsonl").ok().out.split("\n")[0]
        )
        == rows[0]
    )
    assert cli("undo", rows[0]["batch_id"], "--json").ok().json["reverted"][0]["to_revision"] == 3


def test_a_correction_is_written_and_can_be_undone(cli):
    (first, _) = cli("review", "--json").json["items"]
    assert (
        "would be proposed at revision 2"
        in cli("memory", "correct", first["id"], "x", "--dry-run").ok().err
    )
    assert cli("memory", "correct", first["id"], "x", "--revision", "9").code == 5

    told = cli("memory", "correct", first["id"], "Another text.", "--title", "Other").ok()

    assert f"{first['id']} is proposed at revision 2" in told.err
    now = cli("memory", "show", first["id"], "--json").json
    assert (now["title"], now["body"]) == ("Other", "Another text.")
    assert "would undo bat_" in cli("undo", first["id"], "--dry-run").ok().err
    cli("undo", first["id"]).ok()
    assert cli("memory", "show", first["id"], "--json").json["body"] == first["body"]
