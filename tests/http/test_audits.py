"""``/api/audit``: pages, filters, and the check of the whole chain."""

import pytest


def test_who_is_nobody_reads_nothing(api):
    for route in ("/api/audit", "/api/audit/verify"):
        api(None, "GET", route).refused(401, "unauthenticated")


@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": "x"}, {"cursor": "x"}, {"since": "x"}])
def test_a_parameter_of_another_form_is_refused(api, query):
    api("ann", "GET", "/api/audit", **query).refused(422, "invalid-request")


def test_a_cursor_is_of_one_caller_and_one_question(api):
    memory = api.accept()
    cursor = api("ann", "GET", "/api/audit", item=memory["id"], limit=1).ok()["next_cursor"]

    api("bob", "GET", "/api/audit", item=memory["id"], cursor=cursor).refused(
        422, "invalid-request"
    )
    api("ann", "GET", "/api/audit", cursor=cursor).refused(422, "invalid-request")


def test_a_change_is_told_with_ids_and_never_a_text(api):
    memory = api.accept(title="Quokkas in the build")

    answer = api("ann", "GET", "/api/audit", item=memory["id"])

    (approved, given, created) = answer.ok()["items"]
    assert [row["action"] for row in (approved, given, created)] == [
        "approve",
        "approve-given",
        "create",
    ]
    assert approved | {"at": "", "batch_id": "", "principal": ""} == {
        "at": "",
        "principal": "",
        "origin": "user",
        "batch_id": "",
        "action": "approve",
        "item": memory["id"],
        "repository_id": api.project.repository_id,
        "from_revision": 1,
        "to_revision": 2,
        "from_status": "proposed",
        "to_status": "accepted",
        "reason": None,
    }
    assert "uokka" not in answer.text


def test_pages_lead_through_the_whole_list(api):
    memory = api.accept()
    found, query = [], {"item": memory["id"], "limit": 1}
    while True:
        page = api("ann", "GET", "/api/audit", **query).ok()
        found += page["items"]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]

    assert found == api("ann", "GET", "/api/audit", item=memory["id"]).ok()["items"]


def test_a_maintainer_verifies_the_chain(api):
    api("bob", "GET", "/api/audit/verify").refused(403, "forbidden")

    report = api("max", "GET", "/api/audit/verify").ok()

    assert report == {
        "sound": True,
        "fault": None,
        "rows": None,
        "order_only": None,
        "checkpoints": None,
    }
    assert api("olga", "GET", "/api/audit/verify").ok()["rows"] > 0
