"""Every parameter that narrows a list, a search or a graph leaves what it says, and no more."""

import pytest

BIRDS = {
    "Heron": {},
    "Egret": {"kind": "fact"},
    "Tern": {"tags": ["sea"]},
    "Puffin": {"paths": ["src/sea/**"]},
    "Swift": {"branches": ["release/*"]},
    "Wren": {"collection": "private"},
}
"""What tells each accepted entry from the others."""

ALL = set(BIRDS)


def entry(name, **fields):
    return {"title": name, "body": f"{name * 3} {name * 5}: a bird."} | fields


@pytest.fixture(scope="module")
def birds(api):
    """The entries of a project by title; `Rook` is proposed and derived from `Puffin`."""
    made = {}
    for name, fields in BIRDS.items():
        private = fields.get("collection") == "private"
        made[name] = (api.write if private else api.accept)(**entry(name, **fields))
    parent = {"memory_id": made["Puffin"]["id"], "revision": made["Puffin"]["revision"]}
    made["Rook"] = api.write(**entry("Rook", derived_from=[parent]))
    return made


def ask(api, path, query):
    return api("ann", "GET", f"{api.base}/{path}?{query}").ok()


def titles(items):
    found = [item["title"] for item in items]
    assert len(found) == len(set(found))
    return set(found)


@pytest.mark.usefixtures("birds")
@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("", ALL),
        ("status=accepted", ALL),
        ("status=proposed", {"Rook"}),
        ("collection=private", {"Wren"}),
        ("collection=project", ALL - {"Wren"}),
        ("kind=fact", {"Egret"}),
        ("tag=sea", {"Tern"}),
        ("path=src/sea/a.py", {"Puffin"}),
        ("path=src/land/a.py", set()),
        ("q=heronheronheron", {"Heron"}),
        ("q=bird&kind=fact&tag=sea", set()),
    ],
)
def test_a_list_holds_what_every_filter_admits(api, query, left):
    page = ask(api, "memories", query)

    assert titles(page["items"]) == left
    assert sum(page["facets"]["collection"].values()) == len(left)


@pytest.mark.usefixtures("birds")
@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("q=bird", ALL),
        ("q=heronheronheron", {"Heron"}),
        ("q=bird&kind=fact", {"Egret"}),
        ("q=bird&collection=private", {"Wren"}),
        ("q=bird&path=src/land/a.py", ALL - {"Puffin"}),
        ("q=bird&path=src/sea/a.py", ALL),
        ("q=bird&branch=main", ALL - {"Swift"}),
        ("q=bird&branch=release/1", ALL),
        ("q=birds", ALL),
        ("q=birds&match=all", ALL),
        ("q=birds&match=literal", set()),
        ("q=bird&match=literal", ALL),
    ],
)
def test_a_search_finds_what_every_parameter_admits(api, query, left):
    found = ask(api, "memory/search", query)

    assert titles(found["results"]) == left


@pytest.mark.usefixtures("birds")
def test_a_search_returns_the_best_of_as_many_as_are_wanted(api):
    whole = ask(api, "memory/search", "q=bird")

    for limit in (1, 2, 5):
        part = ask(api, "memory/search", f"q=bird&limit={limit}")
        assert part["results"] == whole["results"][:limit]


APPLIES = ("Puffin", "applies_to", "file:src/sea/**")
BRANCH = ("Swift", "applies_to", "branch:release/*")
DERIVED = ("Rook", "derived_from", "Puffin")


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("", {APPLIES, BRANCH, DERIVED}),
        ("type=derived_from", {DERIVED}),
        ("type=derived_from&type=applies_to", {APPLIES, BRANCH, DERIVED}),
        ("kind=file", {APPLIES}),
        ("kind=memory&kind=branch", {DERIVED, BRANCH}),
        ("status=proposed", {DERIVED}),
        ("status=accepted&status=archived", {APPLIES, BRANCH}),
        ("around=Rook", {DERIVED}),
        ("around=Rook&depth=1", {DERIVED}),
        ("around=Rook&depth=2", {DERIVED, APPLIES}),
        ("around=branch:release/*", {BRANCH}),
    ],
)
def test_a_graph_holds_the_edges_that_every_filter_admits(api, birds, query, left):
    names = {f"memory:{memory['id']}": name for name, memory in birds.items()}
    query = query.replace("Rook", birds["Rook"]["id"])

    edges = ask(api, "memory/graph", query)["edges"]

    found = {(names[e["source"]], e["type"], names.get(e["target"], e["target"])) for e in edges}
    assert found == left
    assert len(edges) == len(left)


@pytest.fixture(scope="module")
def twins(api):
    """Two repositories, each with a project of the same slug; a selection of an entry in one."""
    repository, other = (api.world.project("twin").repository_id for _ in range(2))
    body = {"collection": "private", "kind": "fact", "title": "Lark", "body": "It sings."}
    base, repo = "/api/projects/twin", {"repo": repository}
    memory = api("ann", "POST", f"{base}/memories", body, **repo).ok(201)
    asked = {"query": "lark"} | repo
    selection = api("ann", "POST", f"{base}/memory/selections", asked).ok(201)
    assert [e["memory_id"] for e in selection["entries"]] == [memory["id"]]
    return {"repo": repository, "other": other, "id": selection["id"], "memory": memory["id"]}


OF_REPOSITORY = [
    ("GET", ""),
    ("GET", "/memories"),
    ("POST", "/memories", {"collection": "private", "kind": "fact", "title": "a", "body": "b"}),
    ("GET", "/memory/search?q=lark"),
    ("GET", "/memory/graph"),
    ("GET", "/memory/selections"),
    ("GET", "/memory/selections/{id}"),
    ("POST", "/memory/selections/{id}/replay", {}),
    ("POST", "/memory/selections/{id}/feedback", {"memory_id": "{memory}", "helpful": True}),
    ("POST", "/memory/verify", {"memory_ids": []}),
]


@pytest.mark.parametrize("route", OF_REPOSITORY, ids=lambda r: f"{r[0]} {r[1]}")
def test_a_slug_of_two_projects_means_the_one_of_the_repository_named(api, twins, route):
    path = f"/api/projects/twin{route[1].replace('{id}', twins['id'])}"
    body = None
    if len(route) == 3:
        body = {k: twins["memory"] if v == "{memory}" else v for k, v in route[2].items()}

    api("ann", route[0], path, body).refused(404, "not-found")
    named = path + ("&" if "?" in path else "?") + f"repo={twins['repo']}"
    reply = api("ann", route[0], named, body)

    assert reply.status in {200, 201}, reply.text
    if "{id}" in route[1]:
        other = named.replace(twins["repo"], twins["other"])
        api("ann", route[0], other, body).refused(404, "not-found")


def test_a_selection_names_the_repository_in_its_body(api, twins):
    path, body = "/api/projects/twin/memory/selections", {"query": "lark"}

    api("ann", "POST", path, body).refused(404, "not-found")

    for repo, entries in ((twins["repo"], 1), (twins["other"], 0)):
        made = api("ann", "POST", path, body | {"repo": repo}).ok(201)
        assert (made["repository_id"], len(made["entries"])) == (repo, entries)


@pytest.mark.parametrize("path", ["/api/projects", "/api/repositories"])
def test_of_projects_and_repositories_those_of_the_one_named_are_listed(api, twins, path):
    named = api("ann", "GET", path, repo=twins["repo"]).ok()["items"]
    every = api("ann", "GET", path).ok()["items"]

    key = "repository_id" if path == "/api/projects" else "id"
    assert [item[key] for item in named] == [twins["repo"]]
    assert {twins["repo"], twins["other"]} < {item[key] for item in every}


@pytest.mark.parametrize("name", ["grants", "tokens"])
def test_of_grants_and_tokens_those_of_the_principal_named_are_listed(api, name):
    path = f"/api/admin/{name}"
    holder = "principal_id" if name == "grants" else "principal"
    every = api("olga", "GET", path, limit=100).ok()["items"]

    (own,) = api("olga", "GET", path, principal="ann").ok()["items"]
    assert own in every
    assert len({item[holder] for item in every}) > 1
    same = api("olga", "GET", path, principal=own[holder]).ok()["items"]
    assert same == [own]
    api("olga", "GET", path, principal="nobody").refused(404, "not-found")


@pytest.fixture(scope="module")
def crowd(api):
    """At least three of everything that is listed."""
    project = api.project.project_id
    for number in range(3):
        api("olga", "POST", "/api/admin/teams", {"slug": f"team-{number}"}).ok(201)
        api("olga", "POST", "/api/runs", {"agent": "codex", "project_id": project}).ok(201)
        api("olga", "POST", f"{api.base}/memory/selections", {}).ok(201)
        api.write("olga", collection="private")
        api.world.project(f"crowd-{number}")
    for name in ("ann", "abe", "bob"):
        api("olga", "POST", "/api/admin/teams/team-0/members", {"principal": name}).ok(201)


PAGED = [
    "/api/admin/principals",
    "/api/admin/teams",
    "/api/admin/teams/team-0/members",
    "/api/admin/grants",
    "/api/admin/tokens",
    "/api/repositories",
    "/api/projects",
    "/api/runs",
    "{base}/memories",
    "{base}/memory/selections",
]


@pytest.mark.usefixtures("crowd")
@pytest.mark.parametrize("path", PAGED)
def test_pages_as_large_as_wanted_follow_each_other_to_the_end(api, path):
    path = path.replace("{base}", api.base)
    whole = api("olga", "GET", path, limit=100).ok()
    assert (len(whole["items"]) >= 3, whole["next_cursor"]) == (True, None)

    items, query = [], {"limit": 2}
    while True:
        page = api("olga", "GET", path, **query).ok()
        assert 1 <= len(page["items"]) <= 2
        items += page["items"]
        if page["next_cursor"] is None:
            break
        assert len(items) < len(whole["items"])
        query["cursor"] = page["next_cursor"]

    used = "last_used_at"
    assert [i | {used: None} for i in items] == [i | {used: None} for i in whole["items"]]
