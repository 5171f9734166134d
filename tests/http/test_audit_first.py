"""No audit row, no change: a request that cannot be put on record is not carried out."""

from dataclasses import dataclass
from itertools import count

import pytest

from ..services.unrecorded import carried_out
from .test_operations import DRAFT, MEMORY, PROJECT, REPOSITORY, TEAM, WRITES

VERIFY = ("POST", f"{PROJECT}/memory/verify")
"""Needs a repository: with the services' own tests."""


@dataclass(frozen=True)
class Step:
    """One request that changes something."""

    who: str
    method: str
    path: str
    body: object = None
    match: int | None = None

    def ask(self, api):
        return api(self.who, self.method, self.path, self.body, match=self.match)


class Scene:
    """Makes, for each route that writes, a request which it carries out."""

    def __init__(self, api):
        self.api = api
        self.steps = {
            ("POST", "/api/admin/principals"): self.new_principal,
            ("DELETE", "/api/admin/principals/{principal_id:str}"): self.principal,
            ("DELETE", TEAM): self.team,
            ("POST", f"{TEAM}/members"): self.member,
            ("DELETE", f"{TEAM}/members/{{principal:str}}"): self.former_member,
            ("DELETE", "/api/admin/grants/{grant_id:str}"): self.grant,
            ("DELETE", "/api/admin/tokens/{token_id:str}"): self.token,
            ("PATCH", REPOSITORY): self.repository,
            ("POST", f"{REPOSITORY}/merge"): self.merge,
            ("POST", f"{REPOSITORY}/projects"): self.project,
            ("POST", "/api/runs"): self.run,
            ("POST", "/api/runs/{run_id:str}/end"): self.end,
            ("POST", f"{PROJECT}/memories"): self.memory,
            ("POST", f"{PROJECT}/memory/selections/{{selection_id:str}}/feedback"): self.outcome,
            ("POST", "/api/memories/batch"): self.batch,
            ("POST", "/api/undo"): self.undoing,
            ("PUT", "/api/predicates"): self.predicates,
            ("POST", "/api/tools/memory_append"): self.note,
            ("POST", "/api/tools/memory_propose"): self.proposal,
            ("POST", "/api/tools/memory_feedback"): self.judgement,
            ("POST", "/api/tools/memory"): self.file,
            ("PATCH", MEMORY): self.revision,
            ("DELETE", MEMORY): self.deletion,
            ("POST", f"{MEMORY}/publish"): self.publication,
            ("POST", f"{MEMORY}/feedback"): self.feedback,
            ("POST", f"{MEMORY}/supersede"): self.supersession,
            ("POST", f"{MEMORY}/restore"): self.restoration,
        }

    def step(self, method, path, body):
        if (method, path) in self.steps:
            return self.steps[method, path]()
        if path.startswith(MEMORY):
            return self.decision(path.rpartition("/")[2])
        return Step("olga", method, path, body)

    def made(self, path, body, who="olga"):
        return self.api(who, "POST", path, body).ok(201)

    @staticmethod
    def new_principal():
        return Step("olga", "POST", "/api/admin/principals", {"name": "new", "kind": "user"})

    def principal(self):
        made = self.made("/api/admin/principals", {"name": "gone", "kind": "user"})
        return Step("olga", "DELETE", f"/api/admin/principals/{made['id']}")

    def team(self):
        made = self.made("/api/admin/teams", {"slug": "gone"})
        return Step("olga", "DELETE", f"/api/admin/teams/{made['id']}")

    def members(self, slug):
        team = self.made("/api/admin/teams", {"slug": slug})["id"]
        return f"/api/admin/teams/{team}/members"

    def member(self):
        return Step("olga", "POST", self.members("joined"), {"principal": "ann"})

    def former_member(self):
        path = self.members("left")
        assert self.api("olga", "POST", path, {"principal": "ann"}).status in {200, 201}
        return Step("olga", "DELETE", f"{path}/ann")

    def grant(self):
        made = self.made("/api/admin/grants", {"principal": "abe", "role": "reviewer"})
        return Step("olga", "DELETE", f"/api/admin/grants/{made['id']}")

    def token(self):
        made = self.made("/api/admin/tokens", {"principal": "abe", "role": "reader"})
        return Step("olga", "DELETE", f"/api/admin/tokens/{made['id']}")

    def repository(self):
        path = f"/api/repositories/{self.api.project.repository_id}"
        match = self.api("olga", "GET", path).ok()["revision"]
        return Step("olga", "PATCH", path, {"capture": True}, match)

    def merge(self):
        one, two = (self.made("/api/repositories", {"key": key}) for key in ("one", "two"))
        path = f"/api/repositories/{one['id']}/merge"
        match = self.api("olga", "GET", f"/api/repositories/{one['id']}").ok()["revision"]
        return Step("olga", "POST", path, {"into": two["id"]}, match)

    def project(self):
        path = f"/api/repositories/{self.api.project.repository_id}/projects"
        return Step("olga", "POST", path, {"slug": "more"})

    def run(self):
        body = {"agent": "codex", "project_id": self.api.project.project_id}
        return Step("ann", "POST", "/api/runs", body)

    def end(self):
        body = {"agent": "codex", "project_id": self.api.project.project_id}
        run = self.made("/api/runs", body, "ann")["run_id"]
        return Step("ann", "POST", f"/api/runs/{run}/end", {})

    def memory(self):
        return Step("ann", "POST", f"{self.api.base}/memories", DRAFT)

    def outcome(self):
        memory = self.api.accept(body="Retry idempotent requests only")
        path = f"{self.api.base}/memory/selections"
        selection = self.made(path, {"query": "retry idempotent"}, "ann")["id"]
        body = {"memory_id": memory["id"], "helpful": True}
        return Step("ann", "POST", f"{path}/{selection}/feedback", body)

    def batch(self):
        memory = self.api.write()
        step = {"action": "approve", "id": memory["id"], "revision": memory["revision"]}
        return Step("bob", "POST", "/api/memories/batch", {"operations": [step]})

    @staticmethod
    def predicates():
        return Step("olga", "PUT", "/api/predicates", {"functional": ["codename"]})

    def undoing(self):
        memory = self.api.write()
        return Step("ann", "POST", "/api/undo", {"item": memory["id"]})

    def tool(self, name, who="ann", **arguments):
        body = arguments | {"project_id": self.api.project.project_id}
        return Step(who, "POST", f"/api/tools/{name}", body)

    def note(self):
        return self.tool("memory_append", content="A text that nothing resembles: xylophone.")

    def proposal(self):
        return self.tool("memory_propose", kind="fact", title="Tools", body="A tool proposed it.")

    def judgement(self):
        memory = self.api.accept()["id"]
        return self.tool("memory_feedback", "bob", memory_id=memory, helpful=True)

    def file(self, command="create"):
        self.files = getattr(self, "files", 0) + 1
        path = f"/memories/file-{self.files}.md"
        create = {"path": path, "file_text": f"The text number {self.files * 7919} of a file."}
        if command != "create":
            self.tool("memory", command="create", **create).ask(self.api).ok()
        more = {
            "create": create,
            "str_replace": {"path": path, "old_str": "text", "new_str": "word"},
            "insert": {"path": path, "insert_line": 0, "insert_text": "First."},
            "delete": {"path": path},
            "rename": {"old_path": path, "new_path": f"{path}.old"},
        }[command]
        return self.tool("memory", command=command, **more)

    def revision(self):
        return self.on(self.api.write(), "ann", "PATCH", {"title": "Another"})

    def deletion(self):
        return self.on(self.api.write(), "ann", "DELETE", {})

    def publication(self):
        memory = self.api.write(collection="private")
        return self.on(memory, "ann", "POST", {}, "/publish")

    def feedback(self):
        return self.on(self.api.accept(), "bob", "POST", {"helpful": True}, "/feedback")

    def supersession(self):
        body = {"superseded_by": self.api.accept()["id"]}
        return self.on(self.api.accept(), "bob", "POST", body, "/supersede")

    def restoration(self):
        memory = self.api.act("bob", self.api.accept(), "outdate").ok()
        return self.on(memory, "bob", "POST", {}, "/restore")

    def decision(self, action):
        accepted = action in {"outdate", "archive", "return"}
        memory = self.api.accept() if accepted else self.api.write()
        return self.on(memory, "bob", "POST", {"reason": "wrong"}, f"/{action}")

    @staticmethod
    def on(memory, who, method, body, action=""):
        return Step(who, method, f"/api/memories/{memory['id']}{action}", body, memory["revision"])


@pytest.fixture(scope="module")
def scene(api):
    return Scene(api)


@pytest.mark.parametrize(
    "route", [r for r in WRITES if r[:2] != VERIFY], ids=lambda r: f"{r[0]} {r[1]}"
)
def test_a_request_whose_row_is_refused_changes_nothing(api, scene, route):
    carry_out(api, scene.step(*route))


@pytest.mark.parametrize("command", ["str_replace", "insert", "delete", "rename"])
def test_a_command_on_a_file_whose_row_is_refused_changes_nothing(api, scene, command):
    carry_out(api, scene.file(command))


def carry_out(api, step):
    def done():
        answer = step.ask(api)
        assert answer.status in {200, 201}, answer.text
        assert all(r["ok"] for r in answer.json.get("results", ()))

    carried_out(api.world.store, lambda: step.ask(api).refused(500, "internal"), done)


def test_a_change_without_a_row_is_found(api):
    """Control: rows that come into a table by the side of the audit."""
    store, numbers = api.world.store, count()

    def unrecorded():
        with store.engine.write() as tx:
            team = {"slug": f"unrecorded-{next(numbers)}"}
            tx.execute("INSERT INTO teams VALUES (:slug, :slug, 'x', 1)", team)

    with pytest.raises(AssertionError):
        carried_out(store, unrecorded, unrecorded)
    with pytest.raises(AssertionError):
        carried_out(store, lambda: None, unrecorded)
