"""``GET /api/review``: the queue as a page and a program are shown it."""

import pytest


@pytest.mark.parametrize(
    "query",
    [{"collection": "ours"}, {"cursor": "x"}, {"limit": 101}, {"status": "proposed"}],
    ids=["collection", "cursor", "limit", "unknown"],
)
def test_a_parameter_of_another_form_is_refused(api, query):
    api("bob", "GET", "/api/review", **query).refused(422, "invalid-request")


def test_a_project_out_of_reach_is_like_absent(api):
    hidden = api("elsewhere", "GET", "/api/review", project_id=api.project.project_id)
    absent = api("elsewhere", "GET", "/api/review", project_id="prj_absent")

    assert hidden.shape(api.project.project_id) == absent.shape("prj_absent")
    hidden.refused(404, "not-found")


def test_what_waits_is_told_with_its_reasons(api):
    old = api.accept(title="Wait two seconds")
    pair = {"memory_id": old["id"], "revision": old["revision"]}
    new = api.write(title="Wait three seconds", supersedes=pair)

    page = api("bob", "GET", "/api/review", reason="successor", limit=100).ok()

    (item,) = [i for i in page["items"] if i["id"] == new["id"]]
    assert (item["reasons"], item["risk"]) == (["successor"], "medium")
    assert item["waiting_since"] == item["updated_at"]
    assert "title" in {f["field"] for f in item["diff"]["fields"]}
    assert (item["conflicts"], item["evidence"], item["stale_decisions"]) == ([], [], [])
    assert page["facets"]["reason"]["successor"] >= 1


def test_pages_lead_through_the_whole_queue(api):
    for _ in range(3):
        api.write()
    found, query = [], {"limit": 2}
    while True:
        page = api("bob", "GET", "/api/review", **query).ok()
        found += [item["id"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]

    whole = api("bob", "GET", "/api/review", limit=100).ok()["items"]
    assert found == [item["id"] for item in whole]
    assert len(found) == len(set(found)) >= 3
