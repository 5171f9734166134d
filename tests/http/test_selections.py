"""Routes of search, graph and selections over a real port: refused cases of each route first."""

import hashlib

import pytest

ABSENT = "sel_absent"
SEARCH = ("GET", "/memory/search?q=walrus")
GRAPH = ("GET", "/memory/graph")
SELECT = ("POST", "/memory/selections", {"query": "walrus"})
LIST = ("GET", "/memory/selections")
GET = ("GET", "/memory/selections/{id}")
REPLAY = ("POST", "/memory/selections/{id}/replay", {})
JUDGE = ("POST", "/memory/selections/{id}/feedback", {"memory_id": "mem_x", "helpful": True})
OF_PROJECT = [SEARCH, GRAPH, SELECT, LIST]
OF_SELECTION = [GET, REPLAY, JUDGE]
EVERY = [*OF_PROJECT, *OF_SELECTION]
BODIES = [SELECT, REPLAY, JUDGE]


def named(route):
    return f"{route[0]} {route[1]}"


def send(api, who, route, selection_id=ABSENT, base=None, **more):
    path = (base or api.base) + route[1].replace("{id}", selection_id)
    return api(who, route[0], path, route[2] if len(route) == 3 else None, **more)


def select(api, who="reader", **request):
    return api(who, "POST", f"{api.base}/memory/selections", request).ok(201)


@pytest.fixture(scope="module")
def walrus(api):
    return api.accept(title="Walrus", body="It swims.", paths=["src/sea/**"], tags=["sea"])


@pytest.fixture(scope="module")
def made(api, walrus):
    return select(api, "ann", query=walrus["title"])


@pytest.mark.parametrize("route", EVERY, ids=named)
@pytest.mark.parametrize("token", [None, "x", "cfm_local_a_b"])
def test_without_a_token_every_route_is_unauthenticated(api, made, route, token):
    send(api, token, route, made["id"]).refused(401, "unauthenticated")


@pytest.mark.parametrize("route", EVERY, ids=named)
@pytest.mark.parametrize("who", ["foreign", "elsewhere", "ops"])
def test_a_project_out_of_reach_is_answered_like_one_that_is_absent(api, made, route, who):
    hidden = send(api, who, route, made["id"])
    absent = send(api, who, route, made["id"], base="/api/projects/prj_absent")

    hidden.refused(404, "not-found")
    assert hidden.shape(api.project.project_id) == absent.shape("prj_absent")


@pytest.mark.parametrize("route", OF_SELECTION, ids=named)
@pytest.mark.parametrize("who", ["abe", "reader"])
def test_anothers_selection_is_answered_like_one_that_is_absent(api, made, route, who):
    hidden = send(api, who, route, made["id"])

    hidden.refused(404, "not-found")
    assert hidden.shape(made["id"]) == send(api, who, route).shape(ABSENT)


@pytest.mark.parametrize("route", BODIES, ids=named)
def test_an_unknown_field_is_invalid_at_its_pointer(api, made, route):
    route = (*route[:2], route[2] | {"odd": 1})

    problem = send(api, "ann", route, made["id"]).refused(422, "invalid-request")

    assert [error["pointer"] for error in problem["errors"]] == ["/odd"]


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"paths": ["ok.py", "../up"]}, "/paths/1"),
        ({"paths": ["a"] * 513}, "/paths"),
        ({"head": "main"}, "/head"),
        ({"branch": ""}, "/branch"),
        ({"kinds": ["odd"]}, "/kinds/0"),
        ({"match": "fuzzy"}, "/match"),
        ({"profile": "odd"}, "/profile"),
        ({"budget": {"characters": 0}}, "/budget/characters"),
        ({"budget": {"entries": 101}}, "/budget/entries"),
        ({"budget": {"odd": 1}}, "/budget/odd"),
        ({"run_id": "run_absent"}, "/run_id"),
        ({"query": 7}, "/query"),
        ({"explain": "yes"}, "/explain"),
    ],
)
def test_a_request_without_the_form_is_invalid_at_its_pointer(api, fields, pointer):
    problem = api("ann", "POST", f"{api.base}/memory/selections", fields).refused(
        422, "invalid-request"
    )

    assert problem["errors"][0]["pointer"].startswith(pointer)


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("search", {}),
        ("search", {"q": "x", "limit": 101}),
        ("search", {"q": "x", "limit": 0}),
        ("search", {"q": "x", "kind": "odd"}),
        ("search?q=x&match=odd", {}),
        ("graph", {"depth": 3}),
        ("graph", {"type": "imports"}),
        ("graph", {"kind": "odd"}),
        ("graph", {"status": "odd"}),
        ("selections", {"limit": 0}),
        ("selections", {"cursor": "x"}),
    ],
)
def test_a_wrong_parameter_is_invalid(api, path, query):
    api("ann", "GET", f"{api.base}/memory/{path}", **query).refused(422, "invalid-request")


def test_search_answers_with_what_matched(api, walrus):
    answer = api("reader", "GET", f"{api.base}/memory/search", q="the walrus sea").ok()

    (hit,) = answer["results"]
    assert hit == {
        "memory_id": walrus["id"],
        "revision": 2,
        "title": "Walrus",
        "score": hit["score"],
        "matched": {"walrus": ["title"], "sea": ["tags"]},
        "snippet": "It swims.",
    }
    assert (answer["terms"], answer["terms_dropped"]) == (["walrus", "sea"], [])
    assert answer["seeds_truncated"] is False


def test_a_selection_is_a_manifest_with_reasons_and_the_text_to_inject(api, walrus):
    made = select(api, query="walrus", paths=["src/sea/a.py"], branch="main")

    (entry,) = made["entries"]
    assert (entry["memory_id"], entry["content_sha256"]) == (
        walrus["id"],
        walrus["content_sha256"],
    )
    assert [reason["type"] for reason in entry["reasons"]] == ["term", "path"]
    assert (entry["redacted"], entry["withheld"], entry["warnings"]) == (False, False, [])
    assert made["request"]["paths"] == ["src/sea/a.py"]
    assert (made["request"]["branch"], made["query"], made["terms"]) == (
        "main",
        "walrus",
        ["walrus"],
    )
    assert hashlib.sha256(made["context"].encode()).hexdigest() == made["context_sha256"]
    again = select(api, query="walrus", paths=["src/sea/a.py"], branch="main")
    for name in ("entries", "context", "context_sha256", "manifest_sha256", "free_sha256"):
        assert made[name] == again[name]


def test_paths_and_branches_mean_the_same_in_either_normal_form(api):
    memory = api.accept(paths=["src/é.py"], branches=["é"], body="A puffin sits.")

    made = select(api, query="puffin", paths=["src/e\u0301.py"], branch="e\u0301")

    assert [entry["memory_id"] for entry in made["entries"]] == [memory["id"]]


def test_a_stored_manifest_is_returned_and_replayed(api, made):
    base = f"{api.base}/memory/selections"
    stored = api("ann", "GET", f"{base}/{made['id']}").ok()
    replayed = api("ann", "POST", f"{base}/{made['id']}/replay", {}).ok()
    bare = api("ann", "POST", f"{base}/{made['id']}/replay").ok()
    listed = api("ann", "GET", base).ok()

    assert stored == made
    assert (replayed["context"], replayed["verified"]) == (made["context"], True)
    assert bare == replayed
    assert made["id"] in [item["id"] for item in listed["items"]]


def test_a_reviewer_reads_of_anothers_selection_no_number_that_rests_on_what_only_they_saw(api):
    for _ in range(2):
        api.accept(title="Gannet", paths=["src/gannet.py"])
    budget = {"entries": 1}
    made = select(api, "ann", query="gannet", paths=["src/gannet.py"], budget=budget, explain=True)
    path = f"{api.base}/memory/selections/{made['id']}"

    replayed = api("bob", "POST", f"{path}/replay", {}).ok()
    stored = api("bob", "GET", path).ok()

    assert (replayed["verified"], replayed["context"]) == (True, made["context"])
    assert (replayed["manifest_sha256"], stored["manifest_sha256"]) == (None, None)
    assert stored["free_sha256"] is None
    assert {name for entry in replayed["entries"] for name in entry} == {
        "memory_id",
        "revision",
        "state",
        "redacted",
        "withheld",
    }
    assert [entry["score"] for entry in stored["entries"]] == [None]
    assert [omitted.keys() for omitted in stored["omitted"]] == [{"memory_id", "reason"}]
    assert (stored["truncated"], stored["filters"].keys()) == ({}, {"branch", "ancestry"})
    assert made["manifest_sha256"] is not None
    assert made["filters"]["removed"] is not None


def test_a_secret_in_the_query_is_redacted_before_it_is_stored(api):
    secret = "ghp_" + "a1B2" * 9

    made = api("ann", "POST", f"{api.base}/memory/selections", {"query": f"why {secret}"})

    assert made.ok(201)["query"].startswith("why ")
    stored = api("ann", "GET", f"{api.base}/memory/selections/{made.json['id']}")
    for reply in (made, stored):
        assert secret.casefold() not in reply.text.casefold()


def test_after_a_deletion_words_are_gone_and_hashes_stay(api):
    memory = api.accept(title="Narwhal", body="seldom seen")
    made = select(api, query="narwhal", paths=["narwhal.py"])
    path = f"{api.base}/memory/selections/{made['id']}"
    api("max", "DELETE", f"/api/memories/{memory['id']}", match=2).ok()

    stored = api("reader", "GET", path)
    replayed = api("reader", "POST", f"{path}/replay", {})

    for reply in (stored, replayed):
        assert "arwhal" not in reply.text
        assert "seldom" not in reply.text
        assert reply.ok()["entries"][0]["redacted"] is True
    assert (stored.json["query"], stored.json["terms"]) == (None, [])
    assert stored.json["manifest_sha256"] == made["manifest_sha256"]
    assert replayed.json["verified"] is False


def test_an_outcome_is_recorded_once(api, walrus, made):
    path = f"{api.base}/memory/selections/{made['id']}/feedback"
    body = {"memory_id": walrus["id"], "helpful": True}

    standing = api("ann", "POST", path, body, key="judge").ok()

    assert api("ann", "POST", path, body, key="judge").ok() == standing
    assert api("ann", "POST", path, body).ok()["counted"] is False
    api("ann", "POST", path, body | {"helpful": False}, key="judge").refused(
        409, "operation-reused"
    )
    api("ann", "POST", path, body | {"memory_id": "mem_x"}).refused(422, "invalid-request")


def test_the_graph_names_nodes_and_edges(api, walrus):
    source = {"memory_id": walrus["id"], "revision": walrus["revision"]}
    child = api.write(derived_from=[source])

    picture = api("ann", "GET", f"{api.base}/memory/graph", around=child["id"]).ok()
    for_reader = api("reader", "GET", f"{api.base}/memory/graph", around=child["id"]).ok()

    (edge,) = picture["edges"]
    assert edge == {
        "source": f"memory:{child['id']}",
        "type": "derived_from",
        "target": f"memory:{walrus['id']}",
        "memory_id": child["id"],
        "memory_revision": 1,
        "target_revision": 2,
        "resolved": True,
    }
    nodes = {node["key"]: node for node in picture["nodes"]}
    assert (nodes[child["id"]]["proposed"], nodes[walrus["id"]]["title"]) == (True, "Walrus")
    assert (picture["truncated"], picture["limits"]) == (False, {"edges": 1000})
    assert (for_reader["nodes"], for_reader["edges"]) == ([], [])


def test_a_target_that_no_longer_stands_is_a_node_without_a_title(api):
    """Even where the entry itself stands in the picture, for what it supplies."""
    otter = api.accept(title="Otter", body="It dives.", paths=["src/river/**"])
    source = {"memory_id": otter["id"], "revision": otter["revision"]}
    child = api.act("bob", api.write(derived_from=[source]), "approve").ok()
    outdated = api.act("bob", otter, "outdate").ok()
    assert outdated["paths"], "it supplies an edge of its own"

    picture = api("reader", "GET", f"{api.base}/memory/graph").ok()

    (edge,) = (e for e in picture["edges"] if e["memory_id"] == child["id"])
    nodes = {node["id"]: node for node in picture["nodes"]}
    assert (edge["type"], edge["resolved"]) == ("derived_from", False)
    target = f"memory:{otter['id']}@2"
    assert nodes[edge["target"]] == {"id": target, "kind": "memory", "key": otter["id"]}
    around = api("reader", "GET", f"{api.base}/memory/graph", around=target).ok()
    assert edge in around["edges"]
