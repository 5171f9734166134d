"""``POST /api/undo``: what comes back, and what is refused."""

import pytest

ROUTE = "/api/undo"


@pytest.mark.parametrize(
    "body",
    [
        {"batch": "bat_1", "item": "mem_1"},
        {"batch": ""},
        {"item": "x" * 201},
        {"batch": 7},
        {"last": True},
        [],
    ],
    ids=["both", "empty", "long", "number", "unknown", "list"],
)
def test_a_body_of_another_form_is_refused(api, body):
    api("ann", "POST", ROUTE, body).refused(422, "invalid-request")


def test_what_is_out_of_reach_is_like_absent(api):
    memory = api.write(collection="private")

    hidden = api("abe", "POST", ROUTE, {"item": memory["id"]}).shape(memory["id"])
    absent = api("abe", "POST", ROUTE, {"item": "mem_absent"}).shape("mem_absent")
    assert hidden == absent
    assert hidden[0] == 404


def test_a_batch_goes_back_and_the_answer_names_its_revisions(api):
    made = [api.write() for _ in range(2)]
    steps = [{"action": "approve", "id": m["id"], "revision": m["revision"]} for m in made]
    body = {"operations": steps, "atomic": True}
    api("bob", "POST", "/api/memories/batch", body).ok()

    done = api("bob", "POST", ROUTE, {}).ok()

    assert done["batch_id"].startswith("bat_")
    assert sorted(done["reverted"], key=lambda r: r["memory_id"]) == sorted(
        ({"memory_id": m["id"], "from_revision": 2, "to_revision": 3} for m in made),
        key=lambda r: r["memory_id"],
    )
    for memory in made:
        now = api("bob", "GET", f"/api/memories/{memory['id']}").ok()
        assert (now["status"], now["review_reason"]) == ("proposed", "undone")


def test_a_conflict_lists_what_came_after(api):
    memory = api.accept()
    revisions = f"/api/memories/{memory['id']}/revisions"
    accepted = api("bob", "GET", revisions).ok()["items"][-1]
    assert accepted["status"] == "accepted"
    api.act("bob", memory, "outdate").ok()
    last = api("bob", "POST", ROUTE, {"item": memory["id"]}).ok()
    api("max", "PATCH", f"/api/memories/{memory['id']}", {"title": "Now"}, match=4).ok()

    told = api("bob", "POST", ROUTE, {"batch": last["batch_id"]}).refused(409, "undo-conflict")

    assert [(c["memory_id"], c["revision"], c["action"]) for c in told["later_changes"]] == [
        (memory["id"], 5, "revise")
    ]


def test_a_dry_run_tells_what_would_go_and_writes_nothing(api):
    memory = api.write()

    told = api("ann", "POST", ROUTE, {"item": memory["id"], "dry_run": True}).ok()

    assert told["reverted"] == [
        {"memory_id": memory["id"], "from_revision": 1, "to_revision": None}
    ]
    assert api("ann", "GET", f"/api/memories/{memory['id']}").ok() == memory
    assert api("ann", "POST", ROUTE, {"batch": told["batch_id"]}).ok()["reverted"]
    body = {"batch": told["batch_id"], "dry_run": True}
    api("max", "PATCH", f"/api/memories/{memory['id']}", {"title": "Now"}, match=2).ok()
    api("ann", "POST", ROUTE, body).refused(409, "undo-conflict")


def test_a_key_converges(api):
    memory = api.write(collection="private")
    first = api("ann", "POST", ROUTE, {"item": memory["id"]}, key="undo-once").ok()

    assert api("ann", "POST", ROUTE, {"item": memory["id"]}, key="undo-once").ok() == first
