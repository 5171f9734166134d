"""Routes of identity: administration, repositories, projects and runs, over a real application."""

import time
from random import Random

import pytest
from litestar.testing import TestClient

from codeflow_memory.adapters.secrets import parse_token
from codeflow_memory.app import Wiring, create_litestar
from codeflow_memory.domain.access import Origin, Role
from codeflow_memory.services import access as accesses
from codeflow_memory.services import tokens
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.services.tokens import NewToken
from codeflow_memory.settings import Limits, Settings
from codeflow_memory.storage import principals
from codeflow_memory.storage.home import Home

MANY = 1_000_000


class Served:
    """An application over one home, and callers by name."""

    def __init__(self, tenants):
        self.tenants = tenants
        plenty = Limits(
            requests_per_minute_token=MANY, requests_per_minute_tenant=MANY, failed_sign_ins=MANY
        )
        wiring = Wiring(
            stores=tenants, settings=Settings(limits=plenty), hosts=[], new_id=lambda: "req_1"
        )
        self.client = TestClient(create_litestar(wiring))
        self.texts = {}

    def token(self, name, role, tenant="local", kind="user", repo=None):
        store = self.tenants.get(tenant)
        with store.engine.read() as tx:
            first = principals.first_owner(tx)
            owner = accesses.of_principal(store, tx, first.principal_id, Origin.USER)
        new = NewToken(principal=name, kind=kind, role=role, repo=repo)
        self.texts[name] = tokens.create(store, owner, new, Operation(None, ())).text
        return self.texts[name]

    def ask(self, name, method, path, body=None, match=None, key=None):
        headers = {}
        if name is not None:
            headers["Authorization"] = f"Bearer {self.texts.get(name, name)}"
        if match is not None:
            headers["If-Match"] = match if isinstance(match, str) else f'"{match}"'
        if key is not None:
            headers["Idempotency-Key"] = key
        return self.client.request(method, path, json=body, headers=headers)


@pytest.fixture(scope="module")
def served(tmp_path_factory, new_server):
    home = Home(tmp_path_factory.mktemp("homes") / "home", new_server())
    home.make()
    tenants = Tenants(
        home,
        now=lambda: time.time_ns() // 1000,
        random_bytes=Random(3).randbytes,  # noqa: S311 - repeatable on purpose
    )
    tenants.create("local")
    tenants.create("birch")
    made = Served(tenants)
    for role in Role:
        made.token(role.value, role)
    made.token("agent", Role.OWNER, kind="agent")
    made.token("birch-owner", Role.OWNER, "birch")
    with made.client:
        yield made
    tenants.close()


@pytest.fixture(scope="module")
def shop(served):
    """A repository with a project, and a caller who owns another repository only."""
    repository = served.ask("owner", "POST", "/api/repositories", {"key": "shop"}).json()
    path = f"/api/repositories/{repository['id']}/projects"
    project = served.ask("owner", "POST", path, {"slug": "core"}).json()
    served.ask("owner", "POST", "/api/repositories", {"key": "other"})
    served.token("elsewhere", Role.OWNER, repo="other")
    return {"repository": repository["id"], "project": project["id"]}


def code(answer):
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == answer.status_code
    return problem["code"]


ADMIN = [
    ("POST", "/api/admin/principals", {"name": "eve", "kind": "user"}),
    ("GET", "/api/admin/principals", None),
    ("DELETE", "/api/admin/principals/owner", None),
    ("POST", "/api/admin/teams", {"slug": "blue"}),
    ("GET", "/api/admin/teams", None),
    ("DELETE", "/api/admin/teams/red", None),
    ("POST", "/api/admin/teams/red/members", {"principal": "owner"}),
    ("GET", "/api/admin/teams/red/members", None),
    ("DELETE", "/api/admin/teams/red/members/owner", None),
    ("POST", "/api/admin/grants", {"principal": "owner", "role": "owner"}),
    ("GET", "/api/admin/grants", None),
    ("DELETE", "/api/admin/grants/grt_1", None),
    ("POST", "/api/admin/tokens", {"principal": "eve", "kind": "user", "role": "owner"}),
    ("GET", "/api/admin/tokens", None),
    ("DELETE", "/api/admin/tokens/x", None),
]
OTHERS = [
    ("POST", "/api/repositories", {"key": "new"}),
    ("GET", "/api/repositories", None),
    ("GET", "/api/repositories/{repository}", None),
    ("PATCH", "/api/repositories/{repository}", {"capture": True}),
    ("POST", "/api/repositories/{repository}/merge", {"into": "other"}),
    ("POST", "/api/repositories/{repository}/projects", {"slug": "docs"}),
    ("GET", "/api/projects", None),
    ("GET", "/api/projects/{project}", None),
    ("POST", "/api/runs", {"project_id": "{project}", "agent": "codex"}),
    ("GET", "/api/runs", None),
    ("GET", "/api/runs/run_1", None),
    ("POST", "/api/runs/run_1/end", {}),
]


SETTINGS = ("PATCH", "/api/repositories/{repository}")


def filled(shop, text):
    return text.replace("{repository}", shop["repository"]).replace("{project}", shop["project"])


def send(served, shop, name, route, match=1):
    method, path, body = route
    if body is not None:
        body = {k: filled(shop, v) if isinstance(v, str) else v for k, v in body.items()}
    return served.ask(name, method, filled(shop, path), body, match if method == "PATCH" else None)


@pytest.mark.parametrize("route", ADMIN + OTHERS, ids=lambda r: f"{r[0]} {r[1]}")
@pytest.mark.parametrize("token", [None, "x", "cfm_local_a_b", "cfm_A-_a_b", "cfm_nobody_a_b"])
def test_without_a_token_that_names_somebody_every_route_is_unauthenticated(
    served, shop, route, token
):
    answer = send(served, shop, token, route)

    assert (answer.status_code, code(answer)) == (401, "unauthenticated")
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("route", ADMIN, ids=lambda r: f"{r[0]} {r[1]}")
@pytest.mark.parametrize(
    "name", ["reader", "contributor", "reviewer", "maintainer", "operator", "agent", "elsewhere"]
)
def test_administration_is_forbidden_to_all_but_the_owner(served, shop, route, name):
    answer = send(served, shop, name, route)

    assert (answer.status_code, code(answer)) == (403, "forbidden")


@pytest.mark.parametrize(
    "route",
    [r for r in OTHERS if "{" in r[1] or "{project}" in str(r[2])],
    ids=lambda r: f"{r[0]} {r[1]}",
)
@pytest.mark.parametrize("name", ["elsewhere", "operator", "birch-owner"])
def test_what_is_out_of_reach_is_answered_like_what_is_absent(served, shop, route, name):
    absent = {"repository": "rep_absent", "project": "prj_absent"}

    hidden = send(served, shop, name, route)
    missing = send(served, absent, name, route)

    for part, other in zip(shop.values(), absent.values(), strict=True):
        hidden_text = hidden.text.replace(part, other)
        assert other in hidden_text or part not in hidden.text
    assert (hidden.status_code, code(hidden)) == (404, "not-found")
    assert anonymous(hidden.text, shop) == anonymous(missing.text, absent)
    assert dict(hidden.headers).keys() == dict(missing.headers).keys()


def anonymous(text, ids):
    for value in ids.values():
        text = text.replace(value, "ID")
    return text


@pytest.mark.parametrize(
    ("name", "route"),
    [
        ("reader", ("POST", "/api/repositories", {"key": "new"})),
        ("elsewhere", ("POST", "/api/repositories", {"key": "new"})),
        ("reader", ("PATCH", "/api/repositories/{repository}", {"capture": True})),
        ("contributor", ("PATCH", "/api/repositories/{repository}", {"capture": True})),
        ("reviewer", ("PATCH", "/api/repositories/{repository}", {"allow_own_approval": True})),
        ("maintainer", ("POST", "/api/repositories/{repository}/merge", {"into": "other"})),
        ("agent", ("POST", "/api/repositories/{repository}/merge", {"into": "other"})),
        ("reader", ("POST", "/api/repositories/{repository}/projects", {"slug": "docs"})),
    ],
)
def test_what_is_visible_but_not_allowed_is_forbidden(served, shop, name, route):
    answer = send(served, shop, name, route)

    assert (answer.status_code, code(answer)) == (403, "forbidden")


@pytest.mark.parametrize(
    ("route", "pointer"),
    [
        (("POST", "/api/repositories", {"key": "new", "secret": 1}), "/secret"),
        (("POST", "/api/repositories", {"key": 7}), "/key"),
        (("POST", "/api/repositories", {}), ""),
        (("POST", "/api/repositories", {"key": "k", "paths": ["relative"]}), "/paths/0"),
        ((*SETTINGS, {"owner": "eve"}), "/owner"),
        ((*SETTINGS, {"required_approvals": 0}), "/required_approvals"),
        ((*SETTINGS, {"required_approvals": 17}), "/required_approvals"),
        (("PATCH", "/api/repositories/{repository}", {"codeowners": "on"}), "/codeowners"),
        (("POST", "/api/repositories/{repository}/projects", {}), "/slug"),
        (("POST", "/api/repositories/{repository}/projects", {"slug": "core"}), "/slug"),
        (("POST", "/api/runs", {"project_id": "{project}"}), "/agent"),
        (("POST", "/api/runs", {"agent": "a", "ttl_seconds": 86_401}), "/ttl_seconds"),
        (("POST", "/api/runs", {"agent": "a", "ttl_seconds": "60"}), "/ttl_seconds"),
        (("POST", "/api/admin/principals", {"name": "eve", "kind": "robot"}), "/kind"),
        (("POST", "/api/admin/grants", {"principal": "owner", "role": "king"}), "/role"),
        (("POST", "/api/admin/tokens", {"principal": "x", "role": "reader"}), "/kind"),
        (
            ("POST", "/api/admin/tokens", {"principal": "owner", "role": "reader", "ttl": "soon"}),
            "/ttl",
        ),
        (("GET", "/api/projects?limit=0", None), "limit"),
        (("GET", "/api/repositories?limit=101", None), "limit"),
        (("GET", "/api/runs?cursor=x", None), "cursor"),
    ],
)
def test_a_request_without_the_form_is_invalid_at_its_pointer(served, shop, route, pointer):
    answer = send(served, shop, "owner", route)

    assert (answer.status_code, code(answer)) == (422, "invalid-request")
    assert pointer in [fault["pointer"] for fault in answer.json()["errors"]]


@pytest.mark.parametrize(
    ("match", "status", "problem"),
    [
        (None, 428, "revision-required"),
        ("*", 422, "invalid-request"),
        ('W/"1"', 422, "invalid-request"),
        (999, 412, "revision-conflict"),
    ],
)
def test_settings_need_the_revision_that_was_read(served, shop, match, status, problem):
    path = f"/api/repositories/{shop['repository']}"

    answer = served.ask("owner", "PATCH", path, {"capture": True}, match)

    assert (answer.status_code, code(answer)) == (status, problem)
    if status == 412:
        assert answer.json()["current_revision"] == 1


def test_a_tenant_that_is_not_the_callers_is_not_found(served):
    body = {"principal": "owner", "role": "reader", "tenant": "birch"}

    answer = served.ask("owner", "POST", "/api/admin/tokens", body)

    assert (answer.status_code, code(answer)) == (404, "not-found")


def test_a_cursor_is_of_one_caller_and_one_list(served, shop):
    cursor = served.ask("owner", "GET", "/api/projects?limit=1").json()["next_cursor"]
    if cursor is None:
        path = f"/api/repositories/{shop['repository']}/projects"
        served.ask("owner", "POST", path, {"slug": "second"})
        cursor = served.ask("owner", "GET", "/api/projects?limit=1").json()["next_cursor"]

    for name, path in (("reader", "/api/projects"), ("owner", "/api/repositories")):
        assert code(served.ask(name, "GET", f"{path}?limit=1&cursor={cursor}")) == "invalid-request"
    following = served.ask("owner", "GET", f"/api/projects?limit=1&cursor={cursor}")
    assert following.status_code == 200


def test_a_repository_is_registered_once_and_shown_with_what_identified_it(served):
    body = {"remote": "git@Git.Example:acme/shop.git", "paths": ["/home/ann/shop/"]}
    more = {"remote": "https://git.example/acme/shop", "root_commit": "A" * 40}

    first = served.ask("contributor", "POST", "/api/repositories", body)
    second = served.ask("contributor", "POST", "/api/repositories", more)

    assert (first.status_code, second.status_code) == (201, 200)
    assert first.headers["etag"] == '"1"'
    assert second.headers["etag"] == '"2"'
    shown = second.json()
    assert shown["id"] == first.json()["id"]
    assert shown["aliases"] == {
        "key": [],
        "remote": ["git.example/acme/shop"],
        "root_commit": ["a" * 40],
        "common_dir": [],
        "paths": ["/home/ann/shop"],
    }
    assert set(shown) == {
        "id", "name", "identified_by", "aliases", "revision", "required_approvals", "codeowners",
        "allow_own_approval", "capture", "created_at",
    }  # fmt: skip
    assert shown["identified_by"] == "remote"
    listed = served.ask("reader", "GET", "/api/repositories?repo=/home/ann/shop").json()["items"]
    assert [r["id"] for r in listed] == [shown["id"]]


def test_a_maintainer_changes_settings(served):
    made = served.ask("owner", "POST", "/api/repositories", {"key": "settings"})
    path = f"/api/repositories/{made.json()['id']}"

    done = served.ask("maintainer", "PATCH", path, {"required_approvals": 2, "codeowners": True}, 1)

    assert (done.status_code, done.headers["etag"]) == (200, '"2"')
    assert (done.json()["required_approvals"], done.json()["codeowners"]) == (2, True)


def test_a_project_is_shown_with_the_limits_of_who_asks(served, shop):
    shown = served.ask("contributor", "GET", f"/api/projects/{shop['project']}?repo=shop").json()

    assert (shown["slug"], shown["repository_id"]) == ("core", shop["repository"])
    entries = {"limit": "project_entries", "audience": "project", "value": 0, "maximum": 5000}
    assert entries in shown["limits"]
    reader = served.ask("reader", "GET", f"/api/projects/{shop['project']}").json()
    assert reader["limits"] == []


def test_a_run_gets_a_token_that_dies_with_it(served, shop):
    body = {"repo": "shop", "project_id": "core", "agent": "codex", "ttl_seconds": 60}
    made = served.ask("contributor", "POST", "/api/runs", body)
    started = made.json()

    assert made.status_code == 201
    assert set(started) >= {"run_id", "token", "expires_at"}
    own = f"/api/projects/{shop['project']}"
    assert served.ask(started["token"], "GET", own).status_code == 200
    end = f"/api/runs/{started['run_id']}/end"
    theirs = served.ask("maintainer", "POST", end, {})
    absent = served.ask("maintainer", "POST", "/api/runs/run_absent/end", {})
    assert theirs.text.replace(started["run_id"], "ID") == absent.text.replace("run_absent", "ID")
    done = served.ask(started["token"], "POST", end)
    assert (done.status_code, done.json()["ended_at"] is None) == (200, False)
    assert code(served.ask(started["token"], "GET", own)) == "unauthenticated"


def test_administration_from_principal_to_revoked_token(served, shop):
    ask = served.ask
    ann = ask("owner", "POST", "/api/admin/principals", {"name": "ann", "kind": "user"})
    team = ask("owner", "POST", "/api/admin/teams", {"slug": "red", "name": "Red"})
    member = ask("owner", "POST", "/api/admin/teams/red/members", {"principal": "ann"})
    grant = ask(
        "owner",
        "POST",
        "/api/admin/grants",
        {"principal": "ann", "role": "reviewer", "repository": "shop"},
    )
    token = ask(
        "owner",
        "POST",
        "/api/admin/tokens",
        {"principal": "ann", "role": "reviewer", "repository": "shop", "ttl": "12h"},
        key="token-1",
    )

    assert [a.status_code for a in (ann, team, member, grant, token)] == [201] * 5
    made = token.json()
    assert parse_token(made["token"]).token_id == made["id"]
    assert made["roles"] == [{"role": "reviewer", "repository_id": shop["repository"]}]
    assert made["name"] == "ann"
    assert ask(made["token"], "GET", f"/api/projects/{shop['project']}").status_code == 200
    for path in ("principals", "teams", "grants", "tokens", "teams/red/members"):
        listed = ask("owner", "GET", f"/api/admin/{path}?limit=100")
        assert listed.status_code == 200
        assert set(listed.json()) == {"items", "next_cursor"}
        assert made["token"] not in listed.text
    for path in (
        f"tokens/{made['id']}",
        f"grants/{grant.json()['id']}",
        "teams/red/members/ann",
        "teams/red",
        "principals/ann",
    ):
        assert ask("owner", "DELETE", f"/api/admin/{path}").status_code == 200
    assert code(ask(made["token"], "GET", "/api/projects")) == "unauthenticated"


def test_a_repeated_request_answers_again_without_the_secret_and_a_changed_one_is_refused(served):
    body = {"principal": "idem", "kind": "user", "role": "reader"}
    first = served.ask("owner", "POST", "/api/admin/tokens", body, key="k-1")
    second = served.ask("owner", "POST", "/api/admin/tokens", body, key="k-1")
    other = served.ask("owner", "POST", "/api/admin/tokens", body | {"role": "owner"}, key="k-1")

    assert first.json() | {"token": None} == second.json()
    assert (other.status_code, code(other)) == (409, "operation-reused")
