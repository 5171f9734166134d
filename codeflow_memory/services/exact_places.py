"""What an exact import makes before its memories: principals, teams, repositories, projects, runs.

What has the same id already stays as it is.
"""

from codeflow_memory.adapters.exported_lines import Export
from codeflow_memory.adapters.exported_shapes import (
    MemoryLine,
    PrincipalLine,
    ProjectLine,
    RepositoryLine,
    RunLine,
    TeamLine,
)
from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.domain.principal import Principal
from codeflow_memory.domain.project import Project
from codeflow_memory.domain.registration import Alias, Fact
from codeflow_memory.domain.run import Run
from codeflow_memory.domain.team import Team
from codeflow_memory.services.mutation import Mutation
from codeflow_memory.storage import principals, projects, repositories, runs, teams
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.repositories import Repository

_NAME_LENGTH = 200


def make(mutation: Mutation, file: Export) -> None:
    """Make all that the memories of a file name and the tenant lacks.

    Raises:
        InvalidRequestError: A line names what neither the file nor the tenant has, or contradicts
            what the tenant has.
    """
    tx = mutation.tx
    for number, person in file.principals:
        _principal(tx, number, person)
    for number, team in file.teams:
        _team(tx, number, team)
    for _, repository in file.repositories:
        _repository(mutation, repository)
    for number, project in file.projects:
        _project(tx, number, project)
    for number, run in file.runs:
        _run(mutation, number, run)
    for number, memory in file.memories:
        _check_named(tx, number, memory)


def _principal(tx: Transaction, number: int, line: PrincipalLine) -> None:
    known = principals.find(tx, line.id)
    if known is not None:
        if known.kind != line.kind:
            raise InvalidRequestError.at(f"/{number}/kind", f"the principal is a {known.kind} here")
        return
    if line.sponsor_id is not None and principals.find(tx, line.sponsor_id) is None:
        raise InvalidRequestError.at(f"/{number}/sponsor_id", "names no principal")
    name = line.name
    if principals.find_by_name(tx, name) is not None:
        # Another person of that name; the id, which no two have, keeps the two apart.
        name = f"{line.name[: _NAME_LENGTH - len(line.id) - 3]} ({line.id})"
    if len(name) > _NAME_LENGTH or principals.find_by_name(tx, name) is not None:
        raise InvalidRequestError.at(f"/{number}/name", "is taken")
    principals.insert(
        tx, Principal(line.id, name, line.kind, line.sponsor_id, line.created_at, line.removed_at)
    )


def _team(tx: Transaction, number: int, line: TeamLine) -> None:
    if teams.find(tx, line.id) is not None:
        return
    slug = line.slug
    if teams.find_by_slug(tx, slug) is not None:
        slug = f"{line.slug[: _NAME_LENGTH - len(line.id) - 1]}-{line.id}"
    if len(slug) > _NAME_LENGTH or teams.find_by_slug(tx, slug) is not None:
        raise InvalidRequestError.at(f"/{number}/slug", "is taken")
    teams.insert(tx, Team(line.id, slug, line.name, line.created_at))
    for index, member in enumerate(line.members):
        if principals.find(tx, member) is None:
            raise InvalidRequestError.at(f"/{number}/members/{index}", "names no principal")
        teams.add_member(tx, line.id, member, line.created_at)


def _repository(mutation: Mutation, line: RepositoryLine) -> None:
    tx = mutation.tx
    if repositories.find(tx, line.id) is not None:
        return
    maker = principals.find(tx, line.created_by)
    repositories.insert(
        tx,
        Repository(
            repository_id=line.id,
            name=line.name,
            identified_by=Fact(line.identified_by),
            revision=line.revision,
            required_approvals=line.required_approvals,
            codeowners=line.codeowners,
            allow_own_approval=line.allow_own_approval,
            capture=line.capture,
            merged_into=None,
            created_by=mutation.access.principal_id if maker is None else line.created_by,
            created_at=line.created_at,
        ),
    )
    aliases = [Alias(Fact(a.kind), a.value) for a in line.aliases]
    # A fact that fits several repositories decides nothing: what another has here stays its own.
    taken = {alias for _, alias in repositories.matching(tx, aliases)}
    free = [alias for alias in aliases if alias not in taken]
    repositories.add_aliases(tx, line.id, free, mutation.at)


def _project(tx: Transaction, number: int, line: ProjectLine) -> None:
    if repositories.find(tx, line.repository_id) is None:
        raise InvalidRequestError.at(f"/{number}/repository_id", "names no repository")
    if projects.find(tx, line.repository_id, line.id) is not None:
        return
    if any(p.project_id == line.id for p in projects.named(tx, line.id, None)):
        raise InvalidRequestError.at(f"/{number}/id", "belongs to a project of another repository")
    if any(p.repository_id == line.repository_id for p in projects.named(tx, line.slug, None)):
        raise InvalidRequestError.at(f"/{number}/slug", "is taken in this repository")
    projects.insert(
        tx,
        Project(
            line.repository_id, line.id, line.slug, line.name, line.path_prefix, line.created_at
        ),
    )


def _run(mutation: Mutation, number: int, line: RunLine) -> None:
    tx = mutation.tx
    if runs.find(tx, line.repository_id, line.id) is not None:
        return
    if projects.find(tx, line.repository_id, line.project_id) is None:
        raise InvalidRequestError.at(f"/{number}/project_id", "names no project")
    if principals.find(tx, line.principal_id) is None:
        raise InvalidRequestError.at(f"/{number}/principal_id", "names no principal")
    if line.team_id is not None and teams.find(tx, line.team_id) is None:
        raise InvalidRequestError.at(f"/{number}/team_id", "names no team")
    runs.insert(
        tx,
        Run(
            repository_id=line.repository_id,
            run_id=line.id,
            project_id=line.project_id,
            principal_id=line.principal_id,
            branch=line.branch,
            agent=line.agent,
            team_id=line.team_id,
            live_entries=0,
            started_at=line.started_at,
            # A run's token stays where it was made, so that the run is over here.
            ended_at=mutation.at if line.ended_at is None else line.ended_at,
        ),
    )


def _check_named(tx: Transaction, number: int, line: MemoryLine) -> None:
    if principals.find(tx, line.owner) is None:
        raise InvalidRequestError.at(f"/{number}/owner", "names no principal")
    if line.team_id is not None and teams.find(tx, line.team_id) is None:
        raise InvalidRequestError.at(f"/{number}/team_id", "names no team")
