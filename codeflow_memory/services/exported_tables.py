"""The lines of a JSONL export: principals, teams, repositories, projects, runs and memories."""

from collections.abc import Iterable

from codeflow_memory.adapters.exported_shapes import FORMAT
from codeflow_memory.domain.access import Access, Reach, Role
from codeflow_memory.domain.project import Project
from codeflow_memory.domain.times import to_rfc3339
from codeflow_memory.services import access as accesses
from codeflow_memory.services.exported_records import Record, fingerprint, of_memories
from codeflow_memory.storage import imports, memories, principals, repositories, runs, teams
from codeflow_memory.storage.engine import Transaction

_CHUNK = 250
"""Entries read at once."""

_MEMBERS = 10_000
"""More members than a team has that one export names."""


def lines(tx: Transaction, tenant: str, access: Access, chosen: Iterable[Project]) -> list[Record]:
    """Return the lines of an export: what the memories of *chosen* name, then these themselves."""
    whole = whole_for(access)
    of_project: dict[Project, list[Record]] = {}
    for project in chosen:
        reach = accesses.reach(tx, access, project)
        of_project[project] = list(of_memories(tx, visible(tx, reach), whole=whole, reach=reach))
    found = [record for records in of_project.values() for record in records]
    head: list[Record] = [{"record": "export", "format": FORMAT, "tenant": tenant}]
    run_lines = _runs(tx, found) if whole else []
    repository_lines = _repositories(tx, of_project)
    team_lines = _teams(tx, [*found, *run_lines])
    if whole:
        named = [*found, *run_lines]
        people = {str(r.get("owner") or r.get("principal_id")) for r in named}
        head += _people(tx, people | {str(r["created_by"]) for r in repository_lines}, team_lines)
    else:
        team_lines = [line | {"members": []} for line in team_lines]
    project_lines = [_project(p, fingerprint(records)) for p, records in of_project.items()]
    return [*head, *team_lines, *repository_lines, *project_lines, *run_lines, *found]


def _people(tx: Transaction, ids: set[str], team_lines: list[Record]) -> list[Record]:
    """Return the lines of principals, sponsors first; keep of teams only members among them."""
    people: dict[str, Record] = {}
    waiting = sorted(ids, reverse=True)
    while waiting:
        known = principals.find(tx, waiting[-1])
        if known is None or known.principal_id in people:
            waiting.pop()
        elif known.sponsor_id is not None and known.sponsor_id not in people:
            waiting.append(known.sponsor_id)
        else:
            waiting.pop()
            people[known.principal_id] = {
                "record": "principal",
                "id": known.principal_id,
                "name": known.name,
                "kind": known.kind,
                "sponsor_id": known.sponsor_id,
                "created_at": to_rfc3339(known.created_at),
                "removed_at": None if known.removed_at is None else to_rfc3339(known.removed_at),
            }
    for line in team_lines:
        members = line["members"]
        line["members"] = [m for m in members if m in people] if isinstance(members, list) else []
    return list(people.values())


def _teams(tx: Transaction, records: Iterable[Record]) -> list[Record]:
    ids = sorted({str(r["team_id"]) for r in records if r["team_id"] is not None})
    return [
        {
            "record": "team",
            "id": team.team_id,
            "slug": team.slug,
            "name": team.name,
            "members": teams.members(tx, team.team_id, after=None, limit=_MEMBERS),
            "created_at": to_rfc3339(team.created_at),
        }
        for team_id in ids
        if (team := teams.find(tx, team_id)) is not None
    ]


def _repositories(tx: Transaction, chosen: Iterable[Project]) -> list[Record]:
    ids = sorted({p.repository_id for p in chosen})
    rows: list[Record] = []
    for repository_id in ids:
        found = repositories.find(tx, repository_id)
        if found is None:
            continue
        rows.append(
            {
                "record": "repository",
                # Of a merged one its own id, which its projects carry, with the whole's settings.
                "id": repository_id,
                "name": found.name,
                "identified_by": str(found.identified_by),
                "revision": found.revision,
                "required_approvals": found.required_approvals,
                "codeowners": found.codeowners,
                "allow_own_approval": found.allow_own_approval,
                "capture": found.capture,
                "created_by": found.created_by,
                "created_at": to_rfc3339(found.created_at),
                "aliases": [
                    {"kind": str(alias.kind), "value": alias.value}
                    for alias in repositories.aliases(tx, found.repository_id)
                ],
            }
        )
    return rows


def _project(project: Project, of_memories_: str) -> Record:
    return {
        "record": "project",
        "id": project.project_id,
        "repository_id": project.repository_id,
        "slug": project.slug,
        "name": project.name,
        "path_prefix": project.path_prefix,
        "created_at": to_rfc3339(project.created_at),
        "fingerprint": of_memories_,
    }


def _runs(tx: Transaction, records: Iterable[Record]) -> list[Record]:
    wanted = sorted(
        {(str(r["repository_id"]), str(r["run_id"])) for r in records if r["run_id"] is not None}
    )
    return [
        {
            "record": "run",
            "id": run.run_id,
            "repository_id": run.repository_id,
            "project_id": run.project_id,
            "principal_id": run.principal_id,
            "branch": run.branch,
            "agent": run.agent,
            "team_id": run.team_id,
            "started_at": to_rfc3339(run.started_at),
            "ended_at": None if run.ended_at is None else to_rfc3339(run.ended_at),
        }
        for repository_id, run_id in wanted
        if (run := runs.find(tx, repository_id, run_id)) is not None
    ]


def visible(tx: Transaction, reach: Reach) -> list[tuple[int, str]]:
    """List ``(scope_id, memory_id)`` of every entry within *reach*, by scope and id."""
    pairs = imports.memory_ids(tx, reach.scopes)
    found = []
    for start in range(0, len(pairs), _CHUNK):
        part = pairs[start : start + _CHUNK]
        found += [
            (s.memory.scope_id, s.memory.memory_id)
            for s in memories.find_all(tx, {p[0] for p in part}, {p[1] for p in part})
            if reach.sees(s.memory, before=s.before)
        ]
    return sorted(found)


def whole_for(access: Access) -> bool:
    """Tell whether an export may say who everybody is: to the tenant's owner."""
    return access.may(Role.OWNER, None)
