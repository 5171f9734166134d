"""Every channel over which something hidden could be told: named lists of requests.

A request uses ids that are visible to the caller, ids that are hidden in one world and absent in
the other, and ids that are absent in both.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from codeflow_memory.domain.keys import FUNCTIONAL

from .building import Ask
from .scripts import WORDS, draft

ABSENT = "mem_01KABCDEFGHJKMNPQRSTVWXYZ0"
ABSENT_OTHER = "01KABCDEFGHJKMNPQRSTVWXYZ0"


@dataclass(frozen=True, slots=True)
class Known:
    """Ids by name, of the world that holds the hidden part, and who asks."""

    ids: dict[str, str]
    caller: str

    @property
    def core(self) -> str:
        return f"/api/projects/{self.ids['core']}"

    def named(self, *prefixes: str) -> list[str]:
        return [i for name, i in sorted(self.ids.items()) if name.startswith(prefixes)]

    @property
    def hidden(self) -> list[str]:
        """Memories that are hidden in one world; in settings without any, one that is absent."""
        found = [n for n in sorted(self.ids) if n[0] in "hvb" and self.ids[n].startswith("mem_")]
        return [self.ids[n] for n in found] or [ABSENT]

    @property
    def visible(self) -> list[str]:
        return [self.ids[n] for n in ("m0", "m5", "m7", "m9")]

    @property
    def any_memory(self) -> list[str]:
        return [*self.hidden, ABSENT, *self.visible]

    def pair(self, memory_id: str, revision: int = 1) -> dict:
        return {"memory_id": memory_id, "revision": revision}

    def own(self, title: str) -> str:
        return f"{title} by {self.caller}"


Channel = Callable[[Known], Iterator[Ask]]

CHANNELS: dict[str, Channel] = {}


def channel(name: str) -> Callable[[Channel], Channel]:
    def keep(asks: Channel) -> Channel:
        CHANNELS[name] = asks
        return asks

    return keep


def each_memory(name: str, suffix: str) -> None:
    @channel(name)
    def asks(known: Known) -> Iterator[Ask]:
        for memory_id in known.any_memory:
            yield Ask("GET", f"/api/memories/{memory_id}{suffix}")


each_memory("a memory by id", "")
each_memory("its revisions", "/revisions")
each_memory("its first revision", "/revisions/1")
each_memory("a revision that is not there", "/revisions/9")
each_memory("its diff", "/diff?from=1&to=2")


def each_action(action: str) -> None:
    @channel(f"to {action}")
    def asks(known: Known) -> Iterator[Ask]:
        body = {"superseded_by": known.ids["m1"]} if action == "supersede" else {}
        for memory_id in [*known.hidden, ABSENT]:
            for revision in (1, 2, None):
                yield Ask("POST", f"/api/memories/{memory_id}/{action}", body, revision)


for _action in ("approve", "reject", "supersede", "outdate", "archive", "restore", "return"):
    each_action(_action)


@channel("to publish")
def publish(known: Known) -> Iterator[Ask]:
    for memory_id in (
        [*known.hidden, ABSENT, known.ids[f"own-{known.caller}"]]
        if (f"own-{known.caller}" in known.ids)
        else [*known.hidden, ABSENT]
    ):
        yield Ask("POST", f"/api/memories/{memory_id}/publish", {}, 1)


@channel("to revise")
def revise(known: Known) -> Iterator[Ask]:
    for memory_id in [*known.hidden, ABSENT]:
        for revision in (1, 2, None):
            yield Ask("PATCH", f"/api/memories/{memory_id}", {"title": "mine now"}, revision)


@channel("to revise into a hidden text")
def revise_twin(known: Known) -> Iterator[Ask]:
    own = known.ids.get(f"own-{known.caller}", ABSENT)
    for number in range(6):
        text = f"hidden zanzibar {WORDS[number % 3]} {number}"
        yield Ask("PATCH", f"/api/memories/{own}", {"title": text, "body": f"{text}: keep to it."},
                  number + 1)  # fmt: skip


@channel("to delete")
def delete(known: Known) -> Iterator[Ask]:
    for memory_id in [*known.hidden, ABSENT]:
        for revision in (1, 3):
            yield Ask("DELETE", f"/api/memories/{memory_id}", {}, revision)


@channel("the audit")
def audit(known: Known) -> Iterator[Ask]:
    yield Ask("GET", "/api/audit?limit=100")
    for memory_id in known.any_memory:
        yield Ask("GET", f"/api/audit?item={memory_id}&limit=5")
    yield Ask("GET", "/api/audit/verify")
    yield Ask("GET", "/api/audit?limit=2")
    for _ in range(4):
        yield Ask("GET", "/api/audit?limit=2&cursor={cursor}")


@channel("the review queue")
def queue(known: Known) -> Iterator[Ask]:
    for more in ("limit=100", "limit=2", "reason=new", "reason=flagged", "reason=similar",
                 "collection=private", "collection=team", f"project_id={known.ids['core']}",
                 "project_id=nowhere", "project_id=vault"):  # fmt: skip
        yield Ask("GET", f"/api/review?{more}")
    yield Ask("GET", "/api/review?limit=1")
    for _ in range(4):
        yield Ask("GET", "/api/review?limit=1&cursor={cursor}")


@channel("the report on trust")
def trust(known: Known) -> Iterator[Ask]:
    for more in ("", f"?project_id={known.ids['core']}", "?project_id=nowhere", "?repo=nowhere"):
        yield Ask("GET", f"/api/trust{more}")


@channel("the predicates")
def predicates(known: Known) -> Iterator[Ask]:  # noqa: ARG001 - as every channel
    yield Ask("GET", "/api/predicates")
    yield Ask("PUT", "/api/predicates", {"functional": sorted({*FUNCTIONAL, "codename"})})


@channel("to take a hidden key")
def key(known: Known) -> Iterator[Ask]:
    for collection in ("private", "project"):
        for number, paths in enumerate((["src/http/**", "src/hidden.py"], ["src/http/**"])):
            body = draft(known.own(f"key {collection} {number}"), collection=collection)
            yield Ask("POST", f"{known.core}/memories",
                      body | {"key": "zanzibar | version", "paths": paths})  # fmt: skip


@channel("to undo")
def undo(known: Known) -> Iterator[Ask]:
    for memory_id in [*known.hidden, ABSENT]:
        yield Ask("POST", "/api/undo", {"item": memory_id})
    yield Ask("POST", "/api/undo", {"batch": "bat_" + ABSENT_OTHER})


@channel("to undo one's own last change")
def undo_own(known: Known) -> Iterator[Ask]:
    body = draft(known.own("undone"), collection="private")
    yield Ask("POST", f"{known.core}/memories", body)
    yield Ask("POST", "/api/undo", {})


@channel("feedback")
def feedback(known: Known) -> Iterator[Ask]:
    for memory_id in [*known.hidden, ABSENT, known.ids["m1"]]:
        yield Ask("POST", f"/api/memories/{memory_id}/feedback", {"helpful": True})


@channel("a new memory with a hidden text")
def create_twin(known: Known) -> Iterator[Ask]:
    for collection in ("project", "private"):
        for number in range(6):
            text = f"hidden zanzibar {WORDS[number % 3]} {number}"
            yield Ask("POST", f"{known.core}/memories", draft(text, collection=collection))


@channel("a new memory of another project with a hidden text")
def create_aside(known: Known) -> Iterator[Ask]:
    for number in range(6):
        text = f"hidden zanzibar {WORDS[number % 3]} {number}"
        yield Ask("POST", f"/api/projects/{known.ids['side']}/memories", draft(text))


@channel("provenance of a new memory")
def create_derived(known: Known) -> Iterator[Ask]:
    for number, memory_id in enumerate([*known.hidden, ABSENT, known.ids["m0"]]):
        for revision in (1, 2, 9):
            text = known.own(f"derived {number} {revision}")
            pairs = [known.pair(memory_id, revision)]
            yield Ask("POST", f"{known.core}/memories", draft(text, derived_from=pairs))


@channel("what a new memory supersedes")
def create_successor(known: Known) -> Iterator[Ask]:
    for memory_id in [*known.hidden, ABSENT]:
        for revision in (1, 2):
            body = draft(known.own("successor"), supersedes=known.pair(memory_id, revision))
            yield Ask("POST", f"{known.core}/memories", body)


@channel("the team of a new memory")
def create_team(known: Known) -> Iterator[Ask]:
    for team in [*known.named("blue-team"), "team_" + ABSENT_OTHER, "blue"]:
        body = draft(known.own("team"), collection="team", team_id=team)
        yield Ask("POST", f"{known.core}/memories", body)


@channel("the run of a new memory")
def create_run(known: Known) -> Iterator[Ask]:
    for run in [*known.named("h-run"), "run_" + ABSENT_OTHER]:
        body = draft(known.own("run"), collection="private", run_id=run)
        yield Ask("POST", f"{known.core}/memories", body)


@channel("the successor of a visible memory")
def superseded_by(known: Known) -> Iterator[Ask]:
    for memory_id in [*known.hidden, ABSENT]:
        path = f"/api/memories/{known.ids['m2']}/supersede"
        yield Ask("POST", path, {"superseded_by": memory_id}, 2)


@channel("an idempotency key that others used")
def keys(known: Known) -> Iterator[Ask]:
    for number in range(3):
        body = draft(known.own(f"keyed {number}"))
        yield Ask("POST", f"{known.core}/memories", body, key=f"operation-{number}")
        yield Ask("POST", f"{known.core}/memories", body, key=f"operation-{number}")


@channel("pages of a list")
def pages(known: Known) -> Iterator[Ask]:
    for size in (1, 3):
        path = f"{known.core}/memories?limit={size}"
        yield Ask("GET", path)
        for _ in range(6):
            yield Ask("GET", f"{path}&cursor={{cursor}}")


@channel("lists by status")
def statuses(known: Known) -> Iterator[Ask]:
    for status in (
        "proposed", "accepted", "rejected", "outdated", "superseded", "archived", "deleted",
    ):  # fmt: skip
        for more in ("", "&limit=1", "&collection=private", "&collection=project"):
            yield Ask("GET", f"{known.core}/memories?status={status}{more}")


@channel("lists by words, tag, path and kind")
def narrowed(known: Known) -> Iterator[Ask]:
    for more in ("q=zanzibar", "q=retry", "q=hidden", "tag=hidden", "tag=seen", "kind=guidance",
                 "path=src/hidden.py", "path=src/http/client.py", "collection=team"):  # fmt: skip
        for status in ("accepted", "proposed", "rejected", "deleted"):
            yield Ask("GET", f"{known.core}/memories?{more}&status={status}")


@channel("search")
def search(known: Known) -> Iterator[Ask]:
    for words in ("retry", "retry+idempotent", "cache+order", "zanzibar", "hidden", "lock+retry",
                  "requests+of+the+vault"):  # fmt: skip
        for more in ("", "&match=literal", "&limit=1", "&path=src/http/client.py",
                     "&collection=private", "&collection=team"):  # fmt: skip
            yield Ask("GET", f"{known.core}/memory/search?q={words}{more}")


@channel("the graph")
def graph(known: Known) -> Iterator[Ask]:
    for more in ("", "?kind=file", "?kind=commit", "?type=derived_from", "?status=proposed",
                 "?status=rejected", "?status=archived"):  # fmt: skip
        yield Ask("GET", f"{known.core}/memory/graph{more}")


@channel("the graph around a hidden memory")
def graph_around_hidden(known: Known) -> Iterator[Ask]:
    for memory_id in [*known.hidden, ABSENT]:
        for depth in (1, 2):
            yield Ask("GET", f"{known.core}/memory/graph?around={memory_id}&depth={depth}")


@channel("the graph around what hidden memories share")
def graph_around_shared(known: Known) -> Iterator[Ask]:
    nodes = ["file:src/http/client.py", "file:src/http/**", "file:src/hidden.py",
             "commit:" + "a" * 40, "run:" + known.ids["run"], known.ids["m0"],
             *(f"run:{run}" for run in known.named("h-run"))]  # fmt: skip
    for node in nodes:
        for depth in (1, 2):
            yield Ask("GET", f"{known.core}/memory/graph?around={node}&depth={depth}")


@channel("a selection by words")
def select_words(known: Known) -> Iterator[Ask]:
    for words in (*WORDS, "zanzibar", "hidden retry", ""):
        yield Ask("POST", f"{known.core}/memory/selections", {"query": words, "explain": True})


@channel("a selection by paths")
def select_paths(known: Known) -> Iterator[Ask]:
    for paths in (["src/http/client.py"], ["src/hidden.py"], ["src/http/client.py", "docs/a.md"]):
        for words in ("", "retry"):
            body = {"query": words, "paths": paths, "explain": True}
            yield Ask("POST", f"{known.core}/memory/selections", body)


@channel("a selection by budget")
def select_budget(known: Known) -> Iterator[Ask]:
    for budget in ({"entries": 1}, {"entries": 3}, {"characters": 700}, {"characters": 2000}):
        body = {"query": "retry cache lock", "budget": budget, "explain": True}
        yield Ask("POST", f"{known.core}/memory/selections", body)


@channel("a selection for a run")
def select_run(known: Known) -> Iterator[Ask]:
    for run in [*known.named("h-run"), "run_" + ABSENT_OTHER]:
        yield Ask("POST", f"{known.core}/memory/selections", {"query": "retry", "run_id": run})


@channel("a selection by id")
def selection_get(known: Known) -> Iterator[Ask]:
    for one in [*known.named("h-sel", "h-run-sel"), "sel_" + ABSENT_OTHER, *known.named("sel-")]:
        yield Ask("GET", f"{known.core}/memory/selections/{one}")


@channel("a replay")
def selection_replay(known: Known) -> Iterator[Ask]:
    for one in [*known.named("h-sel", "h-run-sel"), "sel_" + ABSENT_OTHER, *known.named("sel-")]:
        yield Ask("POST", f"{known.core}/memory/selections/{one}/replay", {})


@channel("feedback on a selection")
def selection_feedback(known: Known) -> Iterator[Ask]:
    for one in [*known.named("h-sel", "h-run-sel"), known.ids[f"sel-{known.caller}"]]:
        for memory_id in [*known.hidden[:3], ABSENT, known.ids["m3"]]:
            body = {"memory_id": memory_id, "helpful": True}
            yield Ask("POST", f"{known.core}/memory/selections/{one}/feedback", body)


@channel("selections of a run")
def selections_of_run(known: Known) -> Iterator[Ask]:
    for run in [*known.named("h-run"), known.ids["run"], "run_" + ABSENT_OTHER]:
        for more in ("", "&limit=1"):
            yield Ask("GET", f"{known.core}/memory/selections?run_id={run}{more}")


@channel("one's own selections")
def selections_own(known: Known) -> Iterator[Ask]:
    path = f"{known.core}/memory/selections"
    yield Ask("GET", path)
    yield Ask("GET", f"{path}?limit=1")
    for _ in range(3):
        yield Ask("GET", f"{path}?limit=1&cursor={{cursor}}")


@channel("a project by id or slug")
def project(known: Known) -> Iterator[Ask]:
    names = [*known.named("core", "side", "vault-", "b-core"), "core", "deep", "nowhere"]
    for name in names:
        yield Ask("GET", f"/api/projects/{name}")
        yield Ask("GET", f"/api/projects/{name}?repo=shop")
        yield Ask("GET", f"/api/projects/{name}?repo=vault")


@channel("the list of projects")
def projects(_: Known) -> Iterator[Ask]:
    for more in ("", "?repo=shop", "?repo=vault", "?repo=https://g/vault", "?repo=/srv/vault",
                 "?limit=1", "?limit=1&cursor={cursor}"):  # fmt: skip
        yield Ask("GET", f"/api/projects{more}")


@channel("the routes of a hidden project")
def hidden_project(known: Known) -> Iterator[Ask]:
    for name in [*known.named("vault-core", "b-core"), "deep", "prj_" + ABSENT_OTHER]:
        base = f"/api/projects/{name}"
        yield Ask("GET", f"{base}/memories")
        yield Ask("POST", f"{base}/memories", draft(known.own("outside")))
        yield Ask("GET", f"{base}/memory/search?q=retry")
        yield Ask("GET", f"{base}/memory/graph")
        yield Ask("POST", f"{base}/memory/selections", {"query": "retry"})
        yield Ask("GET", f"{base}/memory/selections")
        yield Ask("POST", f"{base}/memory/verify", {})


@channel("a repository by id or fact")
def repository(known: Known) -> Iterator[Ask]:
    for name in [*known.named("shop", "vault", "b-shop"), "shop", "vault", "nowhere"]:
        yield Ask("GET", f"/api/repositories/{name}")
        yield Ask("PATCH", f"/api/repositories/{name}", {"capture": True}, 1)
        yield Ask("POST", f"/api/repositories/{name}/projects", {"slug": "core"})
        yield Ask("POST", f"/api/repositories/{name}/merge", {"into": "shop"})


@channel("the list of repositories")
def repositories(_: Known) -> Iterator[Ask]:
    for more in ("", "?repo=shop", "?repo=vault", "?repo=https://g/vault", "?limit=1"):
        yield Ask("GET", f"/api/repositories{more}")


@channel("the registration of a repository")
def register(_: Known) -> Iterator[Ask]:
    for facts in ({"key": "vault"}, {"remote": "https://g/vault"}, {"key": "nowhere"}):
        yield Ask("POST", "/api/repositories", facts)


@channel("a repository in a body")
def repository_in_body(known: Known) -> Iterator[Ask]:
    for name in [*known.named("vault", "b-shop"), "vault", "nowhere"]:
        body = {"repo": name, "query": "retry"}
        yield Ask("POST", f"{known.core}/memory/selections", body)
        yield Ask("POST", "/api/projects/core/memory/selections", body)
        body = {"agent": "claude-code", "repo": name, "project_id": "core"}
        yield Ask("POST", "/api/runs", body)


@channel("runs")
def runs(known: Known) -> Iterator[Ask]:
    yield Ask("GET", "/api/runs")
    yield Ask("GET", "/api/runs?limit=1")
    for run in [*known.named("h-run"), "run_" + ABSENT_OTHER]:
        yield Ask("GET", f"/api/runs/{run}")
        yield Ask("POST", f"/api/runs/{run}/end", {})


@channel("the start of a run")
def start_run(known: Known) -> Iterator[Ask]:
    for team in [*known.named("blue-team"), "team_" + ABSENT_OTHER]:
        body = {"agent": "claude-code", "project_id": "core", "team_id": team}
        yield Ask("POST", "/api/runs", body)
    yield Ask("POST", "/api/runs", {"agent": "claude-code", "project_id": "core"})
    yield Ask("POST", "/api/runs", {"agent": "claude-code"})


@channel("how the tenant is run")
def operations(_: Known) -> Iterator[Ask]:
    yield Ask("GET", "/metrics")
    yield Ask("GET", "/api/status")


@channel("administration lists")
def admin_lists(known: Known) -> Iterator[Ask]:
    for name in ("principals", "teams", "grants", "tokens"):
        yield Ask("GET", f"/api/admin/{name}")
    yield Ask("GET", "/api/admin/grants?principal=hal")
    yield Ask("GET", "/api/admin/tokens?principal=hal")
    for team in [*known.named("blue-team"), "blue", "nowhere"]:
        yield Ask("GET", f"/api/admin/teams/{team}/members")


@channel("administration changes")
def admin_changes(known: Known) -> Iterator[Ask]:
    for name in [*known.named("p-hal"), "hal", "nobody"]:
        yield Ask("DELETE", f"/api/admin/principals/{name}")
        yield Ask("POST", "/api/admin/grants", {"principal": name, "role": "reader"})
        yield Ask("POST", "/api/admin/tokens", {"principal": name, "role": "reader"})
    yield Ask("POST", "/api/admin/principals", {"name": "hal", "kind": "user"})
    yield Ask("POST", "/api/admin/teams", {"slug": "blue"})
    for team in [*known.named("blue-team"), "blue", "nowhere"]:
        yield Ask("DELETE", f"/api/admin/teams/{team}")
    for grant in [*known.named("g-hal"), "nowhere"]:
        yield Ask("DELETE", f"/api/admin/grants/{grant}")
    for token in [*known.named("t-hal"), "nowhere"]:
        yield Ask("DELETE", f"/api/admin/tokens/{token}")


@channel("the members of a team")
def members(known: Known) -> Iterator[Ask]:
    for team in [*known.named("blue-team", "red-team"), "blue", "red", "nowhere"]:
        path = f"/api/admin/teams/{team}/members"
        for name in [*known.named("p-hal"), "hal", "con", "nobody"]:
            yield Ask("POST", path, {"principal": name})
            yield Ask("DELETE", f"{path}/{name}")


@channel("what needs no token")
def public(_: Known) -> Iterator[Ask]:
    for path in ("/healthz", "/readyz", "/schema", "/schema/openapi.json", "/schema/other"):
        yield Ask("GET", path)


@channel("tokens of another tenant")
def other_tenants(known: Known) -> Iterator[Ask]:
    for tenant in ("birch", "local", "nowhere"):
        for token_id in [*known.named("t-hal"), "x" * 16]:
            token = f"cfm_{tenant}_{token_id}_{'y' * 43}"
            yield Ask("GET", f"{known.core}/memories", token=token)
            yield Ask("GET", f"/api/memories/{known.hidden[0]}", token=token)


def each_batch(name: str, **flags: bool) -> None:
    @channel(name)
    def asks(known: Known) -> Iterator[Ask]:
        for action in ("approve", "reject", "archive", "delete", "publish", "update"):
            steps = [
                {"action": action, "id": memory_id, "revision": 1}
                | ({"changes": {"title": "mine"}} if action == "update" else {})
                for memory_id in [*known.hidden, ABSENT]
            ]
            yield Ask("POST", "/api/memories/batch", {"operations": steps, **flags})
            yield Ask("POST", "/api/memories/batch", {"operations": steps[:1], **flags})


each_batch("a batch")
each_batch("a dry batch", dry_run=True)
each_batch("a batch of all or nothing", atomic=True)


@channel("verification")
def verify(known: Known) -> Iterator[Ask]:
    path = f"{known.core}/memory/verify"
    yield Ask("POST", path, {})
    yield Ask("POST", path, {"commit": "a" * 40})
    for memory_id in [*known.hidden, ABSENT, known.ids["m7"]]:
        yield Ask("POST", path, {"memory_ids": [memory_id]})


@channel("the limits of a project and their use")
def limits(known: Known) -> Iterator[Ask]:
    for name in ("core", "side"):
        yield Ask("GET", f"/api/projects/{known.ids[name]}")


@channel("unknown methods and paths")
def edges(known: Known) -> Iterator[Ask]:
    for memory_id in known.hidden[:2]:
        yield Ask("PUT", f"/api/memories/{memory_id}", {})
        yield Ask("OPTIONS", f"/api/memories/{memory_id}")
        yield Ask("GET", f"/api/memories/{memory_id}/nothing")
        yield Ask("POST", f"/api/memories/{memory_id}/approve", {"unknown": 1}, 1)


def tool(known: Known, name: str, **arguments: object) -> Ask:
    body = {"project_id": known.ids["core"]} | arguments
    return Ask("POST", f"/api/tools/{name}", {k: v for k, v in body.items() if v is not None})


def message(method: str, **params: object) -> Ask:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return Ask("POST", "/mcp", body)


@channel("a memory by the tools")
def tool_get(known: Known) -> Iterator[Ask]:
    for memory_id in known.any_memory:
        yield tool(known, "memory_get", id=memory_id, project_id=None)
        yield tool(known, "memory_get", path=f"memories/{memory_id}")
        yield tool(known, "memory", command="view", path=f"/memories/{memory_id}")
    for memory_id in [*known.hidden, ABSENT]:
        yield tool(known, "memory_feedback", memory_id=memory_id, helpful=True, project_id=None)
        yield tool(known, "memory", command="delete", path=f"/memories/{memory_id}")
        for old in ("hidden", "zanzibar", "retry"):
            path = f"/memories/{memory_id}"
            yield tool(known, "memory", command="str_replace", path=path, old_str=old, new_str="x")


@channel("a search and a selection by the tools")
def tool_search(known: Known) -> Iterator[Ask]:
    for words in (*WORDS, "zanzibar", "hidden retry", "requests of the vault"):
        yield tool(known, "memory_search", query=words)
        yield tool(known, "memory_search", query=words, max_results=1, collections=["private"])
        yield tool(known, "memory_search", query=words, path_prefix="src")
        yield tool(known, "memory_select", query=words, explain=True)
    for name in [*known.named("vault-core", "b-core"), "deep", "prj_" + ABSENT_OTHER]:
        yield tool(known, "memory_search", query="retry", project_id=name)
        yield tool(known, "memory_select", query="retry", project_id=name)


@channel("what the tools write with a hidden text")
def tool_write(known: Known) -> Iterator[Ask]:
    for number in range(4):
        text = f"hidden zanzibar {WORDS[number % 3]} {number}"
        yield tool(known, "memory_append", content=f"{text}\n{text}")
        yield tool(known, "memory_propose", kind="guidance", title=text, body=text)
        path = f"/memories/hidden/{number}.md"
        yield tool(known, "memory", command="create", path=path, file_text=text)
    for project in [*known.named("vault-core", "b-core"), "prj_" + ABSENT_OTHER]:
        yield tool(known, "memory_append", content=known.own("outside"), project_id=project)


@channel("files")
def tool_files(known: Known) -> Iterator[Ask]:
    for path in ("/memories", "/memories/hidden", "/memories/hidden/0.md", "/memories/none"):
        yield tool(known, "memory", command="view", path=path)
    yield tool(known, "memory", command="delete", path="/memories/hidden/1.md")
    old, new = "/memories/hidden", "/memories/shown"
    yield tool(known, "memory", command="rename", old_path=old, new_path=new)
    yield tool(known, "memory", command="view", path="/memories")


@channel("messages of the protocol")
def messages(known: Known) -> Iterator[Ask]:
    for listed in ("tools/list", "prompts/list", "resources/list", "resources/templates/list"):
        yield message(listed)
    for project in [known.ids["core"], *known.named("vault-core"), "prj_" + ABSENT_OTHER]:
        asked = {"project_id": project}
        yield message("prompts/get", name="review_proposals", arguments=asked)
        for memory_id in [*known.any_memory]:
            yield message("resources/read", uri=f"codeflow://{project}/memories/{memory_id}")
        for one in [*known.named("h-sel", "h-run-sel"), "sel_" + ABSENT_OTHER]:
            yield message("resources/read", uri=f"codeflow://{project}/selections/{one}")
    yield message("prompts/get", name="review_proposals")
    for memory_id in known.any_memory:
        yield message("tools/call", name="memory_get", arguments={"id": memory_id})
