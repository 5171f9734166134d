"""``POST /api/projects/{project_id}/memory/verify``, over a real application and repository."""

import os
import subprocess
import time

import pytest
from litestar.testing import TestClient

from codeflow_memory.app import Wiring, create_litestar
from codeflow_memory.domain.access import Origin, Role
from codeflow_memory.services import access as accesses
from codeflow_memory.services import projects, registration, tokens
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.projects import NewProject
from codeflow_memory.services.registration import Clone
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.services.tokens import NewToken
from codeflow_memory.settings import Limits, Settings
from codeflow_memory.storage import principals
from codeflow_memory.storage.home import Home

MANY = 1_000_000
NEW = Operation(None, ())


def git(folder, *arguments):
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        **{
            f"GIT_{role}_{fact}": "a@example.org"
            for role in ("AUTHOR", "COMMITTER")
            for fact in ("NAME", "EMAIL")
        },
    }
    command = ["git", *map(str, arguments)]
    done = subprocess.run(  # noqa: S603 - the vector is the test's own
        command, cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def save(folder, text):
    (folder / "app.py").write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "change")
    return git(folder, "rev-parse", "HEAD")


class Served:
    """An application with one project of a readable repository, and callers by name."""

    def __init__(self, tenants, folder):
        self.tenants, self.folder = tenants, folder
        plenty = Limits(
            requests_per_minute_token=MANY, requests_per_minute_tenant=MANY, failed_sign_ins=MANY
        )
        self.client = TestClient(
            create_litestar(
                Wiring(
                    stores=tenants,
                    settings=Settings(limits=plenty),
                    hosts=[],
                    new_id=lambda: "req_1",
                )
            )
        )
        store, owner = self.owner("local")
        clone = Clone(key="app", paths=(str(folder),))
        repository = registration.register(store, owner, clone, NEW).repository
        made = projects.create(store, owner, repository.repository_id, NewProject("core"), NEW)
        self.project = made.project.project_id
        self.texts = {}
        for name, role, tenant in (
            ("ann", Role.CONTRIBUTOR, "local"),
            ("reader", Role.READER, "local"),
            ("foreign", Role.OWNER, "birch"),
        ):
            store, owner = self.owner(tenant)
            new = NewToken(principal=name, kind="user", role=role)
            self.texts[name] = tokens.create(store, owner, new, NEW).text

    def owner(self, tenant):
        store = self.tenants.get(tenant)
        with store.engine.read() as tx:
            first = principals.first_owner(tx)
            return store, accesses.of_principal(store, tx, first.principal_id, Origin.USER)

    def ask(self, name, method, path, body=None, key=None):
        headers = {"Idempotency-Key": key} if key else {}
        if name is not None:
            headers["Authorization"] = f"Bearer {self.texts.get(name, name)}"
        return self.client.request(method, path, json=body, headers=headers)

    def verify(self, name, body, project=None, key=None):
        path = f"/api/projects/{project or self.project}/memory/verify"
        return self.ask(name, "POST", path, body, key)

    def write(self, sources):
        draft = {
            "kind": "fact",
            "title": f"About {time.monotonic_ns()}",
            "body": f"The file says so at {time.monotonic_ns()}.",
            "collection": "private",
            "sources": sources,
        }
        answer = self.ask("ann", "POST", f"/api/projects/{self.project}/memories", draft)
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]


@pytest.fixture(scope="module")
def served(tmp_path_factory, new_server):
    top = tmp_path_factory.mktemp("served")
    folder = top / "repos" / "app"
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main", ".")
    home = Home(top / "home", new_server())
    home.make()
    roots = (top / "repos",)
    tenants = Tenants(home, now=lambda: time.time_ns() // 1000, roots=roots)
    for slug in ("local", "birch"):
        tenants.create(slug)
    made = Served(tenants, folder)
    save(folder, "one\ntwo\nthree\n")
    with made.client:
        yield made
    tenants.close()


REFUSED = {
    "no token": (None, {}, None, "unauthenticated"),
    "a wrong token": ("cfm_local_x_y", {}, None, "unauthenticated"),
    "a reader": ("reader", {}, None, "forbidden"),
    "another tenant": ("foreign", {}, None, "not-found"),
    "no project": ("ann", {}, "prj_absent", "not-found"),
    "a list": ("ann", [], None, "invalid-request"),
    "an unknown field": ("ann", {"branch": "main"}, None, "invalid-request"),
    "a branch as commit": ("ann", {"commit": "main"}, None, "invalid-request"),
    "a short commit": ("ann", {"commit": "a" * 39}, None, "invalid-request"),
    "a commit and a line": ("ann", {"commit": "a" * 40 + "\n"}, None, "invalid-request"),
    "an option as commit": ("ann", {"commit": "--output=x"}, None, "invalid-request"),
    "a number as id": ("ann", {"memory_ids": [1]}, None, "invalid-request"),
    "an empty id": ("ann", {"memory_ids": [""]}, None, "invalid-request"),
    "too many ids": ("ann", {"memory_ids": ["m"] * 5_001}, None, "invalid-request"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(served, name):
    caller, body, project, code = REFUSED[name]

    answer = served.verify(caller, body, project)

    assert answer.json()["code"] == code
    assert answer.headers["content-type"].startswith("application/problem+json")


def test_a_key_that_was_used_for_another_request_is_refused(served):
    assert served.verify("ann", {}, key="k1").status_code == 200

    assert served.verify("ann", {"memory_ids": []}, key="k1").json()["code"] == "operation-reused"


def test_results_are_told_with_the_new_place_and_change_no_entity_tag(served):
    save(served.folder, "one\ntwo\nthree\n")
    memory = served.write(["file:app.py#L2-L3", "file:app.py"])
    before = served.ask("ann", "GET", f"/api/memories/{memory}")
    commit = save(served.folder, "zero\none\ntwo\nthree\n")

    answer = served.verify("ann", {"commit": commit, "memory_ids": [memory]})

    assert answer.status_code == 200
    assert answer.json() == {
        "commit": commit,
        "results": [
            {
                "memory_id": memory,
                "citation": "file:app.py#L2-L3",
                "result": "moved",
                "new_place": "file:app.py#L3-L4",
            },
            {"memory_id": memory, "citation": "file:app.py", "result": "changed"},
        ],
    }
    after = served.ask("ann", "GET", f"/api/memories/{memory}")
    assert after.headers["etag"] == before.headers["etag"]
    assert before.json()["verification"] is None
    assert after.json()["verification"]["commit"] == commit
    assert after.json()["verification"]["result"] == "changed"
    assert after.json()["review_reason"] == "citation:changed"


def test_without_a_commit_the_default_branch_is_checked(served):
    memory = served.write(["file:app.py"])

    answer = served.verify("ann", {"memory_ids": [memory]}).json()

    assert answer["commit"] == git(served.folder, "rev-parse", "main")
    assert [r["result"] for r in answer["results"]] == ["valid"]


def test_with_a_commit_the_files_are_those_of_that_commit(served):
    older = save(served.folder, "alpha\nbeta\n")
    memory = served.write(["file:app.py"])
    newer = save(served.folder, "gamma\ndelta\n")

    results = {}
    for commit in (older, newer):
        answer = served.verify("ann", {"commit": commit, "memory_ids": [memory]}).json()
        results[answer["commit"]] = [found["result"] for found in answer["results"]]

    assert results == {older: ["valid"], newer: ["changed"]}
