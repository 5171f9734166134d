"""Where a document's names lead: repositories, projects, teams and scopes, made or found."""

from dataclasses import replace

from codeflow_memory.adapters.legacy_records import Document
from codeflow_memory.domain.access import Scope
from codeflow_memory.domain.labels import absolute_path
from codeflow_memory.domain.memory import Collection
from codeflow_memory.domain.project import Project
from codeflow_memory.domain.registration import Alias, Fact
from codeflow_memory.domain.team import Team
from codeflow_memory.services.legacy_mapping import Places, spelled
from codeflow_memory.services.mutation import Mutation
from codeflow_memory.storage import projects, repositories, scopes, teams
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.repositories import Repository

_NAME_LENGTH = 200


def make(mutation: Mutation, document: Document) -> Places:
    """Make, or find, all that the entries of a document name."""
    entries = document.entries
    by_path = {
        path: _repository(mutation, path)
        for path in dict.fromkeys(spelled(e.repo) for e in entries)
    }
    of_repo = {e.repo: by_path[spelled(e.repo)][0] for e in entries}
    made = {repository_id for repository_id, new in by_path.values() if new}
    team_of = {
        team_id: _team(mutation, team_id)
        for team_id in dict.fromkeys(
            e.team_id or "" for e in entries if e.collection is Collection.TEAM
        )
    }
    project_of = {
        (where, slug): _project(mutation, where, slug, known=where not in made)
        for where, slug in dict.fromkeys((of_repo[e.repo], e.project_id) for e in entries)
    }
    places = Places(mutation.access.principal_id, of_repo, project_of, team_of, {})
    return replace(places, scopes=_scopes(mutation.tx, document, places))


def _scopes(tx: Transaction, document: Document, places: Places) -> dict[tuple[str, str], Scope]:
    found: dict[tuple[str, str], Scope] = {}
    for entry in document.entries:
        repository_id = places.repositories[entry.repo]
        project_id = places.projects[repository_id, entry.project_id]
        key = project_id, places.audience_of(entry)
        if key not in found:
            found[key] = scopes.ensure(tx, repository_id, *key)
    return found


def _repository(mutation: Mutation, path: str) -> tuple[str, bool]:
    """Return the repository that is known by *path*, and whether it was made."""
    tx = mutation.tx
    known = {r.repository_id for r, _ in repositories.matching(tx, [Alias(Fact.PATH, path)])}
    if len(known) == 1:
        return known.pop(), False
    made = Repository(
        repository_id=mutation.store.ids.new("rep"),
        name=(path.rstrip("/").rpartition("/")[2] or path)[:_NAME_LENGTH],
        identified_by=Fact.PATH,
        revision=1,
        required_approvals=1,
        codeowners=False,
        allow_own_approval=False,
        capture=False,
        merged_into=None,
        created_by=mutation.access.principal_id,
        created_at=mutation.at,
    )
    repositories.insert(tx, made)
    repositories.add_aliases(tx, made.repository_id, _known_by(path), mutation.at)
    return made.repository_id, True


def _known_by(path: str) -> list[Alias]:
    """Return what a ``repo`` is found by: a text that is no path is looked for as a key."""
    alias = Alias(Fact.PATH, path)
    return [alias] if absolute_path(path) is not None else [alias, Alias(Fact.KEY, path)]


def _project(mutation: Mutation, repository_id: str, slug: str, *, known: bool) -> str:
    """Return the project of a ``projectId``; a repository that was just made has none yet."""
    tx = mutation.tx
    for project in projects.list_of_repository(tx, repository_id) if known else ():
        if project.slug == slug and project.repository_id == repository_id:
            return project.project_id
    made = Project(repository_id, mutation.store.ids.new("prj"), slug, slug, None, mutation.at)
    projects.insert(tx, made)
    return made.project_id


def _team(mutation: Mutation, team_id: str) -> str:
    """Return the team of a ``teamId``; a new one has the owner, whose its entries are."""
    known = teams.named(mutation.tx, team_id)
    if known is not None:
        return known.team_id
    teams.insert(mutation.tx, Team(team_id, team_id, team_id, mutation.at))
    teams.add_member(mutation.tx, team_id, mutation.access.principal_id, mutation.at)
    return team_id
