"""What an owner, a maintainer or a run asks for is what is made: every field counts."""

from datetime import datetime, timedelta
from itertools import count

import pytest

from codeflow_memory.domain.access import Role

GRANTS = "/api/admin/grants"
TOKENS = "/api/admin/tokens"
_NAMES = count()


@pytest.fixture(scope="module")
def docs(api):
    """Another repository with a project."""
    repository = api("olga", "POST", "/api/repositories", {"key": "docs"}).ok(201)["id"]
    path = f"/api/repositories/{repository}/projects"
    project = api("olga", "POST", path, {"slug": "guide"}).ok(201)
    return {"repository": repository, "base": f"/api/projects/{project['id']}"}


@pytest.fixture
def principal(api):
    """A principal without any role, of this test alone."""
    body = {"name": f"person-{next(_NAMES)}", "kind": "user"}
    return api("olga", "POST", "/api/admin/principals", body).ok(201)


def seen(api, token, docs):
    """How the lists of both projects are answered."""
    return tuple(api(token, "GET", f"{base}/memories").status for base in (docs["base"], api.base))


def seconds(made, start="created_at"):
    times = (datetime.fromisoformat(made[name]) for name in ("expires_at", start))
    return (next(times) - next(times)) / timedelta(seconds=1)


@pytest.mark.parametrize("kind", ["user", "agent"])
def test_a_principal_has_the_name_and_kind_that_were_given(api, kind):
    body = {"name": f"named-{kind}", "kind": kind}

    made = api("olga", "POST", "/api/admin/principals", body).ok(201)

    assert {name: made[name] for name in body} == body


@pytest.mark.parametrize("name", [None, "Blue Team"])
def test_a_team_has_the_slug_and_name_that_were_given(api, name):
    body = {"slug": f"team-{name is None}".lower(), "name": name}

    made = api("olga", "POST", "/api/admin/teams", body).ok(201)

    assert (made["slug"], made["name"]) == (body["slug"], name or body["slug"])


def test_a_member_is_put_into_and_taken_out_of_the_team_named(api, principal):
    made = [api("olga", "POST", "/api/admin/teams", {"slug": f"m-{n}"}).ok(201) for n in range(2)]
    path = f"/api/admin/teams/{made[1]['id']}/members"
    pair = {"team_id": made[1]["id"], "principal_id": principal["id"]}

    assert api("olga", "POST", path, {"principal": principal["name"]}).ok(201) == pair
    assert [m["id"] for m in api("olga", "GET", path).ok()["items"]] == [principal["id"]]
    other = path.replace(made[1]["id"], made[0]["id"])
    assert api("olga", "GET", other).ok()["items"] == []
    assert api("olga", "DELETE", f"{path}/{principal['name']}").ok() == pair
    assert api("olga", "GET", path).ok()["items"] == []


@pytest.mark.parametrize("role", ["reader", "reviewer"])
def test_a_grant_without_a_repository_is_of_the_whole_tenant(api, principal, role):
    body = {"principal": principal["name"], "role": role}

    made = api("olga", "POST", GRANTS, body).ok(201)

    assert (made["principal_id"], made["role"]) == (principal["id"], role)
    assert made["repository_id"] is None
    assert api("olga", "GET", GRANTS, principal=principal["id"]).ok()["items"] == [made]


@pytest.mark.parametrize("by", ["id", "key"])
def test_a_grant_of_one_repository_reaches_no_other(api, docs, principal, by):
    asked = {"principal": principal["name"], "role": "reader"}
    token = api("olga", "POST", TOKENS, asked).ok(201)["token"]
    (whole,) = api("olga", "GET", GRANTS, principal=principal["id"]).ok()["items"]
    api("olga", "DELETE", f"{GRANTS}/{whole['id']}").ok()
    assert seen(api, token, docs) == (404, 404)
    named = docs["repository"] if by == "id" else "docs"

    made = api("olga", "POST", GRANTS, asked | {"repository": named}).ok(201)

    assert made["repository_id"] == docs["repository"]
    assert api("olga", "GET", GRANTS, principal=principal["name"]).ok()["items"] == [made]
    assert seen(api, token, docs) == (200, 404)


def test_a_token_of_one_repository_reaches_no_other_whatever_its_principal_holds(
    api, docs, principal
):
    api("olga", "POST", GRANTS, {"principal": principal["id"], "role": "reader"}).ok(201)
    body = {"principal": principal["name"], "role": "reader"}

    narrow = api("olga", "POST", TOKENS, body | {"repository": "docs"}).ok(201)
    wide = api("olga", "POST", TOKENS, body).ok(201)

    assert narrow["roles"] == [{"role": "reader", "repository_id": docs["repository"]}]
    assert wide["roles"] == [{"role": "reader", "repository_id": None}]
    assert seen(api, narrow["token"], docs) == (200, 404)
    assert seen(api, wide["token"], docs) == (200, 200)


@pytest.mark.parametrize(
    ("ttl", "lives"),
    [("12h", 43_200), ("90s", 90), ("30m", 1_800), ("7d", 604_800), (60, 60), ("45", 45)],
)
def test_a_token_expires_after_the_time_that_was_given(api, ttl, lives):
    body = {"principal": "ann", "role": "reader", "ttl": ttl}

    assert seconds(api("olga", "POST", TOKENS, body).ok(201)) == lives


def test_a_token_without_a_time_to_live_does_not_expire(api):
    body = {"principal": "ann", "role": "reader"}

    made = api("olga", "POST", TOKENS, body).ok(201)

    assert (made["expires_at"], made["background"]) == (None, False)


@pytest.mark.parametrize("kind", ["user", "agent"])
def test_a_token_makes_its_principal_of_the_kind_that_was_given(api, kind):
    body = {"principal": f"made-{kind}", "kind": kind, "role": "contributor"}

    made = api("olga", "POST", TOKENS, body).ok(201)

    assert (made["name"], made["kind"]) == (body["principal"], kind)
    assert [role["role"] for role in made["roles"]] == ["contributor"]
    other = {"user": "agent", "agent": "user"}[kind]
    api("olga", "POST", TOKENS, body | {"kind": other}).refused(422, "invalid-request")


@pytest.mark.parametrize(("background", "origin"), [(False, "user"), (True, "background")])
def test_what_a_background_token_writes_is_marked_so(api, background, origin):
    body = {"principal": "ann", "role": "contributor", "background": background}

    made = api("olga", "POST", TOKENS, body).ok(201)

    assert made["background"] is background
    assert api.write(made["token"])["origin"] == origin


@pytest.mark.parametrize("tenant", [None, "local"])
def test_a_token_may_name_the_caller_s_own_tenant(api, tenant):
    body = {"principal": "ann", "role": "reader", "tenant": tenant}

    api("olga", "POST", TOKENS, body).ok(201)


@pytest.fixture(scope="module")
def crew(api):
    """A team of ann's."""
    made = api("olga", "POST", "/api/admin/teams", {"slug": "crew"}).ok(201)
    api("olga", "POST", "/api/admin/teams/crew/members", {"principal": "ann"}).ok(201)
    return made["id"]


def start(api, **fields):
    body = {"agent": "codex", "project_id": api.project.project_id} | fields
    return api("ann", "POST", "/api/runs", body)


@pytest.mark.parametrize(("given", "lives"), [({}, 3_600), ({"ttl_seconds": 61}, 61)])
def test_a_run_s_token_expires_after_an_hour_or_the_time_that_was_given(api, given, lives):
    assert seconds(start(api, **given).ok(201), "started_at") == lives


def test_a_run_has_the_agent_and_branch_that_were_given(api):
    made = start(api, agent="claude-code", branch="release/1").ok(201)

    assert (made["agent"], made["branch"], made["team_id"]) == ("claude-code", "release/1", None)
    assert start(api).ok(201)["branch"] is None


def test_a_run_is_of_the_team_that_was_given_and_of_none_of_others(api, crew):
    made = start(api, team_id=crew).ok(201)

    assert made["team_id"] == crew
    api("olga", "POST", "/api/admin/teams", {"slug": "others"}).ok(201)
    other = api("olga", "GET", "/api/admin/teams", limit=100).ok()["items"][-1]
    assert other["slug"] == "others"
    start(api, team_id=other["id"]).refused(422, "invalid-request")


def test_a_run_is_of_the_project_and_repository_that_were_given(api, docs):
    for fields, repository in (
        ({}, api.project.repository_id),
        ({"project_id": "guide"}, docs["repository"]),
        ({"project_id": None, "repo": "docs"}, docs["repository"]),
    ):
        assert start(api, **fields).ok(201)["repository_id"] == repository
    start(api, repo="docs").refused(404, "not-found")


@pytest.mark.parametrize(
    ("given", "name", "prefix"),
    [
        ({}, None, None),
        ({"name": "Check Out"}, "Check Out", None),
        ({"path_prefix": "services/checkout"}, None, "services/checkout"),
    ],
)
def test_a_project_has_the_name_and_folder_that_were_given(api, given, name, prefix):
    path = f"/api/repositories/{api.world.repository().repository.repository_id}/projects"

    made = api("max", "POST", path, {"slug": "checkout"} | given).ok(201)

    assert (made["slug"], made["name"], made["path_prefix"]) == (
        "checkout",
        name or "checkout",
        prefix,
    )
    shown = api("max", "GET", f"/api/projects/{made['id']}").ok()
    assert (shown["name"], shown["path_prefix"]) == (made["name"], prefix)


SETTINGS = {
    "required_approvals": (1, 3),
    "codeowners": (False, True),
    "allow_own_approval": (False, True),
    "capture": (False, True),
}


@pytest.mark.parametrize("changed", SETTINGS)
def test_of_a_repository_s_settings_the_given_one_changes_and_no_other(api, changed):
    made = api("max", "POST", "/api/repositories", {"key": f"set-{changed}"}).ok(201)
    before = {name: plain for name, (plain, _) in SETTINGS.items()}
    assert {name: made[name] for name in SETTINGS} == before
    value = SETTINGS[changed][1]

    path = f"/api/repositories/{made['id']}"
    after = api("olga", "PATCH", path, {changed: value}, match=made["revision"]).ok()

    assert {name: after[name] for name in SETTINGS} == before | {changed: value}


@pytest.mark.parametrize(
    ("fact", "value", "kept"),
    [
        ("key", "a-key", ["a-key"]),
        ("remote", "https://git.example/a/b.git", ["git.example/a/b"]),
        ("root_commit", "b" * 40, ["b" * 40]),
        ("common_dir", "/home/ann/b/.git", ["/home/ann/b/.git"]),
    ],
)
def test_a_repository_is_known_by_the_facts_that_were_given(api, fact, value, kept):
    body = {fact: value, "name": f"The {fact}", "paths": [f"/home/ann/{fact}"]}

    made = api("max", "POST", "/api/repositories", body).ok(201)

    assert (made["identified_by"], made["name"]) == (fact, body["name"])
    known = {name: found for name, found in made["aliases"].items() if found}
    assert known == {fact: kept, "paths": body["paths"]}


def test_a_repository_becomes_part_of_the_one_that_was_given(api):
    old, new = (
        api("max", "POST", "/api/repositories", {"key": f"part-{n}"}).ok(201)["id"]
        for n in range(2)
    )

    merged = api("olga", "POST", f"/api/repositories/{old}/merge", {"into": "part-1"}).ok()

    assert merged["id"] == new
    assert api("max", "GET", f"/api/repositories/{old}").ok()["id"] == new
    assert sorted(merged["aliases"]["key"]) == ["part-0", "part-1"]


@pytest.mark.parametrize("role", Role)
def test_a_token_has_the_role_that_was_given(api, role):
    body = {"principal": f"as-{role}", "kind": "user", "role": role.value}

    made = api("olga", "POST", TOKENS, body).ok(201)

    assert made["roles"] == [{"role": role.value, "repository_id": None}]
