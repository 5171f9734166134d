"""Export: the way back out of the store, for people, for agents and for another store."""

from dataclasses import dataclass, replace
from enum import StrEnum

from codeflow_memory.domain.access import Access, Reach, Role
from codeflow_memory.domain.findings import is_flagged
from codeflow_memory.domain.memory import (
    Collection,
    Content,
    Kind,
    Memory,
    Sensitivity,
    Status,
    canonical_json,
)
from codeflow_memory.domain.project import Project
from codeflow_memory.services import access as accesses
from codeflow_memory.services.exported_tables import lines as exported_lines
from codeflow_memory.services.exported_tables import visible
from codeflow_memory.services.store import Store
from codeflow_memory.storage import (
    memories,
    projects,
)
from codeflow_memory.storage.engine import Transaction

BLOCK_BEGINS = "<!-- codeflow-memory: begin; written by `codeflow-memory export`, do not edit -->"
BLOCK_ENDS = "<!-- codeflow-memory: end -->"

_CHUNK = 250
"""Entries read at once."""

_HEADINGS = {
    Kind.POLICY: "Policies",
    Kind.WORLD_MODEL: "World models",
    Kind.SKILL: "Skills",
    Kind.GUIDANCE: "Guidance",
    Kind.DECISION: "Decisions",
    Kind.CONVENTION: "Conventions",
    Kind.PROCEDURE: "Procedures",
    Kind.FACT: "Facts",
    Kind.PREFERENCE: "Preferences",
    Kind.CORRECTION: "Corrections",
    Kind.ENVIRONMENT: "Environment",
    Kind.PROFILE: "Profile",
    Kind.TEMPORAL: "For now",
}
"""A section for each kind but traces; sections come in the order of `Kind`."""


class Format(StrEnum):
    """What an export is for: an agent's guidance file, a reader, or another store."""

    AGENTS_MD = "agents-md"
    MARKDOWN = "markdown"
    JSONL = "jsonl"


def export(
    store: Store,
    access: Access,
    form: Format,
    *,
    project: str | None = None,
    repo: str | None = None,
) -> str:
    """Return all that the caller sees of a project, or of every project, as one text.

    ``jsonl`` has every entry with its history, tombstones too, so that another store can hold the
    same; the other two have the accepted entries of the project collection which a context would
    serve. Equal states give equal texts.

    Args:
        store: The tenant.
        access: The caller.
        form: The format.
        project: Id or slug; ``None`` takes every project, of what *repo* names if it is given.
        repo: A repository's id, key, remote or registered absolute path.

    Raises:
        NotFoundError: No such project for the caller.
    """
    with store.engine.read() as tx:
        chosen = _projects(tx, access, project, repo)
        if form is Format.JSONL:
            lines = exported_lines(tx, store.tenant, access, chosen)
            return "".join(canonical_json(line) + "\n" for line in lines)
        served = {p: _served(tx, accesses.reach(tx, access, p), store.now()) for p in chosen}
    served = {p: found for p, found in served.items() if found}
    if form is Format.AGENTS_MD:
        return _agents_md(served)
    return _markdown(served)


def _projects(
    tx: Transaction, access: Access, project: str | None, repo: str | None
) -> list[Project]:
    if project is not None:
        return [accesses.get_project(tx, access, project, repo)]
    within = None if repo is None else projects.repositories_named(tx, repo)
    found: list[Project] = []
    after: str | None = None
    while page := projects.list_of_repositories(tx, within, after=after, limit=_CHUNK):
        found += page
        after = page[-1].project_id
    return [
        p
        for p in found
        if access.may(Role.READER, p.repository_id)
        and (access.run is None or access.run.project_id == p.project_id)
    ]


@dataclass(frozen=True, slots=True)
class _Item:
    """An accepted entry with its text."""

    memory: Memory
    content: Content


def _served(tx: Transaction, reach: Reach, now: int) -> list[_Item]:
    """List the project's entries that a context would serve, by kind, title and id."""
    wanted = replace(
        reach, scopes={i: s for i, s in reach.scopes.items() if s.audience == "project"}
    )
    found = []
    pairs = visible(tx, wanted)
    for start in range(0, len(pairs), _CHUNK):
        part = pairs[start : start + _CHUNK]
        for stored in memories.find_all(tx, {p[0] for p in part}, {p[1] for p in part}):
            memory, content = stored.memory, stored.memory.content
            if content is not None and _is_served(memory, content, now):
                found.append(_Item(memory, content))
    kinds = list(Kind)
    return sorted(
        found,
        key=lambda i: (
            kinds.index(i.content.kind),
            i.content.title.casefold(),
            i.memory.memory_id,
        ),
    )


def _is_served(memory: Memory, content: Content, now: int) -> bool:
    return (
        memory.status is Status.ACCEPTED
        and memory.collection is Collection.PROJECT
        and content.kind in _HEADINGS
        and content.sensitivity is Sensitivity.NORMAL
        and not is_flagged(memory.review_reason)
        and (content.valid_to is None or content.valid_to > now)
    )


def _agents_md(served: dict[Project, list[_Item]]) -> str:
    """Write one marked block: what stands around it in a file is somebody else's."""
    lines = [BLOCK_BEGINS, ""]
    for project, items in served.items():
        if len(served) > 1:
            lines += [f"# {_escaped(project.name)}", ""]
        for kind in Kind:
            section = [i.content for i in items if i.content.kind is kind]
            if section:
                lines += [f"## {_HEADINGS[kind]}", ""]
            for content in section:
                lines += [f"### {_escaped(content.title)}", "", _escaped(content.body), ""]
    return "\n".join([*lines, BLOCK_ENDS, ""])


def _markdown(served: dict[Project, list[_Item]]) -> str:
    lines: list[str] = []
    for project, items in served.items():
        lines += [f"# {_escaped(project.name)}", ""]
        for item in items:
            memory, content = item.memory, item.content
            facts = [f"{content.kind}", f"`{memory.memory_id}` revision {memory.revision}"]
            facts += [f"tags: {', '.join(content.tags)}"] * bool(content.tags)
            facts += [f"paths: {', '.join(f'`{p}`' for p in content.paths)}"] * bool(content.paths)
            lines += [f"## {_escaped(content.title)}", "", _escaped(content.body), ""]
            lines += [f"*{_escaped(' · '.join(facts))}*", ""]
    return "\n".join(lines)


def _escaped(text: str) -> str:
    """Leave no comment in a text: it would hide from readers, or end the marked block."""
    return text.strip().replace("<!--", "&lt;!--")
