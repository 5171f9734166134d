"""The ways by which texts of untrusted origin come in, each over the route or call that it has."""

import json
import random
from dataclasses import dataclass, field, replace

from codeflow_memory.app import Wiring, create_app
from codeflow_memory.domain.access import Origin
from codeflow_memory.domain.scanning import scan
from codeflow_memory.domain.text import hidden
from codeflow_memory.http.server import own_hosts
from codeflow_memory.services import learning, legacy_import, proposed_import
from codeflow_memory.services.export import Format, export
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.settings import Limits, Settings
from codeflow_memory.storage.home import Home

from ..cli.conftest import Repository
from ..conftest import START, Clock, World
from .conftest import PLENTY, Api

PER_RUN = 500
CONTROL = "lighthouse"
"""A word of accepted entries: what finds nothing would find these neither."""


@dataclass
class Way:
    """Texts that came in by one way: where they are, and who may ask there.

    ``marks`` are words of which each is in title and body of one text; ``author`` is the token of
    the agent to whose private scope they went, or ``None`` where they went to the project.
    """

    api: Api
    project_id: str
    marks: list[str] = field(default_factory=list)
    author: str | None = None

    @property
    def base(self):
        return f"/api/projects/{self.project_id}"

    @property
    def readers(self):
        return ["reader", *([] if self.author is None else [self.author])]


class Loader:
    """Brings texts in."""

    def __init__(self, api, texts, folder):
        self.api, self.texts, self.folder = api, texts, folder
        self.ways = {}
        self.held = []

    def way(self, name):
        project = self.api.world.project(f"way-{name}")
        made = Way(self.api, project.project_id)
        self.control(made)
        self.ways[name] = made
        return made, project

    @staticmethod
    def control(way):
        draft = {"collection": "project", "kind": "fact", "title": CONTROL, "body": CONTROL}
        made = way.api("ann", "POST", f"{way.base}/memories", draft).ok(201)
        way.api.act("bob", made, "approve").ok()

    def draft(self, way, number, text, **fields):
        mark = f"zq{len(self.ways)}n{number}"
        way.marks.append(mark)
        return {
            "kind": "fact",
            "collection": "project",
            "title": f"Note {mark}",
            "body": f"{text}\n\n{mark}",
        } | fields

    def post(self, who, way, draft):
        """Write; only a text with a character that nobody can see is refused."""
        answer = self.api(who, "POST", f"{way.base}/memories", draft)
        if hidden(draft["body"], multiline=True):
            answer.refused(422, "invalid-request")
            way.marks.pop()
            return None
        made = answer.ok(201)
        assert made["status"] == "proposed", made["body"]
        self.held.append(made)
        return made

    def runs(self, name, project, *, background=False):
        """Yield the token of a run for each text: a run may write so many entries only."""
        world = self.api.world
        caller = world.person(name, kind="agent", background=background)
        for number in range(len(self.texts)):
            if number % PER_RUN == 0:
                text = world.run(caller, project).text
            yield text

    def background(self):
        way, project = self.way("background")
        for number, token in enumerate(self.runs("cron", project, background=True)):
            draft = self.draft(way, number, self.texts[number], collection="private")
            self.post(token, way, draft)
            way.author = token

    def proposals(self):
        way, project = self.way("proposals")
        for number, token in enumerate(self.runs("elm", project)):
            self.post(token, way, self.draft(way, number, self.texts[number]))

    def batch(self):
        """Entries of a background run get their texts in one request."""
        way, project = self.way("batch")
        steps, bodies = [], []
        for number, token in enumerate(self.runs("fir", project, background=True)):
            draft = self.draft(way, number, self.texts[number], collection="private")
            if hidden(draft["body"], multiline=True):
                way.marks.pop()
                continue
            plain = draft | {"body": f"plain {draft['title']}"}
            made = self.api(token, "POST", f"{way.base}/memories", plain).ok(201)
            changes = {"body": draft["body"]}
            steps.append({"action": "update", "id": made["id"], "revision": 1, "changes": changes})
            bodies.append(draft["body"])
            way.author = token
        for start in range(0, len(steps), PER_RUN):
            operations = steps[start : start + PER_RUN]
            done = self.api(
                way.author, "POST", "/api/memories/batch", {"operations": operations}
            ).ok()
            assert {(r["ok"], r["status"]) for r in done["results"]} == {(True, "proposed")}

    def derived(self):
        """A live agent words anew what a background run had left for review."""
        way, project = self.way("derived")
        world = self.api.world
        cron = world.run(world.person("oak", kind="agent", background=True), project).text
        source = self.api(
            cron, "POST", f"{way.base}/memories",
            {"collection": "private", "kind": "fact", "title": "zqsource", "body": "zqsource"},
        ).ok(201)  # fmt: skip
        pairs = [{"memory_id": source["id"], "revision": 1}]
        for number, token in enumerate(self.runs("oak", project)):
            draft = self.draft(way, number, self.texts[number], collection="private")
            made = self.post(token, way, draft | {"derived_from": pairs})
            assert made is None or made["review_reason"].split(":")[0] in {"flagged", "tainted"}
            way.author = token

    def learned(self):
        """A repository's rule files, one a text."""
        mark = f"zq{len(self.ways) + 1}n"
        repository = Repository(self.folder / "poisoned")
        rules = enumerate(self.texts)
        repository.commit(
            {
                f".cursor/rules/{n:04d}.mdc": f"# Note {mark}{n}\n\n{text}\n\n{mark}{n}\n"
                for n, text in rules
            }
        )
        world = self.api.world
        done = learning.learn(
            world.store, world.sign_in(self.api.tokens["ann"]), repository.path, None, dry_run=False
        )
        way = Way(self.api, done.project.project_id)
        way.marks = [f"{mark}{number}" for number in range(len(self.texts))]
        self.control(way)
        self.ways["learned"] = way
        actions = [o.action for o in done.outcomes]
        assert set(actions) == {"proposed"}
        assert len(actions) >= len(self.texts)

    def imported(self):
        """Another store's export, in which everything was accepted or proposed."""
        source = self.ways["proposals"]
        way, project = self.way("imported")
        way.marks = source.marks
        world = self.api.world
        lines = export(world.store, world.owner, Format.JSONL, project=source.project_id)
        accepted = lines.replace('"status":"proposed"', '"status":"accepted"')
        importer = replace(world.owner, origin=Origin.USER)
        done = proposed_import.run(
            world.store, importer, accepted.encode(), project.project_id, None
        )
        assert (done.proposed, done.refused) == (len(source.marks), ())

    def legacy(self, serve, new_server):
        """An older home: each text proposed, and those with findings accepted besides."""
        home = Home(self.folder / "older" / "home", new_server())
        home.make()
        mark = f"zq{len(self.ways) + 1}n"
        kept = [*enumerate(self.texts)]
        accepted = [(n + len(kept), t) for n, t in kept if scan(t)]
        entries = [
            {
                "id": f"mem_{number:026d}", "revision": 1, "collection": "project",
                "repo": "/srv/code/older", "projectId": "core", "status": status,
                "createdAt": "2026-03-01T08:00:00Z", "updatedAt": "2026-04-01T09:00:00Z",
                "title": f"Note {mark}{number}", "body": f"{text}\n\n{mark}{number}",
            }
            for status, texts in (("proposed", kept), ("accepted", accepted))
            for number, text in texts
        ]  # fmt: skip
        document = {"version": 2, "entries": entries, "receipts": [], "feedback": []}
        (home.path / "memory.json").write_text(json.dumps(document), "utf-8")
        legacy_import.run(home, None, now=Clock(START))
        tenants = Tenants(
            home,
            now=Clock(START),
            random_bytes=random.Random(13).randbytes,  # noqa: S311 - repeatable on purpose
        )
        tenants.create("birch")
        limits = Limits(requests_per_minute_token=PLENTY, requests_per_minute_tenant=PLENTY)
        served = serve(
            lambda listener: create_app(
                Wiring(tenants, Settings(limits=limits), own_hosts(listener), lambda: "req_older")
            )
        )
        older = Api(served, World(tenants, Clock(START)))
        found = older("olga", "GET", "/api/projects").ok()["items"]
        (project_id,) = [p["id"] for p in found if p["slug"] == "core"]
        way = Way(older, project_id, [f"{mark}{number}" for number in range(len(entries))])
        self.control(way)
        self.ways["legacy"] = way
        return tenants
