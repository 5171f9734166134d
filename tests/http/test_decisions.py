"""What goes with a decision, a judgement or a batch is kept, and is what is carried out."""

import json

import pytest

from codeflow_memory.services.export import Format, export

BATCH = "/api/memories/batch"
ABSENT = "mem_01KABCDEFGHJKMNPQRSTVWXYZ0"


def get(api, memory, who="max"):
    return api(who, "GET", f"/api/memories/{memory['id']}").ok()


def last(api, memory):
    return api("max", "GET", f"/api/memories/{memory['id']}/revisions").ok()["items"][-1]


def judgements(api, memory):
    """What the store keeps of the feedback on a memory: no route shows it, an export does."""
    store, owner = api.world.store, api.world.owner
    records = map(json.loads, export(store, owner, Format.JSONL).splitlines())
    (found,) = (r for r in records if r["record"] == "memory" and r["id"] == memory["id"])
    return found["feedback"]


@pytest.mark.parametrize(
    ("made", "action", "status"),
    [
        ("proposed", "approve", "accepted"),
        ("proposed", "reject", "rejected"),
        ("accepted", "outdate", "outdated"),
        ("accepted", "archive", "archived"),
        ("accepted", "return", "proposed"),
    ],
)
@pytest.mark.parametrize("reason", [None, "The client moved."])
def test_the_reason_of_a_decision_is_kept_with_its_revision(api, made, action, status, reason):
    memory = api.write() if made == "proposed" else api.accept()

    decided = api.act("bob", memory, action, {"reason": reason}).ok()

    assert decided["status"] == status
    revision = last(api, memory)
    assert (revision["action"], revision["reason"]) == (action, reason)
    assert revision["revision"] == decided["revision"]


@pytest.mark.parametrize("action", ["outdate", "archive"])
def test_the_reason_of_a_restoration_is_kept_too(api, action):
    gone = api.act("bob", api.accept(), action).ok()

    api.act("bob", gone, "restore", {"reason": "It is back."}).ok()

    assert (last(api, gone)["action"], last(api, gone)["reason"]) == ("restore", "It is back.")


@pytest.mark.parametrize(("action", "decision"), [("approve", "approve"), ("reject", "reject")])
@pytest.mark.parametrize("comment", [None, "I tried it."])
def test_the_comment_of_a_decision_is_kept_with_it(api, action, decision, comment):
    memory = api.write()

    api.act("bob", memory, action, {"comment": comment}).ok()

    (given,) = get(api, memory)["approvals"]
    assert (given["decision"], given["comment"]) == (decision, comment)


def test_a_memory_is_superseded_by_the_one_that_was_given(api):
    old, new = api.accept(), api.accept()
    body = {"superseded_by": new["id"], "reason": "The new one says it better."}

    decided = api.act("bob", old, "supersede", body).ok()

    assert (decided["status"], decided["superseded_by"]) == ("superseded", new["id"])
    assert get(api, old)["superseded_by"] == new["id"]
    assert (last(api, old)["superseded_by"], last(api, old)["reason"]) == (
        new["id"],
        body["reason"],
    )


@pytest.mark.parametrize("successor", [None, ABSENT])
def test_a_memory_is_superseded_by_an_accepted_one_only(api, successor):
    body = {} if successor is None else {"superseded_by": successor}

    problem = api.act("bob", api.accept(), "supersede", body).refused(422, "invalid-request")

    assert [error["pointer"] for error in problem["errors"]] == ["/superseded_by"]


@pytest.mark.parametrize("reason", [None, "wrong", "duplicate"])
def test_a_tombstone_keeps_the_reason_s_code(api, reason):
    memory = api.accept()
    path, body = f"/api/memories/{memory['id']}", {"reason": reason}

    stone = api("max", "DELETE", path, body, match=memory["revision"]).ok()

    assert stone["reason"] == reason
    assert get(api, memory)["reason"] == reason
    assert last(api, memory)["reason"] == reason


def test_of_a_deletion_s_reason_no_free_text_stays(api):
    memory = api.accept()
    path, body = f"/api/memories/{memory['id']}", {"reason": "It told of the walrus."}

    stone = api("max", "DELETE", path, body, match=memory["revision"]).ok()

    assert (stone["reason"], last(api, memory)["reason"]) == (None, None)


@pytest.mark.parametrize("note", [None, "We all trip over this."])
def test_the_note_of_a_publication_is_the_reason_of_the_proposal(api, note):
    private = api.write(collection="private")

    public = api.act("ann", private, "publish", {"note": note}).ok(201)

    assert (last(api, public)["action"], last(api, public)["reason"]) == ("create", note)


def test_the_note_of_a_publication_goes_with_the_deletion(api):
    private = api.write(collection="private")
    public = api.act("ann", private, "publish", {"note": "Of the walrus."}).ok(201)

    api("max", "DELETE", f"/api/memories/{public['id']}", {}, match=public["revision"]).ok()

    shown = api("max", "GET", f"/api/memories/{public['id']}/revisions").ok()
    assert [revision["reason"] for revision in shown["items"]] == [None, None]


@pytest.mark.parametrize("note", [None, "It saved an hour."])
@pytest.mark.parametrize("helpful", [True, False])
def test_a_judgement_is_kept_with_its_note_and_selection(api, note, helpful):
    memory = api.accept(tags=["judged"])
    asked = {"query": memory["title"]}
    selection = api("ann", "POST", f"{api.base}/memory/selections", asked).ok(201)["id"]
    body = {"helpful": helpful, "note": note, "selection_id": selection}

    standing = api("ann", "POST", f"/api/memories/{memory['id']}/feedback", body).ok()

    (kept,) = judgements(api, memory)
    assert {name: kept[name] for name in body} == body
    assert (standing["trust"] > memory["trust"]) is helpful


@pytest.mark.parametrize("note", [None, "It misled me."])
@pytest.mark.parametrize("helpful", [True, False])
def test_an_outcome_is_kept_with_its_note_and_selection(api, note, helpful):
    memory = api.accept(tags=["judged"])
    path = f"{api.base}/memory/selections"
    selection = api("ann", "POST", path, {"query": memory["title"]}).ok(201)["id"]
    body = {"memory_id": memory["id"], "helpful": helpful, "note": note}

    api("ann", "POST", f"{path}/{selection}/feedback", body).ok()

    (kept,) = judgements(api, memory)
    assert (kept["helpful"], kept["note"]) == (helpful, note)
    assert kept["selection_id"] == selection


def batch(api, *steps, who="max", **options):
    return api(who, "POST", BATCH, {"operations": list(steps)} | options)


def step(action, memory, **more):
    return {"action": action, "id": memory["id"], "revision": memory["revision"]} | more


def test_a_dry_run_answers_as_if_and_changes_nothing(api):
    memory, doomed, edited = api.write(), api.accept(), api.write()
    steps = [
        step("approve", memory),
        step("delete", doomed),
        step("update", edited, changes={"title": "Tried"}),
    ]

    answer = batch(api, *steps, dry_run=True).ok()

    assert (answer["applied"], answer["dry_run"]) == (False, True)
    assert [(r["ok"], r["status"]) for r in answer["results"]] == [
        (True, "accepted"),
        (True, "deleted"),
        (True, "proposed"),
    ]
    assert [get(api, m) for m in (memory, doomed, edited)] == [memory, doomed, edited]

    done = batch(api, *steps).ok()

    assert (done["applied"], done["dry_run"]) == (True, False)
    assert [get(api, m)["status"] for m in (memory, doomed)] == ["accepted", "deleted"]
    assert get(api, edited)["title"] == "Tried"


@pytest.mark.parametrize("atomic", [True, False])
def test_with_atomic_one_refusal_keeps_everything_as_it_was(api, atomic):
    good, stale = api.write(), api.write()
    steps = [step("approve", good), step("approve", stale) | {"revision": 7}]

    reply = batch(api, *steps, atomic=atomic)

    assert (reply.status, reply.json["applied"]) == ((409, False) if atomic else (200, True))
    assert get(api, good)["status"] == ("proposed" if atomic else "accepted")
    assert get(api, stale) == stale


def test_with_atomic_and_no_refusal_all_steps_apply(api):
    memories = [api.write(), api.write()]

    answer = batch(api, *(step("approve", memory) for memory in memories), atomic=True).ok()

    assert answer["applied"] is True
    assert {get(api, memory)["status"] for memory in memories} == {"accepted"}


def test_a_step_changes_the_fields_that_were_given_and_no_other(api):
    memory = api.write(tags=["old"])
    changes = {"title": "Reworded in a batch", "tags": ["new"]}

    answer = batch(api, step("update", memory, changes=changes), who="ann").ok()

    assert answer["results"][0]["revision"] == 2
    after = get(api, memory)
    assert {name: after[name] for name in changes} == changes
    assert (after["body"], after["kind"]) == (memory["body"], memory["kind"])


def test_a_step_is_decided_with_its_comment_reason_and_successor(api):
    commented, reasoned, old, doomed = (
        api.write(),
        api.accept(),
        api.accept(),
        api.accept(),
    )
    new = api.accept()

    answer = batch(
        api,
        step("approve", commented, comment="Seen."),
        step("outdate", reasoned, reason="It moved."),
        step("supersede", old, superseded_by=new["id"], reason="Said better."),
        step("delete", doomed, reason="wrong"),
    ).ok()

    assert [r["error"] for r in answer["results"]] == [None] * 4
    assert get(api, commented)["approvals"][0]["comment"] == "Seen."
    assert last(api, reasoned)["reason"] == "It moved."
    assert get(api, old)["superseded_by"] == new["id"]
    assert last(api, old)["reason"] == "Said better."
    assert get(api, doomed)["reason"] == "wrong"


def test_a_step_publishes_the_memory_that_was_given(api):
    private = api.write(collection="private")

    (result,) = batch(api, step("publish", private, reason="Of use to all."), who="ann").ok()[
        "results"
    ]

    public = get(api, {"id": result["id"]})
    assert (public["title"], public["collection"], public["status"]) == (
        private["title"],
        "project",
        "proposed",
    )
    assert result["id"] != private["id"]
    assert last(api, public)["reason"] == "Of use to all."
