"""Routes of memories over a real port: refused cases of each route first."""

import pytest

from codeflow_memory.services import holds
from codeflow_memory.services.holds import Target
from codeflow_memory.services.mutation import Operation
from codeflow_memory.storage import feedback as judgements

ABSENT = "mem_01KABCDEFGHJKMNPQRSTVWXYZ0"
TOO_LARGE = b'{"title": "' + b"x" * (40 * 1024 * 1024)

READS = [
    ("GET", "/api/memories/{id}"),
    ("GET", "/api/memories/{id}/revisions"),
    ("GET", "/api/memories/{id}/revisions/1"),
    ("GET", "/api/memories/{id}/diff?from=1&to=1"),
]
DECISIONS = ["approve", "reject", "supersede", "outdate", "archive", "restore", "return"]
REVISED = [
    ("PATCH", "/api/memories/{id}", {"title": "Another"}),
    ("DELETE", "/api/memories/{id}", {}),
    ("POST", "/api/memories/{id}/publish", {}),
    *(("POST", f"/api/memories/{{id}}/{action}", {}) for action in DECISIONS),
]
FEEDBACK = ("POST", "/api/memories/{id}/feedback", {"helpful": True})
CREATE = ("POST", "{base}/memories", {})
LIST = ("GET", "{base}/memories")
BATCH = ("POST", "/api/memories/batch", {"operations": []})
EVERY = [*READS, *REVISED, FEEDBACK, CREATE, LIST, BATCH]
BODIES = [route for route in EVERY if len(route) == 3]


def named(route):
    return f"{route[0]} {route[1]}"


def send(api, who, route, memory_id, base=None, **more):
    path = route[1].replace("{id}", memory_id).replace("{base}", base or api.base)
    body = route[2] if len(route) == 3 else None
    return api(who, route[0], path, body, **more)


@pytest.fixture(scope="module")
def accepted(api):
    return api.accept()


@pytest.mark.parametrize("route", EVERY, ids=named)
@pytest.mark.parametrize("token", [None, "x", "cfm_local_a_b"])
def test_without_a_token_every_route_is_unauthenticated(api, accepted, route, token):
    reply = send(api, token, route, accepted["id"], match=1)

    reply.refused(401, "unauthenticated")
    assert accepted["title"] not in reply.text


@pytest.mark.parametrize("route", [*READS, *REVISED, FEEDBACK], ids=named)
@pytest.mark.parametrize("who", ["foreign", "elsewhere", "ops"])
def test_what_is_out_of_reach_is_answered_like_what_is_absent(api, accepted, route, who):
    hidden = send(api, who, route, accepted["id"], match=2)
    absent = send(api, who, route, ABSENT, match=2)

    hidden.refused(404, "not-found")
    assert hidden.shape(accepted["id"]) == absent.shape(ABSENT)


@pytest.mark.parametrize("route", [*READS, *REVISED, FEEDBACK], ids=named)
@pytest.mark.parametrize("kind", ["private", "secret"])
def test_others_private_and_secret_entries_are_answered_like_absent_ones(api, route, kind):
    fields = {"collection": "private"} if kind == "private" else {"sensitivity": "secret"}
    memory = api.write("abe", **fields)

    for who in ("ann", "bob", "max", "reader"):
        hidden = send(api, who, route, memory["id"], match=1)
        assert hidden.shape(memory["id"]) == send(api, who, route, ABSENT, match=1).shape(ABSENT)
        hidden.refused(404, "not-found")


@pytest.mark.parametrize("route", [*READS, *REVISED, FEEDBACK], ids=named)
def test_a_proposal_does_not_exist_for_a_reader(api, route):
    memory = api.write()

    hidden = send(api, "reader", route, memory["id"], match=1)

    assert hidden.shape(memory["id"]) == send(api, "reader", route, ABSENT, match=1).shape(ABSENT)


@pytest.mark.parametrize("route", [CREATE, LIST], ids=named)
@pytest.mark.parametrize("who", ["foreign", "elsewhere", "ops"])
def test_a_project_out_of_reach_is_answered_like_one_that_is_absent(api, route, who):
    draft = {"collection": "project", "kind": "fact", "title": "t", "body": "b"}
    route = (*route[:2], draft) if len(route) == 3 else route

    hidden = send(api, who, route, "")
    absent = send(api, who, route, "", base="/api/projects/prj_absent")

    hidden.refused(404, "not-found")
    assert hidden.shape(api.project.project_id) == absent.shape("prj_absent")


@pytest.mark.parametrize("route", REVISED, ids=named)
def test_a_change_needs_the_revision_that_it_is_based_on(api, accepted, route):
    send(api, "max", route, accepted["id"]).refused(428, "revision-required")
    for match in ("*", 'W/"2"', "2", '"-1"', '"01"', '"x"'):
        send(api, "max", route, accepted["id"], match=match).refused(422, "invalid-request")
    for match in (0, 1, 3, 999_999_999):
        problem = send(api, "max", route, accepted["id"], match=match).refused(
            412, "revision-conflict"
        )
        assert (problem["current_revision"], problem["expected_revision"]) == (2, match)
        assert problem["current"]["body"] == accepted["body"]


@pytest.mark.parametrize(
    ("who", "route"),
    [("reader", route) for route in REVISED] + [("ann", route) for route in REVISED[3:]],
    ids=lambda given: given if isinstance(given, str) else named(given),
)
def test_what_is_visible_but_not_allowed_is_forbidden(api, who, route):
    memory = api.accept()

    send(api, who, route, memory["id"], match=2).refused(403, "forbidden")

    assert api("max", "GET", f"/api/memories/{memory['id']}").ok()["revision"] == 2


@pytest.mark.parametrize("route", BODIES, ids=named)
def test_an_unknown_field_is_invalid_at_its_pointer(api, accepted, route):
    route = (*route[:2], route[2] | {"status": "accepted"})

    problem = send(api, "max", route, accepted["id"], match=2).refused(422, "invalid-request")

    assert "/status" in [error["pointer"] for error in problem["errors"]]


@pytest.mark.parametrize("route", BODIES, ids=named)
@pytest.mark.parametrize("raw", [b"{", b"[]", b'{"a": 1, "a": 2}', b'"x"', b"\xff"])
def test_a_body_that_does_not_parse_is_invalid(api, accepted, route, raw):
    path = route[1].replace("{id}", accepted["id"]).replace("{base}", api.base)

    api("max", route[0], path, raw=raw, match=2).refused(422, "invalid-request")


@pytest.mark.parametrize("route", BODIES, ids=named)
def test_an_oversized_body_is_refused(api, accepted, route):
    path = route[1].replace("{id}", accepted["id"]).replace("{base}", api.base)
    head = (
        f"{route[0]} {path} HTTP/1.1",
        f"Host: {api.served.host}",
        f"Authorization: Bearer {api.tokens['max']}",
        "Content-Type: application/json",
        f"Content-Length: {len(TOO_LARGE)}",
        "",
        "",
    )

    answer = api.served.raw("\r\n".join(head).encode())

    assert (answer.status, b'"limit-exceeded"' in answer.body) == (413, True)


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"limit": "0"}, "limit"),
        ({"limit": "101"}, "limit"),
        ({"limit": "x"}, "limit"),
        ({"cursor": "x"}, "cursor"),
        ({"status": "odd"}, "status"),
        ({"kind": "odd"}, "kind"),
        ({"collection": "odd"}, "collection"),
    ],
)
def test_a_list_with_a_wrong_parameter_is_invalid(api, query, pointer):
    problem = api("reader", "GET", f"{api.base}/memories", **query).refused(422, "invalid-request")

    assert pointer in problem["errors"][0]["pointer"]


@pytest.mark.parametrize(
    "path", ["revisions/0", "revisions/-1", "revisions/x", "revisions/3", "odd"]
)
def test_a_revision_that_never_was_is_not_found(api, accepted, path):
    api("ann", "GET", f"/api/memories/{accepted['id']}/{path}").refused(404, "not-found")


@pytest.mark.parametrize("query", [{}, {"from": 1}, {"from": 0, "to": 1}, {"from": "x", "to": 1}])
def test_a_diff_names_two_revisions(api, accepted, query):
    path = f"/api/memories/{accepted['id']}/diff"

    api("ann", "GET", path, **query).refused(422, "invalid-request")


def test_a_reviewer_sees_the_diff_against_what_is_superseded(api, accepted):
    old = {"memory_id": accepted["id"], "revision": accepted["revision"]}
    new = api.write(title="Another title", supersedes=old)

    diff = api("bob", "GET", f"/api/memories/{new['id']}/diff").ok()

    assert (diff["memory_id"], diff["from"], diff["to"]) == (new["id"], old["revision"], 1)
    assert "title" in [field["field"] for field in diff["fields"]]


def test_a_memory_is_written_read_and_decided(api):
    reply = api(
        "ann",
        "POST",
        f"{api.base}/memories",
        {"collection": "project", "kind": "fact", "title": "Walrus", "body": "It swims."},
    )
    memory = reply.ok(201)
    assert (reply.headers["etag"], memory["status"], memory["approvals"]) == (
        '"1"',
        "proposed",
        [],
    )

    decided = api.act("bob", memory, "approve", {"comment": "yes", "reason": "so it is"})
    assert (decided.headers["etag"], decided.ok()["status"]) == ('"2"', "accepted")
    read = api("reader", "GET", f"/api/memories/{memory['id']}")
    assert (read.headers["etag"], read.json) == ('"2"', decided.json)
    assert read.json["approvals"][0]["comment"] == "yes"

    listed = api("reader", "GET", f"{api.base}/memories", q="walrus").ok()
    assert [item["id"] for item in listed["items"]] == [memory["id"]]
    assert listed["items"][0] == read.json
    revisions = api("reader", "GET", f"/api/memories/{memory['id']}/revisions").ok()
    assert [(r["action"], r["reason"]) for r in revisions["items"]] == [
        ("create", None),
        ("approve", "so it is"),
    ]
    diff = api("reader", "GET", f"/api/memories/{memory['id']}/diff", **{"from": 1, "to": 2}).ok()
    assert (diff["from"], diff["to"]) == (1, 2)
    assert diff["fields"] == [{"field": "status", "from": "proposed", "to": "accepted"}]


def test_a_duplicate_is_answered_with_200_and_the_entry(api):
    memory = api.write()
    draft = {key: memory[key] for key in ("collection", "kind", "title", "body")}

    again = api("abe", "POST", f"{api.base}/memories", draft).ok(200)

    assert (again["id"], again["duplicate"]) == (memory["id"], True)


def test_an_operation_is_done_once(api):
    draft = {"collection": "private", "kind": "fact", "title": "Once", "body": "Only."}
    path = f"{api.base}/memories"
    first = api("ann", "POST", path, draft, key="once")

    again = api("ann", "POST", path, draft, key="once")
    assert (again.status, again.json) == (first.status, first.json)
    other = api("ann", "POST", path, draft | {"title": "Twice"}, key="once")
    other.refused(409, "operation-reused")


def test_a_held_memory_is_not_deleted(api):
    memory = api.accept()
    path = f"/api/memories/{memory['id']}"
    target, operation = Target(memory["id"]), Operation(None, ())
    holds.add(api.world.store, api.world.owner, target, "a case", operation)

    refused = api("max", "DELETE", path, match=2).refused(409, "legal-hold")

    assert refused["memory_ids"] == [memory["id"]]
    assert api("reader", "GET", path).ok()["body"] == memory["body"]


@pytest.mark.parametrize("raw", [None, b"{}", b'{"reason": "wrong"}'])
def test_a_deletion_leaves_a_tombstone_with_a_body_or_without(api, raw):
    memory = api.accept()
    path = f"/api/memories/{memory['id']}"

    reply = api("max", "DELETE", path, match=2, raw=raw)
    stone = reply.ok()

    assert (stone["status"], stone["revision"], reply.headers["etag"]) == ("deleted", 3, '"3"')
    assert memory["body"] not in reply.text
    assert api("reader", "GET", path).ok() == stone
    api.act("bob", stone, "restore").refused(409, "illegal-transition")


def test_an_illegal_move_names_both_states(api):
    memory = api.act("bob", api.write(), "reject").ok()

    problem = api.act("bob", memory, "approve").refused(409, "illegal-transition")

    assert (problem["from"], problem["to"]) == ("rejected", "accepted")


def test_what_was_rejected_is_refused_when_it_comes_again(api):
    memory = api.write()
    api.act("bob", memory, "reject").ok()
    draft = {key: memory[key] for key in ("collection", "kind", "title", "body")}

    problem = api("abe", "POST", f"{api.base}/memories", draft).refused(409, "previously-rejected")

    assert problem["memory_id"] == memory["id"]


def test_a_publication_is_a_proposal_of_its_own(api):
    private = api.write(collection="private")

    reply = api.act("ann", private, "publish", {"note": "useful"})

    public = reply.ok(201)
    assert (public["collection"], public["status"], reply.headers["etag"]) == (
        "project",
        "proposed",
        '"1"',
    )
    assert public["derived_from"] == [{"memory_id": private["id"], "revision": 1, "resolved": True}]
    (first,) = api("bob", "GET", f"/api/memories/{public['id']}/revisions").ok()["items"]
    assert (first["action"], first["reason"]) == ("create", "useful")


@pytest.mark.parametrize("way", ["memory", "selection"])
def test_the_note_of_a_judgement_is_stored(api, way):
    memory = api.accept(title="Cormorant")
    made = api("ann", "POST", f"{api.base}/memory/selections", {"query": "cormorant"}).ok(201)
    body = {"helpful": False, "note": "it dives no more"}
    path = f"/api/memories/{memory['id']}/feedback"
    if way == "selection":
        path = f"{api.base}/memory/selections/{made['id']}/feedback"
        body |= {"memory_id": memory["id"]}

    api("ann", "POST", path, body).ok()

    with api.world.store.engine.read() as tx:
        (kept,) = judgements.find_all(tx, api.project.repository_id, memory["id"])
    assert (kept.note, kept.helpful) == ("it dives no more", False)


def test_feedback_answers_with_the_trust(api):
    memory = api.accept()
    path = f"/api/memories/{memory['id']}/feedback"

    standing = api("reader", "POST", path, {"helpful": False, "note": "stale"}).ok()

    assert (standing["trust"], standing["counted"]) == (memory["trust"] - 1_500, True)
    api("reader", "POST", path, {"helpful": "very"}).refused(422, "invalid-request")
    api("reader", "POST", path, {"helpful": True, "selection_id": "sel_x"}).refused(
        422, "invalid-request"
    )


def test_a_batch_applies_what_is_good_and_tells_the_rest(api):
    good, own = api.write(), api.write("bob")
    operations = [
        {"action": "approve", "id": good["id"], "revision": 1},
        {"action": "approve", "id": own["id"], "revision": 1},
        {"action": "approve", "id": ABSENT, "revision": 1},
    ]

    atomic = api("bob", "POST", BATCH[1], {"operations": operations, "atomic": True})
    assert (atomic.status, atomic.json["applied"]) == (409, False)
    answer = api("bob", "POST", BATCH[1], {"operations": operations}).ok()

    assert [r["ok"] for r in answer["results"]] == [True, False, False]
    assert [r["error"] and r["error"]["code"] for r in answer["results"]] == [
        None,
        "forbidden",
        "not-found",
    ]
    api("bob", "POST", BATCH[1], {"operations": [operations[0]] * 501}).refused(
        422, "invalid-request"
    )


def test_pages_follow_a_signed_cursor_of_ones_own(api):
    for _ in range(3):
        api.write(tags=["paged"])
    path = f"{api.base}/memories"
    query = {"status": "proposed", "tag": "paged", "limit": 2}

    first = api("ann", "GET", path, **query).ok()
    second = api("ann", "GET", path, **query, cursor=first["next_cursor"]).ok()

    assert (len(first["items"]), len(second["items"]), second["next_cursor"]) == (2, 1, None)
    cursor = first["next_cursor"]
    for who, changed in (
        ("ann", query | {"cursor": cursor[:-2]}),
        ("ann", query | {"tag": "other", "cursor": cursor}),
        ("abe", query | {"cursor": cursor}),
    ):
        api(who, "GET", path, **changed).refused(422, "invalid-request")
