"""Every route that writes passes on the name of its operation: a key does one thing only."""

from itertools import count

import pytest

from codeflow_memory.app import Wiring, create_litestar
from codeflow_memory.settings import Settings

WITHOUT_RECEIPT = {
    ("POST", "/api/projects/{project_id:str}/memory/selections"),
    ("POST", "/api/projects/{project_id:str}/memory/selections/{selection_id:str}/replay"),
    *(("POST", f"/api/tools/{name}") for name in ("memory_search", "memory_get", "memory_select")),
    ("POST", "/mcp"),
}
"""A selection stores its manifest, a replay nothing; a message has the receipt of its tool."""

MEMORY = "/api/memories/{memory_id:str}"
PROJECT = "/api/projects/{project_id:str}"
REPOSITORY = "/api/repositories/{repository_id:str}"
TEAM = "/api/admin/teams/{team_id:str}"
DRAFT = {"collection": "private", "kind": "fact", "title": "t", "body": "b"}
FILE = {"command": "create", "path": "/memories/a.md", "file_text": "The text of a file."}
IN_PROJECT = {"project_id": "{project_id:str}"}

WRITES = [
    ("POST", "/api/admin/principals", {"name": "eve", "kind": "user"}),
    ("DELETE", "/api/admin/principals/{principal_id:str}", None),
    ("POST", "/api/admin/teams", {"slug": "red"}),
    ("DELETE", TEAM, None),
    ("POST", f"{TEAM}/members", {"principal": "ann"}),
    ("DELETE", f"{TEAM}/members/{{principal:str}}", None),
    ("POST", "/api/admin/grants", {"principal": "ann", "role": "reader"}),
    ("DELETE", "/api/admin/grants/{grant_id:str}", None),
    ("POST", "/api/admin/tokens", {"principal": "ann", "role": "reader"}),
    ("DELETE", "/api/admin/tokens/{token_id:str}", None),
    ("POST", "/api/repositories", {"key": "other"}),
    ("PATCH", REPOSITORY, {"capture": True}),
    ("POST", f"{REPOSITORY}/merge", {"into": "other"}),
    ("POST", f"{REPOSITORY}/projects", {"slug": "core"}),
    ("POST", "/api/runs", {"agent": "codex"}),
    ("POST", "/api/runs/{run_id:str}/end", {}),
    ("POST", f"{PROJECT}/memories", DRAFT),
    ("POST", f"{PROJECT}/memory/verify", {}),
    (
        "POST",
        f"{PROJECT}/memory/selections/{{selection_id:str}}/feedback",
        {"memory_id": "mem_x", "helpful": True},
    ),
    ("POST", "/api/memories/batch", {"operations": []}),
    ("POST", "/api/undo", {}),
    ("PUT", "/api/predicates", {"functional": ["codename"]}),
    ("POST", "/api/tools/memory_append", {"content": "The text of a note."} | IN_PROJECT),
    ("POST", "/api/tools/memory_propose", {"kind": "fact", "title": "t", "body": "b"} | IN_PROJECT),
    ("POST", "/api/tools/memory_feedback", {"memory_id": "{memory_id:str}", "helpful": True}),
    ("POST", "/api/tools/memory", FILE | IN_PROJECT),
    ("PATCH", MEMORY, {"title": "Another"}),
    ("DELETE", MEMORY, {}),
    ("POST", f"{MEMORY}/publish", {}),
    ("POST", f"{MEMORY}/feedback", {"helpful": True}),
    *(
        ("POST", f"{MEMORY}/{action}", {})
        for action in ("approve", "reject", "supersede", "outdate", "archive", "restore", "return")
    ),
]

_KEYS = count()


class Nowhere:
    """No tenant: the routes are looked at, never called."""

    def get(self, tenant):
        raise AssertionError(tenant)


def test_every_route_that_writes_is_here():
    app = create_litestar(Wiring(Nowhere(), Settings(), {"local"}, lambda: "req_1"))

    served = {
        (method, route.path)
        for route in app.routes
        for handler in getattr(route, "route_handlers", ())
        for method in handler.http_methods - {"GET", "HEAD", "OPTIONS"}
    }

    assert {route[:2] for route in WRITES} == served - WITHOUT_RECEIPT


@pytest.fixture(scope="module")
def memory(api):
    return api.accept()


def send(api, memory, route, key):
    method, path, body = route
    for name, value in {
        "memory_id": memory["id"],
        "project_id": api.project.project_id,
        "repository_id": api.project.repository_id,
    }.items():
        path = path.replace(f"{{{name}:str}}", value)
        body = body and {k: value if v == f"{{{name}:str}}" else v for k, v in body.items()}
    for name in ("principal_id", "team_id", "principal", "grant_id", "token_id", "run_id"):
        path = path.replace(f"{{{name}:str}}", "absent")
    path = path.replace("{selection_id:str}", "sel_absent")
    return api("olga", method, path, body, match=memory["revision"], key=key)


@pytest.mark.parametrize("options", [{}, {"atomic": True}, {"dry_run": True}])
def test_a_batch_of_any_sort_has_one_key(api, memory, options):
    route = ("POST", "/api/memories/batch", {"operations": []} | options)

    key = used(api)

    send(api, memory, route, key).refused(409, "operation-reused")


@pytest.mark.parametrize("route", WRITES, ids=lambda r: f"{r[0]} {r[1]}")
def test_a_key_of_another_request_is_refused_before_anything_is_done(api, memory, route):
    key = used(api)

    send(api, memory, route, key).refused(409, "operation-reused")

    assert api("max", "GET", f"/api/memories/{memory['id']}").ok() == memory


def used(api):
    """Return a key under which olga has done something."""
    number = next(_KEYS)
    draft = DRAFT | {"title": f"Done {number}", "body": f"Under a key of its own: {number}."}
    api("olga", "POST", f"{api.base}/memories", draft, key=f"key-{number}").ok(201)
    return f"key-{number}"
