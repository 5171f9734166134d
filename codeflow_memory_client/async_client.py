"""Every JSON route as a method of asyncio.

Written by ``ops/client.py`` from the API's description; a test keeps it true.
"""

from collections.abc import AsyncIterator
from typing import Any, Literal

from codeflow_memory_client import models
from codeflow_memory_client.asking import Ask, Versioned, named, place
from codeflow_memory_client.connection import PAGE, AsyncConnection


class AsyncClient(AsyncConnection):
    """Asks a server. Each method names its route, and the problems that it adds."""

    async def add_team_member(
        self, team_id: str, body: models.MemberBody, /, *, operation_id: str | None = None
    ) -> models.MembershipBody:
        """Put a principal into a team.

        ``POST /api/admin/teams/{team_id}/members``. Adds the problems import-conflict,
        operation-reused, store-unusable, storage-full.
        """
        answer: models.MembershipBody = await self._send(
            Ask(
                "POST",
                place("api", "admin", "teams", team_id, "members"),
                body=body,
                operation_id=named(operation_id),
            )
        )
        return answer

    async def approve_memory(
        self,
        memory: Versioned,
        body: models.DecisionBody | None = None,
        /,
        *,
        operation_id: str | None = None,
    ) -> models.MemoryBody | models.TombstoneBody:
        """Decide a memory; the last part of the path is the decision.

        ``POST /api/memories/{memory_id}/approve``. Adds the problems illegal-transition,
        import-conflict, operation-reused, previously-rejected, revision-conflict,
        revision-required, store-unusable, storage-full.
        """
        answer: models.MemoryBody | models.TombstoneBody = await self._send(
            Ask(
                "POST",
                place("api", "memories", memory["id"], "approve"),
                body=body,
                revision=memory["revision"],
                operation_id=named(operation_id),
            )
        )
        return answer

    async def archive_memory(
        self,
        memory: Versioned,
        body: models.DecisionBody | None = None,
        /,
        *,
        operation_id: str | None = None,
    ) -> models.MemoryBody | models.TombstoneBody:
        """Decide a memory; the last part of the path is the decision.

        ``POST /api/memories/{memory_id}/archive``. Adds the problems illegal-transition,
        import-conflict, operation-reused, previously-rejected, revision-conflict,
        revision-required, store-unusable, storage-full.
        """
        answer: models.MemoryBody | models.TombstoneBody = await self._send(
            Ask(
                "POST",
                place("api", "memories", memory["id"], "archive"),
                body=body,
                revision=memory["revision"],
                operation_id=named(operation_id),
            )
        )
        return answer

    async def check_health(self) -> dict[str, str]:
        """Say that the process answers.

        ``GET /healthz``.
        """
        answer: dict[str, str] = await self._send(Ask("GET", place("healthz")))
        return answer

    async def check_readiness(self) -> dict[str, str]:
        """Say whether work can be done.

        Say whether work can be done: a thread and the database must answer, within seconds.

        ``GET /readyz``. Adds the problems store-unusable.
        """
        answer: dict[str, str] = await self._send(Ask("GET", place("readyz")))
        return answer

    async def create_grant(
        self, body: models.NewGrantBody, /, *, operation_id: str | None = None
    ) -> models.GrantBody:
        """Give a role.

        Give a role; one that is there already is returned. Older tokens are not widened.

        ``POST /api/admin/grants``. Adds the problems import-conflict, operation-reused,
        store-unusable, storage-full.
        """
        answer: models.GrantBody = await self._send(
            Ask(
                "POST", place("api", "admin", "grants"), body=body, operation_id=named(operation_id)
            )
        )
        return answer

    async def create_memory(
        self,
        project_id: str,
        body: models.DraftBody,
        /,
        *,
        repo: str | None = None,
        operation_id: str | None = None,
    ) -> models.MemoryBody | models.TombstoneBody:
        """Propose a memory, or keep one of one's own; a known one is returned with 200.

        ``POST /api/projects/{project_id}/memories``. Adds the problems import-conflict,
        operation-reused, previously-rejected, revision-conflict, provenance-invalid,
        store-unusable, storage-full.
        """
        answer: models.MemoryBody | models.TombstoneBody = await self._send(
            Ask(
                "POST",
                place("api", "projects", project_id, "memories"),
                query={"repo": repo},
                body=body,
                operation_id=named(operation_id),
            )
        )
        return answer

    async def create_principal(
        self, body: models.NewPrincipalBody, /, *, operation_id: str | None = None
    ) -> models.PrincipalBody:
        """Make a principal without any role; the caller sponsors an agent.

        ``POST /api/admin/principals``. Adds the problems import-conflict, operation-reused,
        store-unusable, storage-full.
        """
        answer: models.PrincipalBody = await self._send(
            Ask(
                "POST",
                place("api", "admin", "principals"),
                body=body,
                operation_id=named(operation_id),
            )
        )
        return answer

    async def create_project(
        self, repository_id: str, body: models.NewProjectBody, /, *, operation_id: str | None = None
    ) -> models.ProjectBody:
        """Make a project of a repository.

        ``POST /api/repositories/{repository_id}/projects``. Adds the problems import-conflict,
        operation-reused, store-unusable, storage-full.
        """
        answer: models.ProjectBody = await self._send(
            Ask(
                "POST",
                place("api", "repositories", repository_id, "projects"),
                body=body,
                operation_id=named(operation_id),
            )
        )
        return answer

    async def create_selection(
        self, project_id: str, body: models.SelectionRequestBody | None = None, /
    ) -> models.ManifestBody:
        """Select the memories that apply, record why, and return the text to inject.

        ``POST /api/projects/{project_id}/memory/selections``. Adds the problems store-unusable,
        storage-full.
        """
        answer: models.ManifestBody = await self._send(
            Ask("POST", place("api", "projects", project_id, "memory", "selections"), body=body)
        )
        return answer

    async def create_team(
        self, body: models.NewTeamBody, /, *, operation_id: str | None = None
    ) -> models.TeamBody:
        """Make a team without members.

        ``POST /api/admin/teams``. Adds the problems import-conflict, operation-reused,
        store-unusable, storage-full.
        """
        answer: models.TeamBody = await self._send(
            Ask("POST", place("api", "admin", "teams"), body=body, operation_id=named(operation_id))
        )
        return answer

    async def create_token(
        self, body: models.NewTokenBody, /, *, operation_id: str | None = None
    ) -> models.TokenBody:
        """Make a token, its principal and that one's grant where they are missing.

        The bearer text is told once; a repetition of the request answers without it.

        ``POST /api/admin/tokens``. Adds the problems import-conflict, operation-reused,
        store-unusable, storage-full.
        """
        answer: models.TokenBody = await self._send(
            Ask(
                "POST", place("api", "admin", "tokens"), body=body, operation_id=named(operation_id)
            )
        )
        return answer

    async def delete_memory(
        self,
        memory: Versioned,
        body: models.DeleteBody | None = None,
        /,
        *,
        operation_id: str | None = None,
    ) -> models.TombstoneBody:
        """Delete a memory and every word of it; its tombstone is returned.

        ``DELETE /api/memories/{memory_id}``. Adds the problems illegal-transition,
        import-conflict, legal-hold, operation-reused, previously-rejected, revision-conflict,
        revision-required, store-unusable, storage-full.
        """
        answer: models.TombstoneBody = await self._send(
            Ask(
                "DELETE",
                place("api", "memories", memory["id"]),
                body=body,
                revision=memory["revision"],
                operation_id=named(operation_id),
            )
        )
        return answer

    async def end_run(
        self, run_id: str, body: models.EndBody | None = None, /, *, operation_id: str | None = None
    ) -> models.RunBody:
        """End a run: its token is dead at once.

        ``POST /api/runs/{run_id}/end``. Adds the problems import-conflict, operation-reused,
        store-unusable, storage-full.
        """
        answer: models.RunBody = await self._send(
            Ask(
                "POST",
                place("api", "runs", run_id, "end"),
                body=body,
                operation_id=named(operation_id),
            )
        )
        return answer

    async def get_audit_verify(self) -> models.AuditsReportBody:
        """Check the whole chain and its checkpoints; for maintainers of the tenant.

        ``GET /api/audit/verify``. Adds the problems store-unusable.
        """
        answer: models.AuditsReportBody = await self._send(
            Ask("GET", place("api", "audit", "verify"))
        )
        return answer

    async def get_graph(
        self,
        project_id: str,
        /,
        *,
        type: list[Literal["applies_to", "learned_from", "verified_at", "derived_from", "cites"]]
        | None = None,
        kind: list[Literal["memory", "file", "run", "commit", "branch"]] | None = None,
        status: list[models.Status] | None = None,
        around: str | None = None,
        depth: int | None = None,
        repo: str | None = None,
    ) -> models.GraphBody:
        """Show where a project's memories come from and what they apply to.

        ``GET /api/projects/{project_id}/memory/graph``. Adds the problems store-unusable.
        """
        answer: models.GraphBody = await self._send(
            Ask(
                "GET",
                place("api", "projects", project_id, "memory", "graph"),
                query={
                    "type": type,
                    "kind": kind,
                    "status": status,
                    "around": around,
                    "depth": depth,
                    "repo": repo,
                },
            )
        )
        return answer

    async def get_memory(self, memory_id: str, /) -> models.MemoryBody | models.TombstoneBody:
        """Return a memory, or the tombstone of one that the caller could read.

        ``GET /api/memories/{memory_id}``. Adds the problems store-unusable.
        """
        answer: models.MemoryBody | models.TombstoneBody = await self._send(
            Ask("GET", place("api", "memories", memory_id))
        )
        return answer

    async def get_memory_diff(
        self, memory_id: str, /, *, from_: int | None = None, to: int | None = None
    ) -> models.DiffBody:
        """Compare two revisions, or without any what it supersedes with the memory.

        ``GET /api/memories/{memory_id}/diff``. Adds the problems store-unusable.
        """
        answer: models.DiffBody = await self._send(
            Ask("GET", place("api", "memories", memory_id, "diff"), query={"from": from_, "to": to})
        )
        return answer

    async def get_memory_revision(
        self, memory_id: str, revision: int, /
    ) -> models.MemoryBody | models.TombstoneBody:
        """Return a memory as it was at a revision.

        ``GET /api/memories/{memory_id}/revisions/{revision}``. Adds the problems
        store-unusable.
        """
        answer: models.MemoryBody | models.TombstoneBody = await self._send(
            Ask("GET", place("api", "memories", memory_id, "revisions", revision))
        )
        return answer

    async def get_memory_revisions(self, memory_id: str, /) -> models.RevisionsBody:
        """List a memory's revisions, oldest first.

        ``GET /api/memories/{memory_id}/revisions``. Adds the problems store-unusable.
        """
        answer: models.RevisionsBody = await self._send(
            Ask("GET", place("api", "memories", memory_id, "revisions"))
        )
        return answer

    async def get_predicates(self) -> models.PredicatesBody:
        """List the predicates that have one value at a time.

        List the predicates that have one value at a time: a new one takes the old one's place.

        ``GET /api/predicates``. Adds the problems store-unusable.
        """
        answer: models.PredicatesBody = await self._send(Ask("GET", place("api", "predicates")))
        return answer

    async def get_project(
        self, project_id: str, /, *, repo: str | None = None
    ) -> models.ProjectBody:
        """Return a project by its id, or by its slug where only one visible project has it.

        Return a project by its id, or by its slug where only one visible project has it.

        ``GET /api/projects/{project_id}``. Adds the problems store-unusable.
        """
        answer: models.ProjectBody = await self._send(
            Ask("GET", place("api", "projects", project_id), query={"repo": repo})
        )
        return answer

    async def get_repository(self, repository_id: str, /) -> models.RepositoryBody:
        """Return a repository; a merged one is the one that it became part of.

        ``GET /api/repositories/{repository_id}``. Adds the problems store-unusable.
        """
        answer: models.RepositoryBody = await self._send(
            Ask("GET", place("api", "repositories", repository_id))
        )
        return answer

    async def get_run(self, run_id: str, /) -> models.RunBody:
        """Return a run of the caller's.

        ``GET /api/runs/{run_id}``. Adds the problems store-unusable.
        """
        answer: models.RunBody = await self._send(Ask("GET", place("api", "runs", run_id)))
        return answer

    async def get_selection(
        self, project_id: str, selection_id: str, /, *, repo: str | None = None
    ) -> models.ManifestBody:
        """Return a manifest with its context as it can be rebuilt now.

        ``GET /api/projects/{project_id}/memory/selections/{selection_id}``. Adds the problems
        store-unusable.
        """
        answer: models.ManifestBody = await self._send(
            Ask(
                "GET",
                place("api", "projects", project_id, "memory", "selections", selection_id),
                query={"repo": repo},
            )
        )
        return answer

    async def get_status(self) -> models.StatusBody:
        """Say which version runs and, to operators and owners, how the tenant is run.

        ``GET /api/status``. Adds the problems store-unusable.
        """
        answer: models.StatusBody = await self._send(Ask("GET", place("api", "status")))
        return answer

    async def get_trust(
        self, *, project_id: str | None = None, repo: str | None = None
    ) -> models.TrustBody:
        """Tell how often accepted memories were later rejected, corrected or confirmed.

        ``GET /api/trust``. Adds the problems store-unusable.
        """
        answer: models.TrustBody = await self._send(
            Ask("GET", place("api", "trust"), query={"project_id": project_id, "repo": repo})
        )
        return answer

    async def give_memory_feedback(
        self, memory_id: str, body: models.FeedbackBody, /, *, operation_id: str | None = None
    ) -> models.StandingBody:
        """Say whether a memory helped; its trust is returned.

        ``POST /api/memories/{memory_id}/feedback``. Adds the problems import-conflict,
        operation-reused, previously-rejected, store-unusable, storage-full.
        """
        answer: models.StandingBody = await self._send(
            Ask(
                "POST",
                place("api", "memories", memory_id, "feedback"),
                body=body,
                operation_id=named(operation_id),
            )
        )
        return answer

    async def give_selection_feedback(
        self,
        project_id: str,
        selection_id: str,
        body: models.OutcomeBody,
        /,
        *,
        repo: str | None = None,
        operation_id: str | None = None,
    ) -> models.StandingBody:
        """Say whether an entry of this selection helped.

        ``POST /api/projects/{project_id}/memory/selections/{selection_id}/feedback``. Adds the
        problems import-conflict, operation-reused, previously-rejected, store-unusable,
        storage-full.
        """
        answer: models.StandingBody = await self._send(
            Ask(
                "POST",
                place(
                    "api", "projects", project_id, "memory", "selections", selection_id, "feedback"
                ),
                query={"repo": repo},
                body=body,
                operation_id=named(operation_id),
            )
        )
        return answer

    async def list_changes(
        self,
        *,
        batch: str | None = None,
        item: str | None = None,
        principal: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> models.ChangesBody:
        """List changes, newest first.

        List changes, newest first: of what the caller sees and, to owners, of the tenant
        itself.

        ``GET /api/audit``. Adds the problems store-unusable.
        """
        answer: models.ChangesBody = await self._send(
            Ask(
                "GET",
                place("api", "audit"),
                query={
                    "batch": batch,
                    "item": item,
                    "principal": principal,
                    "cursor": cursor,
                    "limit": limit,
                },
            )
        )
        return answer

    def iter_changes(
        self, *, batch: str | None = None, item: str | None = None, principal: str | None = None
    ) -> AsyncIterator[models.ChangeBody]:
        """Yield the items of `list_changes`, page by page as they are needed."""
        return self._pages(
            lambda cursor: self.list_changes(
                batch=batch, item=item, principal=principal, limit=PAGE, cursor=cursor
            )
        )

    async def list_grants(
        self, *, principal: str | None = None, cursor: str | None = None, limit: int | None = None
    ) -> models.GrantsBody:
        """List grants, oldest first, of one principal or of all.

        ``GET /api/admin/grants``. Adds the problems store-unusable.
        """
        answer: models.GrantsBody = await self._send(
            Ask(
                "GET",
                place("api", "admin", "grants"),
                query={"principal": principal, "cursor": cursor, "limit": limit},
            )
        )
        return answer

    def iter_grants(self, *, principal: str | None = None) -> AsyncIterator[models.GrantBody]:
        """Yield the items of `list_grants`, page by page as they are needed."""
        return self._pages(
            lambda cursor: self.list_grants(principal=principal, limit=PAGE, cursor=cursor)
        )

    async def list_memories(
        self,
        project_id: str,
        /,
        *,
        status: models.Status | None = None,
        collection: models.Collection | None = None,
        kind: models.Kind | None = None,
        tag: str | None = None,
        path: str | None = None,
        q: str | None = None,
        repo: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> models.PageBody:
        """List a project's memories, newest change first, with counts by field.

        ``GET /api/projects/{project_id}/memories``. Adds the problems store-unusable.
        """
        answer: models.PageBody = await self._send(
            Ask(
                "GET",
                place("api", "projects", project_id, "memories"),
                query={
                    "status": status,
                    "collection": collection,
                    "kind": kind,
                    "tag": tag,
                    "path": path,
                    "q": q,
                    "repo": repo,
                    "cursor": cursor,
                    "limit": limit,
                },
            )
        )
        return answer

    def iter_memories(
        self,
        project_id: str,
        /,
        *,
        status: models.Status | None = None,
        collection: models.Collection | None = None,
        kind: models.Kind | None = None,
        tag: str | None = None,
        path: str | None = None,
        q: str | None = None,
        repo: str | None = None,
    ) -> AsyncIterator[models.MemoryBody | models.TombstoneBody]:
        """Yield the items of `list_memories`, page by page as they are needed."""
        return self._pages(
            lambda cursor: self.list_memories(
                project_id,
                status=status,
                collection=collection,
                kind=kind,
                tag=tag,
                path=path,
                q=q,
                repo=repo,
                limit=PAGE,
                cursor=cursor,
            )
        )

    async def list_principals(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> models.PrincipalsBody:
        """List the principals that may act, oldest first.

        ``GET /api/admin/principals``. Adds the problems store-unusable.
        """
        answer: models.PrincipalsBody = await self._send(
            Ask(
                "GET", place("api", "admin", "principals"), query={"cursor": cursor, "limit": limit}
            )
        )
        return answer

    def iter_principals(self) -> AsyncIterator[models.PrincipalBody]:
        """Yield the items of `list_principals`, page by page as they are needed."""
        return self._pages(lambda cursor: self.list_principals(limit=PAGE, cursor=cursor))

    async def list_projects(
        self, *, repo: str | None = None, cursor: str | None = None, limit: int | None = None
    ) -> models.ProjectsBody:
        """List the projects that the caller sees, oldest first.

        ``GET /api/projects``. Adds the problems store-unusable.
        """
        answer: models.ProjectsBody = await self._send(
            Ask(
                "GET",
                place("api", "projects"),
                query={"repo": repo, "cursor": cursor, "limit": limit},
            )
        )
        return answer

    def iter_projects(self, *, repo: str | None = None) -> AsyncIterator[models.ListedProjectBody]:
        """Yield the items of `list_projects`, page by page as they are needed."""
        return self._pages(lambda cursor: self.list_projects(repo=repo, limit=PAGE, cursor=cursor))

    async def list_repositories(
        self, *, repo: str | None = None, cursor: str | None = None, limit: int | None = None
    ) -> models.RepositoriesBody:
        """List the repositories that the caller sees, oldest first.

        ``GET /api/repositories``. Adds the problems store-unusable.
        """
        answer: models.RepositoriesBody = await self._send(
            Ask(
                "GET",
                place("api", "repositories"),
                query={"repo": repo, "cursor": cursor, "limit": limit},
            )
        )
        return answer

    def iter_repositories(self, *, repo: str | None = None) -> AsyncIterator[models.RepositoryBody]:
        """Yield the items of `list_repositories`, page by page as they are needed."""
        return self._pages(
            lambda cursor: self.list_repositories(repo=repo, limit=PAGE, cursor=cursor)
        )

    async def list_runs(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> models.RunsBody:
        """List the caller's runs, newest first.

        ``GET /api/runs``. Adds the problems store-unusable.
        """
        answer: models.RunsBody = await self._send(
            Ask("GET", place("api", "runs"), query={"cursor": cursor, "limit": limit})
        )
        return answer

    def iter_runs(self) -> AsyncIterator[models.RunBody]:
        """Yield the items of `list_runs`, page by page as they are needed."""
        return self._pages(lambda cursor: self.list_runs(limit=PAGE, cursor=cursor))

    async def list_selections(
        self,
        project_id: str,
        /,
        *,
        run_id: str | None = None,
        repo: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> models.ManifestsBody:
        """List the manifests of a run, newest first.

        ``GET /api/projects/{project_id}/memory/selections``. Adds the problems store-unusable.
        """
        answer: models.ManifestsBody = await self._send(
            Ask(
                "GET",
                place("api", "projects", project_id, "memory", "selections"),
                query={"run_id": run_id, "repo": repo, "cursor": cursor, "limit": limit},
            )
        )
        return answer

    def iter_selections(
        self, project_id: str, /, *, run_id: str | None = None, repo: str | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        """Yield the items of `list_selections`, page by page as they are needed."""
        return self._pages(
            lambda cursor: self.list_selections(
                project_id, run_id=run_id, repo=repo, limit=PAGE, cursor=cursor
            )
        )

    async def list_team_members(
        self, team_id: str, /, *, cursor: str | None = None, limit: int | None = None
    ) -> models.PrincipalsBody:
        """List the members of a team, oldest first.

        ``GET /api/admin/teams/{team_id}/members``. Adds the problems store-unusable.
        """
        answer: models.PrincipalsBody = await self._send(
            Ask(
                "GET",
                place("api", "admin", "teams", team_id, "members"),
                query={"cursor": cursor, "limit": limit},
            )
        )
        return answer

    def iter_team_members(self, team_id: str, /) -> AsyncIterator[models.PrincipalBody]:
        """Yield the items of `list_team_members`, page by page as they are needed."""
        return self._pages(
            lambda cursor: self.list_team_members(team_id, limit=PAGE, cursor=cursor)
        )

    async def list_teams(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> models.TeamsBody:
        """List teams, oldest first.

        ``GET /api/admin/teams``. Adds the problems store-unusable.
        """
        answer: models.TeamsBody = await self._send(
            Ask("GET", place("api", "admin", "teams"), query={"cursor": cursor, "limit": limit})
        )
        return answer

    def iter_teams(self) -> AsyncIterator[models.TeamBody]:
        """Yield the items of `list_teams`, page by page as they are needed."""
        return self._pages(lambda cursor: self.list_teams(limit=PAGE, cursor=cursor))

    async def list_tokens(
        self, *, principal: str | None = None, cursor: str | None = None, limit: int | None = None
    ) -> models.TokensBody:
        """List tokens without their secrets, by id, of one principal or of all.

        ``GET /api/admin/tokens``. Adds the problems store-unusable.
        """
        answer: models.TokensBody = await self._send(
            Ask(
                "GET",
                place("api", "admin", "tokens"),
                query={"principal": principal, "cursor": cursor, "limit": limit},
            )
        )
        return answer

    def iter_tokens(self, *, principal: str | None = None) -> AsyncIterator[models.TokenBody]:
        """Yield the items of `list_tokens`, page by page as they are needed."""
        return self._pages(
            lambda cursor: self.list_tokens(principal=principal, limit=PAGE, cursor=cursor)
        )

    async def list_waiting(
        self,
        *,
        project_id: str | None = None,
        repo: str | None = None,
        collection: models.Collection | None = None,
        reason: str | None = None,
        memory_id: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> models.QueueBody:
        """List proposals, and accepted memories that something speaks against.

        ``GET /api/review``. Adds the problems store-unusable.
        """
        answer: models.QueueBody = await self._send(
            Ask(
                "GET",
                place("api", "review"),
                query={
                    "project_id": project_id,
                    "repo": repo,
                    "collection": collection,
                    "reason": reason,
                    "memory_id": memory_id,
                    "cursor": cursor,
                    "limit": limit,
                },
            )
        )
        return answer

    def iter_waiting(
        self,
        *,
        project_id: str | None = None,
        repo: str | None = None,
        collection: models.Collection | None = None,
        reason: str | None = None,
        memory_id: str | None = None,
    ) -> AsyncIterator[models.WaitingBody]:
        """Yield the items of `list_waiting`, page by page as they are needed."""
        return self._pages(
            lambda cursor: self.list_waiting(
                project_id=project_id,
                repo=repo,
                collection=collection,
                reason=reason,
                memory_id=memory_id,
                limit=PAGE,
                cursor=cursor,
            )
        )

    async def memory_append_tool(
        self, body: models.AppendArguments, /, *, operation_id: str | None = None
    ) -> models.AppendAnswer:
        """Ask for ``memory_append_tool``.

        Note a preference, correction or fact of the environment for later sessions, one at a
        time, in a sentence. It is kept for this user alone; repetitions are recognised. Not for
        secrets or passing task state.

        ``POST /api/tools/memory_append``. Adds the problems import-conflict, operation-reused,
        previously-rejected, store-unusable, storage-full.
        """
        answer: models.AppendAnswer = await self._send(
            Ask(
                "POST",
                place("api", "tools", "memory_append"),
                body=body,
                operation_id=named(operation_id),
            )
        )
        return answer

    async def memory_feedback_tool(
        self, body: models.FeedbackArguments, /, *, operation_id: str | None = None
    ) -> models.StandingBody:
        """Say whether a memory helped.

        Say whether a memory helped; its trust moves, and what does not help returns to review.

        ``POST /api/tools/memory_feedback``. Adds the problems import-conflict,
        operation-reused, previously-rejected, store-unusable, storage-full.
        """
        answer: models.StandingBody = await self._send(
            Ask(
                "POST",
                place("api", "tools", "memory_feedback"),
                body=body,
                operation_id=named(operation_id),
            )
        )
        return answer

    async def memory_get_tool(self, body: models.GetArguments | None = None, /) -> models.LinesBody:
        """Read a memory by its id, or by the path that memory_search gave.

        ``POST /api/tools/memory_get``. Adds the problems store-unusable.
        """
        answer: models.LinesBody = await self._send(
            Ask("POST", place("api", "tools", "memory_get"), body=body)
        )
        return answer

    async def memory_propose_tool(
        self, body: models.ProposeArguments, /, *, operation_id: str | None = None
    ) -> models.MemoryBody:
        """Propose a memory to the whole team.

        Propose a memory to the whole team: a decision, convention or procedure with its
        sources. A person reviews it before anyone is given it.

        ``POST /api/tools/memory_propose``. Adds the problems import-conflict, operation-reused,
        previously-rejected, revision-conflict, provenance-invalid, store-unusable,
        storage-full.
        """
        answer: models.MemoryBody = await self._send(
            Ask(
                "POST",
                place("api", "tools", "memory_propose"),
                body=body,
                operation_id=named(operation_id),
            )
        )
        return answer

    async def memory_search_tool(self, body: models.SearchArguments, /) -> models.SearchAnswer:
        """Search what is remembered of this project by keyword.

        Search what is remembered of this project by keyword. Call it before answering about
        earlier conversations, preferences, names, dates, decisions or conventions.

        ``POST /api/tools/memory_search``. Adds the problems store-unusable.
        """
        answer: models.SearchAnswer = await self._send(
            Ask("POST", place("api", "tools", "memory_search"), body=body)
        )
        return answer

    async def memory_select_tool(
        self, body: models.SelectArguments | None = None, /
    ) -> models.ManifestBody:
        """Ask for ``memory_select_tool``.

        Get the approved memories that apply to a task, its branch and its paths, as a context
        with a record that can be replayed. Call it once, at the start.

        ``POST /api/tools/memory_select``. Adds the problems store-unusable, storage-full.
        """
        answer: models.ManifestBody = await self._send(
            Ask("POST", place("api", "tools", "memory_select"), body=body)
        )
        return answer

    async def memory_tool(
        self,
        body: models.FileArguments,
        /,
        *,
        revision: int | None = None,
        operation_id: str | None = None,
    ) -> models.FileAnswer:
        """Keep notes for later sessions as files below /memories, for this user alone.

        Keep notes for later sessions as files below /memories, for this user alone: view,
        create, str_replace, insert, delete, rename. View /memories first.

        ``POST /api/tools/memory``. Adds the problems illegal-transition, import-conflict,
        legal-hold, operation-reused, previously-rejected, revision-conflict, revision-required,
        store-unusable, storage-full.
        """
        answer: models.FileAnswer = await self._send(
            Ask(
                "POST",
                place("api", "tools", "memory"),
                body=body,
                revision=revision,
                operation_id=named(operation_id),
            )
        )
        return answer

    async def merge_repository(
        self, repository_id: str, body: models.MergeBody, /, *, operation_id: str | None = None
    ) -> models.RepositoryBody:
        """Make a repository part of another, which is returned.

        ``POST /api/repositories/{repository_id}/merge``. Adds the problems import-conflict,
        operation-reused, store-unusable, storage-full.
        """
        answer: models.RepositoryBody = await self._send(
            Ask(
                "POST",
                place("api", "repositories", repository_id, "merge"),
                body=body,
                operation_id=named(operation_id),
            )
        )
        return answer

    async def outdate_memory(
        self,
        memory: Versioned,
        body: models.DecisionBody | None = None,
        /,
        *,
        operation_id: str | None = None,
    ) -> models.MemoryBody | models.TombstoneBody:
        """Decide a memory; the last part of the path is the decision.

        ``POST /api/memories/{memory_id}/outdate``. Adds the problems illegal-transition,
        import-conflict, operation-reused, previously-rejected, revision-conflict,
        revision-required, store-unusable, storage-full.
        """
        answer: models.MemoryBody | models.TombstoneBody = await self._send(
            Ask(
                "POST",
                place("api", "memories", memory["id"], "outdate"),
                body=body,
                revision=memory["revision"],
                operation_id=named(operation_id),
            )
        )
        return answer

    async def publish_memory(
        self,
        memory: Versioned,
        body: models.PublishBody | None = None,
        /,
        *,
        operation_id: str | None = None,
    ) -> models.MemoryBody | models.TombstoneBody:
        """Propose a private or team memory to its project.

        Propose a private or team memory to its project; its first revision keeps the note.

        ``POST /api/memories/{memory_id}/publish``. Adds the problems illegal-transition,
        import-conflict, operation-reused, previously-rejected, revision-conflict,
        publication-refused, revision-required, store-unusable, storage-full.
        """
        answer: models.MemoryBody | models.TombstoneBody = await self._send(
            Ask(
                "POST",
                place("api", "memories", memory["id"], "publish"),
                body=body,
                revision=memory["revision"],
                operation_id=named(operation_id),
            )
        )
        return answer

    async def register_repository(
        self, body: models.CloneBody | None = None, /, *, operation_id: str | None = None
    ) -> models.RepositoryBody:
        """Register a repository.

        Register a repository; the same one again is returned with 200, its aliases merged.

        ``POST /api/repositories``. Adds the problems import-conflict, operation-reused,
        store-unusable, storage-full.
        """
        answer: models.RepositoryBody = await self._send(
            Ask("POST", place("api", "repositories"), body=body, operation_id=named(operation_id))
        )
        return answer

    async def reject_memory(
        self,
        memory: Versioned,
        body: models.DecisionBody | None = None,
        /,
        *,
        operation_id: str | None = None,
    ) -> models.MemoryBody | models.TombstoneBody:
        """Decide a memory; the last part of the path is the decision.

        ``POST /api/memories/{memory_id}/reject``. Adds the problems illegal-transition,
        import-conflict, operation-reused, previously-rejected, revision-conflict,
        revision-required, store-unusable, storage-full.
        """
        answer: models.MemoryBody | models.TombstoneBody = await self._send(
            Ask(
                "POST",
                place("api", "memories", memory["id"], "reject"),
                body=body,
                revision=memory["revision"],
                operation_id=named(operation_id),
            )
        )
        return answer

    async def remove_grant(
        self, grant_id: str, /, *, operation_id: str | None = None
    ) -> models.RemovedBody:
        """Take a role back; every token of its principal is narrowed at once.

        ``DELETE /api/admin/grants/{grant_id}``. Adds the problems import-conflict,
        operation-reused, store-unusable, storage-full.
        """
        answer: models.RemovedBody = await self._send(
            Ask(
                "DELETE",
                place("api", "admin", "grants", grant_id),
                operation_id=named(operation_id),
            )
        )
        return answer

    async def remove_principal(
        self, principal_id: str, /, *, operation_id: str | None = None
    ) -> models.PrincipalBody:
        """Remove a principal: its roles, teams and tokens are gone at once.

        ``DELETE /api/admin/principals/{principal_id}``. Adds the problems import-conflict,
        operation-reused, store-unusable, storage-full.
        """
        answer: models.PrincipalBody = await self._send(
            Ask(
                "DELETE",
                place("api", "admin", "principals", principal_id),
                operation_id=named(operation_id),
            )
        )
        return answer

    async def remove_team(
        self, team_id: str, /, *, operation_id: str | None = None
    ) -> models.RemovedBody:
        """Remove a team that no entry and no run names.

        ``DELETE /api/admin/teams/{team_id}``. Adds the problems import-conflict,
        operation-reused, store-unusable, storage-full.
        """
        answer: models.RemovedBody = await self._send(
            Ask("DELETE", place("api", "admin", "teams", team_id), operation_id=named(operation_id))
        )
        return answer

    async def remove_team_member(
        self, team_id: str, principal: str, /, *, operation_id: str | None = None
    ) -> models.MembershipBody:
        """Take a principal out of a team.

        ``DELETE /api/admin/teams/{team_id}/members/{principal}``. Adds the problems
        import-conflict, operation-reused, store-unusable, storage-full.
        """
        answer: models.MembershipBody = await self._send(
            Ask(
                "DELETE",
                place("api", "admin", "teams", team_id, "members", principal),
                operation_id=named(operation_id),
            )
        )
        return answer

    async def replace_predicates(
        self, body: models.NewPredicatesBody, /, *, operation_id: str | None = None
    ) -> models.PredicatesBody:
        """Replace the list; for maintainers of the tenant.

        ``PUT /api/predicates``. Adds the problems import-conflict, operation-reused,
        store-unusable, storage-full.
        """
        answer: models.PredicatesBody = await self._send(
            Ask("PUT", place("api", "predicates"), body=body, operation_id=named(operation_id))
        )
        return answer

    async def replay_selection(
        self,
        project_id: str,
        selection_id: str,
        body: models.ReplayRequestBody | None = None,
        /,
        *,
        repo: str | None = None,
    ) -> models.ReplayedBody:
        """Rebuild the context from the recorded revisions, however they have changed since.

        Rebuild the context from the recorded revisions, however they have changed since.

        ``POST /api/projects/{project_id}/memory/selections/{selection_id}/replay``. Adds the
        problems store-unusable.
        """
        answer: models.ReplayedBody = await self._send(
            Ask(
                "POST",
                place(
                    "api", "projects", project_id, "memory", "selections", selection_id, "replay"
                ),
                query={"repo": repo},
                body=body,
            )
        )
        return answer

    async def restore_memory(
        self,
        memory: Versioned,
        body: models.DecisionBody | None = None,
        /,
        *,
        operation_id: str | None = None,
    ) -> models.MemoryBody | models.TombstoneBody:
        """Decide a memory; the last part of the path is the decision.

        ``POST /api/memories/{memory_id}/restore``. Adds the problems illegal-transition,
        import-conflict, operation-reused, previously-rejected, revision-conflict,
        revision-required, store-unusable, storage-full.
        """
        answer: models.MemoryBody | models.TombstoneBody = await self._send(
            Ask(
                "POST",
                place("api", "memories", memory["id"], "restore"),
                body=body,
                revision=memory["revision"],
                operation_id=named(operation_id),
            )
        )
        return answer

    async def return_memory(
        self,
        memory: Versioned,
        body: models.DecisionBody | None = None,
        /,
        *,
        operation_id: str | None = None,
    ) -> models.MemoryBody | models.TombstoneBody:
        """Decide a memory; the last part of the path is the decision.

        ``POST /api/memories/{memory_id}/return``. Adds the problems illegal-transition,
        import-conflict, operation-reused, previously-rejected, revision-conflict,
        revision-required, store-unusable, storage-full.
        """
        answer: models.MemoryBody | models.TombstoneBody = await self._send(
            Ask(
                "POST",
                place("api", "memories", memory["id"], "return"),
                body=body,
                revision=memory["revision"],
                operation_id=named(operation_id),
            )
        )
        return answer

    async def revoke_token(
        self, token_id: str, /, *, operation_id: str | None = None
    ) -> models.TokenBody:
        """Revoke a token: it names nobody from now on.

        ``DELETE /api/admin/tokens/{token_id}``. Adds the problems import-conflict,
        operation-reused, store-unusable, storage-full.
        """
        answer: models.TokenBody = await self._send(
            Ask(
                "DELETE",
                place("api", "admin", "tokens", token_id),
                operation_id=named(operation_id),
            )
        )
        return answer

    async def run_batch(
        self, body: models.BatchBody, /, *, operation_id: str | None = None
    ) -> models.ResultsBody:
        """Carry out operations in order.

        Carry out operations in order; with ``atomic`` all or none (409 with the results).

        ``POST /api/memories/batch``. Adds the problems import-conflict, operation-reused,
        storage-full.
        """
        answer: models.ResultsBody = await self._send(
            Ask(
                "POST",
                place("api", "memories", "batch"),
                body=body,
                operation_id=named(operation_id),
            )
        )
        return answer

    async def search_memories(
        self,
        project_id: str,
        /,
        *,
        q: str,
        match: Literal["all", "literal"] | None = None,
        limit: int | None = None,
        kind: models.Kind | None = None,
        collection: models.Collection | None = None,
        path: str | None = None,
        branch: str | None = None,
        repo: str | None = None,
    ) -> models.AnswerBody:
        """Search a project's accepted memories by keyword.

        ``GET /api/projects/{project_id}/memory/search``. Adds the problems store-unusable.
        """
        answer: models.AnswerBody = await self._send(
            Ask(
                "GET",
                place("api", "projects", project_id, "memory", "search"),
                query={
                    "q": q,
                    "match": match,
                    "limit": limit,
                    "kind": kind,
                    "collection": collection,
                    "path": path,
                    "branch": branch,
                    "repo": repo,
                },
            )
        )
        return answer

    async def start_run(
        self, body: models.NewRunBody, /, *, operation_id: str | None = None
    ) -> models.StartedBody:
        """Start a run.

        Start a run; its token reads and writes in one project and can only narrow the caller.

        ``POST /api/runs``. Adds the problems import-conflict, operation-reused, store-unusable,
        storage-full.
        """
        answer: models.StartedBody = await self._send(
            Ask("POST", place("api", "runs"), body=body, operation_id=named(operation_id))
        )
        return answer

    async def supersede_memory(
        self,
        memory: Versioned,
        body: models.DecisionBody | None = None,
        /,
        *,
        operation_id: str | None = None,
    ) -> models.MemoryBody | models.TombstoneBody:
        """Decide a memory; the last part of the path is the decision.

        ``POST /api/memories/{memory_id}/supersede``. Adds the problems illegal-transition,
        import-conflict, operation-reused, previously-rejected, revision-conflict,
        revision-required, store-unusable, storage-full.
        """
        answer: models.MemoryBody | models.TombstoneBody = await self._send(
            Ask(
                "POST",
                place("api", "memories", memory["id"], "supersede"),
                body=body,
                revision=memory["revision"],
                operation_id=named(operation_id),
            )
        )
        return answer

    async def undo(
        self, body: models.UndoBody | None = None, /, *, operation_id: str | None = None
    ) -> models.UndoneBody:
        """Put back what a batch changed, as new revisions.

        Put back what a batch changed, as new revisions; 409 names what was changed since.

        ``POST /api/undo``. Adds the problems illegal-transition, import-conflict,
        operation-reused, undo-conflict, store-unusable, storage-full.
        """
        answer: models.UndoneBody = await self._send(
            Ask("POST", place("api", "undo"), body=body, operation_id=named(operation_id))
        )
        return answer

    async def update_memory(
        self,
        memory: Versioned,
        body: models.ContentBody | None = None,
        /,
        *,
        operation_id: str | None = None,
    ) -> models.MemoryBody | models.TombstoneBody:
        """Change fields of the content; an accepted project entry goes back to review.

        ``PATCH /api/memories/{memory_id}``. Adds the problems illegal-transition,
        import-conflict, operation-reused, previously-rejected, revision-conflict,
        provenance-invalid, revision-required, store-unusable, storage-full.
        """
        answer: models.MemoryBody | models.TombstoneBody = await self._send(
            Ask(
                "PATCH",
                place("api", "memories", memory["id"]),
                body=body,
                revision=memory["revision"],
                operation_id=named(operation_id),
            )
        )
        return answer

    async def update_repository(
        self,
        repository: Versioned,
        body: models.SettingsBody | None = None,
        /,
        *,
        operation_id: str | None = None,
    ) -> models.RepositoryBody:
        """Change how a repository is reviewed and whether hooks may capture in it.

        ``PATCH /api/repositories/{repository_id}``. Adds the problems import-conflict,
        operation-reused, revision-conflict, revision-required, store-unusable, storage-full.
        """
        answer: models.RepositoryBody = await self._send(
            Ask(
                "PATCH",
                place("api", "repositories", repository["id"]),
                body=body,
                revision=repository["revision"],
                operation_id=named(operation_id),
            )
        )
        return answer

    async def verify_memories(
        self,
        project_id: str,
        body: models.VerifyBody | None = None,
        /,
        *,
        repo: str | None = None,
        operation_id: str | None = None,
    ) -> models.VerificationReportBody:
        """Check the files that memories cite against a commit, and keep the results.

        ``POST /api/projects/{project_id}/memory/verify``. Adds the problems import-conflict,
        operation-reused, store-unusable, storage-full.
        """
        answer: models.VerificationReportBody = await self._send(
            Ask(
                "POST",
                place("api", "projects", project_id, "memory", "verify"),
                query={"repo": repo},
                body=body,
                operation_id=named(operation_id),
            )
        )
        return answer
