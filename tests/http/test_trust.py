"""``/api/trust`` and ``/api/predicates``: what trust foretold, and which keys have one value."""

import pytest


def test_an_unknown_project_or_repository_is_not_there(api):
    api("bob", "GET", "/api/trust", project_id="prj_absent").refused(404, "not-found")
    api("bob", "GET", "/api/trust", repo="absent").refused(404, "not-found")
    api("bob", "GET", "/api/trust", band=3).refused(422, "invalid-request")


def test_a_project_out_of_reach_is_like_absent(api):
    hidden = api("elsewhere", "GET", "/api/trust", project_id=api.project.project_id)
    absent = api("elsewhere", "GET", "/api/trust", project_id="prj_absent")

    assert hidden.shape(api.project.project_id) == absent.shape("prj_absent")


def test_what_was_accepted_and_rejected_since_is_counted(api):
    before = top(api)
    kept, gone = api.accept(), api.accept()
    api.act("bob", gone, "reject").ok()

    after = top(api)

    told = {name: after[name] - before[name] for name in ("accepted", "rejected", "unresolved")}
    assert told == {"accepted": 2, "rejected": 1, "unresolved": 1}
    assert kept["trust"] == 8_500


def top(api):
    bands = api("bob", "GET", "/api/trust").ok()["bands"]
    (band,) = [b for b in bands if b["least"] <= 8_500 <= b["most"]]
    return band


@pytest.mark.parametrize(
    ("names", "pointer"),
    [
        (["api.version"], "/functional/0"),
        (["fine", "a|b"], "/functional/1"),
        ([""], "/functional/0"),
        (["x" * 201], "/functional/0"),
        ("version", "/functional"),
        ([3], "/functional/0"),
    ],
)
def test_a_name_that_is_part_of_a_key_or_none_is_refused(api, names, pointer):
    answer = api("olga", "PUT", "/api/predicates", {"functional": names})

    assert pointer in {e["pointer"] for e in answer.refused(422, "invalid-request")["errors"]}


@pytest.mark.parametrize("who", ["ann", "bob"])
def test_only_maintainers_change_the_registry(api, who):
    api(who, "PUT", "/api/predicates", {"functional": []}).refused(403, "forbidden")


def test_the_registry_is_replaced_as_a_whole(api):
    default = api("ann", "GET", "/api/predicates").ok()["functional"]
    assert {"version", "default_branch", "owner"} <= set(default)

    told = api("olga", "PUT", "/api/predicates", {"functional": ["Codename ", "codename"]}).ok()

    assert told == {"functional": ["codename"]}
    assert api("ann", "GET", "/api/predicates").ok() == told
    api("olga", "PUT", "/api/predicates", {"functional": default}).ok()


def test_a_conflict_is_shown_with_what_holds_the_key(api):
    held = api.accept(kind="fact", key="queue | version", title="The queue is at four")

    new = api.write(kind="fact", key="queue | version", title="The queue is at five")

    assert new["conflicts_with"] == [held["id"]]
    page = api("bob", "GET", "/api/review", reason="conflict", limit=100).ok()
    (item,) = [i for i in page["items"] if i["id"] == new["id"]]
    assert (item["reasons"], item["risk"]) == (["conflict"], "high")
    assert [(c["id"], c["title"]) for c in item["conflicts"]] == [(held["id"], held["title"])]
