"""The steps of ``demo``: each is a real request of a real caller, and what it answered."""

from pathlib import Path
from typing import Any

import click

from codeflow_memory.adapters import git
from codeflow_memory.cli import output, stores
from codeflow_memory.cli.client import Request, path
from codeflow_memory.cli.local import LocalClient
from codeflow_memory.services import learning
from codeflow_memory.services.store import Store

_REVIEWED = 60
"""Proposals that the reviewer approves: enough for a choice, and few enough to wait for."""

_SHOWN = 6
"""Lines of a list, and of a text."""

_QUESTION = 8
"""Words of a question that the run asks."""


class Demonstration:
    """Learn, review, select, change, replay.

    Args:
        client: Asks the application; each request has the token of who makes it.
        store: An empty tenant.
        folder: The repository.
        quiet: Print one JSON document at the end instead of the steps.
    """

    def __init__(self, client: LocalClient, store: Store, folder: Path, *, quiet: bool) -> None:
        self._client = client
        self._store = store
        self._folder = folder
        self._quiet = quiet
        self._number = 0
        self._facts: dict[str, Any] = {"tenant": store.tenant, "repository": str(folder)}

    def run(self) -> dict[str, Any]:
        """Go through all steps; return where their results are, and a token of their owner.

        Returns:
            ``tenant``, ``project``, ``token``, and a ``status`` that memories of the project have.

        Raises:
            click.ClickException: A step did not end as it must.
        """
        tokens = self._people()
        project, commit = self._learn()
        accepted = self._review(tokens, project)
        manifest, run = self._select(tokens, project, accepted, commit)
        self._change(tokens, manifest)
        self._replay(run, project, manifest)
        self._select_again(run, project, manifest, commit)
        self._delete(tokens, run, project, manifest)
        self._ask(tokens["owner"], Request("POST", path("runs", run["run_id"], "end"), body={}))
        if self._quiet:
            output.print_json(self._facts)
        return {
            "tenant": self._store.tenant,
            "project": project,
            "status": self._status(tokens["owner"], project),
            "token": tokens["owner"],
        }

    def _people(self) -> dict[str, str]:
        self._step(f"A tenant of its own, {self._store.tenant!r}, with an owner and a reviewer")
        owner = stores.owner_token(self._store)
        body = {"principal": "reviewer", "kind": "user", "role": "reviewer"}
        made = self._ask(owner, Request("POST", path("admin", "tokens"), body=body))
        return {"owner": owner, "reviewer": made["token"]}

    def _learn(self) -> tuple[str, str]:
        self._step(f"Learn what {self._folder} tells those who work in it")
        access = stores.owner(self._store)
        learned = learning.learn(self._store, access, self._folder, None, dry_run=False)
        counts = dict(learning.summary(learned))
        self._line(f"commit {learned.commit[:12]}: " + _counts(counts))
        for outcome in learned.outcomes[:_SHOWN]:
            self._line(f"{outcome.action}: {outcome.title}")
        self._more(len(learned.outcomes))
        self._facts |= {"commit": learned.commit, "learned": counts}
        return learned.project.project_id, learned.commit

    def _review(self, tokens: dict[str, str], project: str) -> list[dict[str, Any]]:
        self._step("A second person reviews the proposals and approves them")
        where = path("projects", project, "memories")
        query = {"status": "proposed", "limit": _REVIEWED}
        waiting = self._ask(tokens["reviewer"], Request("GET", where, query))["items"]
        accepted, held = list[dict[str, Any]](), 0
        for memory in waiting:
            if memory["review_reason"]:
                held += 1
                continue
            approve = path("memories", memory["id"], "approve")
            request = Request("POST", approve, body={}, revision=memory["revision"])
            accepted.append(self._ask(tokens["reviewer"], request))
        self._line(f"{len(accepted)} approved, each at the revision that was read")
        if held:
            self._line(f"{held} held back: the scanner found something to look at")
        if not accepted:
            raise click.ClickException("nothing could be approved, so there is nothing to select")
        self._facts["approved"] = len(accepted)
        return accepted

    def _select(
        self, tokens: dict[str, str], project: str, accepted: list[dict[str, Any]], commit: str
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        self._step("An agent starts a run, and asks once for what it should know")
        branch = git.open_repository(self._folder).head().branch
        start = {"project_id": project, "agent": "demo-agent", "branch": branch}
        body = {name: value for name, value in start.items() if value is not None}
        run = self._ask(tokens["owner"], Request("POST", path("runs"), body=body))
        self._line(f"run {run['run_id']}: its token reads this project alone, until it ends")
        question = " ".join(accepted[len(accepted) // 2]["title"].split()[:_QUESTION])
        manifest = self._manifest(run, project, question, commit)
        self._line(f"question: {question}")
        self._show(manifest)
        if not manifest["entries"]:
            raise click.ClickException("nothing was selected, so there is nothing to replay")
        self._facts["manifest"] = {
            name: manifest[name] for name in ("id", "manifest_sha256", "context_sha256")
        }
        return manifest, run

    def _change(self, tokens: dict[str, str], manifest: dict[str, Any]) -> None:
        self._step("The memories change: the best one is rewritten, the last one archived")
        first, *others = manifest["entries"]
        changes = {"title": "Rewritten since", "body": "Something else is true now."}
        where = path("memories", first["memory_id"])
        edit = Request("PATCH", where, body=changes, revision=first["revision"])
        done = [self._ask(tokens["owner"], edit)]
        for entry in others[-1:]:
            where = path("memories", entry["memory_id"], "archive")
            away = Request("POST", where, body={}, revision=entry["revision"])
            done.append(self._ask(tokens["owner"], away))
        for memory in done:
            self._line(f"{memory['id']} is at revision {memory['revision']}, {memory['status']}")

    def _replay(self, run: dict[str, Any], project: str, manifest: dict[str, Any]) -> None:
        self._step("Replay what the run was given then, from the recorded revisions")
        replayed = self._replayed(run, project, manifest)
        if not replayed["verified"] or replayed["context"] != manifest["context"]:
            raise click.ClickException("the replay does not agree with its manifest")
        self._line(f"{len(replayed['context'])} characters, byte for byte the same")
        self._line("every recorded hash agrees: verified")
        self._facts["replay"] = {"verified": True, "context_sha256": manifest["context_sha256"]}

    def _delete(
        self,
        tokens: dict[str, str],
        run: dict[str, Any],
        project: str,
        manifest: dict[str, Any],
    ) -> None:
        self._step("One memory is deleted, every word of it, and the manifest replayed once more")
        memory_id = manifest["entries"][-1]["memory_id"]
        where = path("memories", memory_id)
        base = self._ask(tokens["owner"], Request("GET", where))["revision"]
        self._ask(tokens["owner"], Request("DELETE", where, body={}, revision=base))
        replayed = self._replayed(run, project, manifest)
        gone = [e["memory_id"] for e in replayed["entries"] if e.get("redacted")]
        if gone != [memory_id]:
            raise click.ClickException("the replay does not mark what was deleted")
        self._line(f"the place of {memory_id} is marked as redacted; the rest is as it was")
        self._facts["redacted"] = gone

    def _status(self, owner: str, project: str) -> str:
        """Return a status that some memory has: of a small repository none may stay accepted."""
        where = path("projects", project, "memories")
        for status in ("accepted", "proposed"):
            if self._ask(owner, Request("GET", where, {"status": status, "limit": 1}))["items"]:
                return status
        return "deleted"

    def _replayed(
        self, run: dict[str, Any], project: str, manifest: dict[str, Any]
    ) -> dict[str, Any]:
        where = path("projects", project, "memory", "selections", manifest["id"], "replay")
        return self._ask(run["token"], Request("POST", where, body={}))

    def _select_again(
        self, run: dict[str, Any], project: str, manifest: dict[str, Any], commit: str
    ) -> None:
        self._step("The same question now")
        again = self._manifest(run, project, manifest["query"] or "", commit)
        self._show(again)
        self._line("what was rewritten waits for review again, and is not selected")

    def _manifest(
        self, run: dict[str, Any], project: str, question: str, commit: str
    ) -> dict[str, Any]:
        where = path("projects", project, "memory", "selections")
        body = {"query": question, "head": commit, "explain": True}
        return self._ask(run["token"], Request("POST", where, body=body))

    def _show(self, manifest: dict[str, Any]) -> None:
        self._line(f"manifest {manifest['id']}, sha256 {manifest['manifest_sha256'][:16]}…")
        for entry in manifest["entries"][:_SHOWN]:
            why = "; ".join(_reason(reason) for reason in entry["reasons"][:2]) or "what is left"
            self._line(f"{entry['score']:>9.4f}  {entry['memory_id']} r{entry['revision']}  {why}")
        self._more(len(manifest["entries"]))
        if manifest["omitted"]:
            self._line(f"{len(manifest['omitted'])} left out, each with its reason")

    def _ask(self, token: str, request: Request) -> dict[str, Any]:
        return self._client.send(request, token)

    def _step(self, title: str) -> None:
        self._number += 1
        if not self._quiet:
            click.echo(f"{self._number}. {title}")

    def _line(self, text: str) -> None:
        if not self._quiet:
            click.echo(f"   {text}")

    def _more(self, count: int) -> None:
        if count > _SHOWN:
            self._line(f"and {count - _SHOWN} more")


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {action}" for action, number in counts.items())


def _reason(reason: dict[str, Any]) -> str:
    """Write one reason of a manifest in a few words."""
    match reason:
        case {"type": "term", "term": term, "fields": fields}:
            return f"{term} in {', '.join(fields)}"
        case {"type": "connection", "seed": seed, "hops": [{"type": kind}, *_]}:
            return f"{kind} joins it to {seed}"
        case {"type": kind}:
            return str(kind)
        case _:
            return ", ".join(reason)
