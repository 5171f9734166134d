"""Runs: executions of a coding agent, each with a short-lived token that can only narrow."""

from dataclasses import dataclass

from codeflow_memory.adapters.secrets import format_token, new_token
from codeflow_memory.domain.access import RANK, Access, Grant, Origin, Role
from codeflow_memory.domain.errors import ForbiddenError, InvalidRequestError, NotFoundError
from codeflow_memory.domain.labels import label
from codeflow_memory.domain.project import Project
from codeflow_memory.domain.run import Run
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.pages import Page, cut
from codeflow_memory.services.projects import resolve
from codeflow_memory.services.store import Store
from codeflow_memory.services.tokens import expiry
from codeflow_memory.storage import runs, tokens
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.receipts import Receipt
from codeflow_memory.storage.tokens import Token

DEFAULT_TTL_SECONDS = 3600
MAX_TTL_SECONDS = 24 * 3600

_MAX_BRANCH = 255
_ROLES = (Role.READER, Role.CONTRIBUTOR, Role.REVIEWER)
"""What a run may have at most: it proposes and reads, and nothing that needs more is a run's."""


@dataclass(frozen=True, slots=True)
class NewRun:
    """What a run is to be bound to.

    Args:
        agent: Which coding agent runs.
        repo: Narrows *project*, see 01 §13.
        project: Id or slug; ``None`` where the caller sees exactly one.
        branch: ``None`` when it is not known.
        team_id: A team that the caller belongs to, for team entries.
        ttl_seconds: Until the token expires.
    """

    agent: str
    repo: str | None = None
    project: str | None = None
    branch: str | None = None
    team_id: str | None = None
    ttl_seconds: int = DEFAULT_TTL_SECONDS


@dataclass(frozen=True, slots=True)
class Started:
    """A run with its token; ``text`` is ``None`` in the answer to a repetition of the request."""

    run: Run
    expires_at: int
    text: str | None


def start(store: Store, access: Access, new: NewRun, operation: Operation) -> Started:
    """Start a run of the caller's, with a token that lives no longer than the caller's own.

    Raises:
        NotFoundError: No such project for the caller.
        ForbiddenError: The caller is a run itself.
        InvalidRequestError: A field has not its form, or the team is none of the caller's.
    """
    agent, branch = _checked(new)
    parts = new_token(store.tenant)

    def work(mutation: Mutation) -> Receipt:
        caller = mutation.access
        project = resolve(mutation.tx, caller, new.project, new.repo)
        if caller.run is not None:
            raise ForbiddenError("a run starts no other run")
        if new.team_id is not None and new.team_id not in caller.teams:
            raise InvalidRequestError.at("/team_id", "no team of yours")
        run = Run(
            repository_id=project.repository_id,
            run_id=store.ids.new("run"),
            project_id=project.project_id,
            principal_id=caller.principal_id,
            branch=branch,
            agent=agent,
            team_id=new.team_id,
            live_entries=0,
            started_at=mutation.at,
            ended_at=None,
        )
        runs.insert(mutation.tx, run)
        token = Token(
            token_id=parts.token_id,
            secret_hash=store.keys.token_hash(parts.secret),
            principal_id=caller.principal_id,
            background=caller.origin is Origin.BACKGROUND,
            run_repository_id=run.repository_id,
            run_id=run.run_id,
            created_by=caller.principal_id,
            created_at=mutation.at,
            expires_at=expiry(mutation, new.ttl_seconds),
            revoked_at=None,
            last_used_at=None,
        )
        tokens.insert(mutation.tx, token, [_role(caller, project)])
        mutation.record("run.start", run.run_id, repository_id=run.repository_id)
        return Receipt("run.start", run.run_id, 1, {"token_id": token.token_id} | _place(run))

    def render(tx: Transaction, _: Access, receipt: Receipt) -> Started:
        token = tokens.find(tx, str(receipt.facts["token_id"]))
        fresh = receipt.facts["token_id"] == parts.token_id
        return Started(
            run=_run(tx, receipt),
            expires_at=0 if token is None else token.expires_at or 0,
            text=format_token(parts) if fresh else None,
        )

    return mutate(store, access, operation, work, render)


def _checked(new: NewRun) -> tuple[str, str | None]:
    """Return agent and branch as they are kept.

    Raises:
        InvalidRequestError: A field has not its form.
    """
    agent = label("/agent", new.agent)
    branch = None if new.branch is None else label("/branch", new.branch, maximum=_MAX_BRANCH)
    if not 1 <= new.ttl_seconds <= MAX_TTL_SECONDS:
        raise InvalidRequestError.at("/ttl_seconds", f"must be from 1 to {MAX_TTL_SECONDS}")
    return agent, branch


def end(store: Store, access: Access, run_id: str, operation: Operation) -> Run:
    """End a run of the caller's: its token is dead at once. Ending it again is no change.

    Raises:
        NotFoundError: The run is another's, or there is none.
        ForbiddenError: The caller is another run of the same principal.
    """

    def work(mutation: Mutation) -> Receipt:
        run = _own(mutation.tx, mutation.access, run_id)
        if runs.end(mutation.tx, run.repository_id, run_id, mutation.at):
            tokens.revoke_of_run(mutation.tx, run.repository_id, run_id, mutation.at)
            mutation.record("run.end", run_id, repository_id=run.repository_id)
        return Receipt("run.end", run_id, 1, _place(run))

    def render(tx: Transaction, _: Access, receipt: Receipt) -> Run:
        return _run(tx, receipt)

    return mutate(store, access, operation, work, render, needs_room=False)


def show(store: Store, access: Access, run_id: str) -> Run:
    """Return a run of the caller's.

    Raises:
        NotFoundError: The run is another's, or there is none.
        ForbiddenError: The caller is another run of the same principal.
    """
    with store.engine.read() as tx:
        return _own(tx, access, run_id)


def page(store: Store, access: Access, *, after: str | None, limit: int) -> Page[Run]:
    """List the caller's own runs, newest first; a run's token lists that one."""
    if access.run is not None:
        return Page((show(store, access, access.run.run_id),) if after is None else (), None)
    with store.engine.read() as tx:
        rows = runs.list_of_principal(tx, access.principal_id, after=after, limit=limit + 1)
    return cut(rows, limit, lambda r: r.run_id)


def _own(tx: Transaction, access: Access, run_id: str) -> Run:
    run = runs.find_by_id(tx, run_id)
    if run is None or run.principal_id != access.principal_id:
        raise NotFoundError("run", run_id)
    if access.run is not None and access.run.run_id != run_id:
        raise ForbiddenError("the run's token is bound to another run")
    return run


def _role(access: Access, project: Project) -> Grant:
    """Return the caller's role on the project's repository, cut to what a run may have."""
    rank = access.rank(project.repository_id)
    role = max((r for r in _ROLES if RANK[r] <= rank), key=lambda r: RANK[r])
    return Grant(role, project.repository_id)


def _place(run: Run) -> dict[str, object]:
    return {"repository_id": run.repository_id}


def _run(tx: Transaction, receipt: Receipt) -> Run:
    run = runs.find(tx, str(receipt.facts["repository_id"]), receipt.target_id)
    if run is None:
        raise NotFoundError("run", receipt.target_id)
    return run
