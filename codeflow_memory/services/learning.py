"""Learning: a repository's guidance becomes proposals, and again only what changed (06 §1).

A piece of guidance is known by its place, its file and headings. What stands for a place decides
what a later reading does:

==========================  ==================  ======================================
stands for the place        same text           other text
==========================  ==================  ======================================
nothing                     proposed            proposed
proposed                    unchanged           revised
accepted                    unchanged           proposed as successor
outdated                    proposed again      proposed as successor
rejected, deleted           unchanged           proposed
superseded, archived        unchanged           proposed, as successor where there is one
==========================  ==================  ======================================

A place that vanished makes its proposal outdated; what was accepted stays, and enters the review
queue with the reason ``vanished``. Proposals are those of whoever runs it, origin `repository`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from re import sub

from codeflow_memory.adapters import git, guidance
from codeflow_memory.adapters.guidance import Piece, Skipped
from codeflow_memory.domain.access import Access, Origin, Role
from codeflow_memory.domain.candidates import Candidate
from codeflow_memory.domain.drafts import parse_draft
from codeflow_memory.domain.errors import CodeflowError, InvalidRequestError, NotFoundError
from codeflow_memory.domain.identity import normalise_remote
from codeflow_memory.domain.memory import Collection
from codeflow_memory.domain.project import Project
from codeflow_memory.domain.text import escape_hidden
from codeflow_memory.services import access as accesses
from codeflow_memory.services import anchors, governance, projects, registration
from codeflow_memory.services.governance import Prepared
from codeflow_memory.services.lessons import Lesson, Lessons, Outcome
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.projects import NewProject
from codeflow_memory.services.registration import Clone
from codeflow_memory.services.store import Store
from codeflow_memory.storage import projects as rows
from codeflow_memory.storage import repositories
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.receipts import Receipt

_SLUG_LENGTH = 100
_UNREAD = ("too long", "not UTF-8", "more than")
"""Reasons for which a file gave no piece although its text still stands there."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What one reading of a repository's guidance did.

    Args:
        repository_id: The repository.
        project: The project that the proposals are for.
        commit: What was read, a full hash.
        outcomes: One a piece, in the order of the files, then what vanished.
        skipped: Files that gave no piece, and why.
    """

    repository_id: str
    project: Project
    commit: str
    outcomes: tuple[Outcome, ...]
    skipped: tuple[Skipped, ...]


class _Undone(Exception):  # noqa: N818 - no error: it carries the result out of the transaction
    """Leaves the transaction of a dry run, so that nothing of it is kept."""

    def __init__(self, learned: Learned) -> None:
        super().__init__()
        self.learned = learned


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a repository holds, read before the transaction."""

    clone: Clone
    commit: str
    lessons: tuple[Lesson, ...]
    refused: tuple[Outcome, ...]
    skipped: tuple[Skipped, ...]


def learn(
    store: Store, access: Access, path: Path, project: str | None, *, dry_run: bool
) -> Learned:
    """Read the guidance committed at *path*'s head and propose what is new of it.

    Args:
        store: The tenant.
        access: Who proposes.
        path: Absolute; a folder of a repository.
        project: Id or slug, made when it is new; ``None`` is the repository's only project, else
            the one named like it.
        dry_run: Answer the same, and keep nothing.

    Raises:
        NotFoundError: There is no repository, or no such project.
        InvalidRequestError: The repository has no commit, or cannot be read.
        ForbiddenError: The caller may not register repositories, or write in this one.
        LimitExceededError: The project would have too many entries.
    """
    reading = _read(store, path)

    def work(mutation: Mutation) -> Receipt:
        learned = _learn(mutation, reading, project)
        if dry_run:
            raise _Undone(learned)
        done.append(learned)
        return Receipt("learn", learned.project.project_id, 1, {})

    def render(_tx: Transaction, _access: Access, _receipt: Receipt) -> Learned:
        return done[-1]

    done: list[Learned] = []
    caller = replace(access, origin=Origin.REPOSITORY)
    try:
        return mutate(store, caller, Operation(None, ("learn",)), work, render)
    except _Undone as undone:
        return undone.learned


def clone_of(repository: git.Repository) -> Clone:
    """Return what a clone on this machine says of itself."""
    facts = repository.facts()
    return Clone(
        remote=facts.remote,
        root_commit=facts.root_commits[0] if facts.root_commits else None,
        common_dir=str(facts.common_dir),
        paths=(str(facts.toplevel),),
        name=_name(facts),
    )


def _name(facts: git.Facts) -> str:
    """Name a repository for people: by its remote, else its folder; this identifies nothing."""
    remote = normalise_remote(facts.remote) if facts.remote else None
    name = (remote or facts.toplevel.as_posix()).replace(":", "/").rpartition("/")[2]
    return escape_hidden(name, multiline=False).strip()[:200] or "repository"


def _read(store: Store, path: Path) -> _Reading:
    repository = git.open_repository(path)
    commit = repository.head().commit
    if commit is None:
        raise InvalidRequestError.at("the repository", "has no commit yet")
    found = guidance.read_guidance(repository, commit)
    cited = anchors.files(source for piece in found.pieces for source in piece.sources)
    taken = anchors.take(repository, cited, None)
    lessons, refused = list[Lesson](), list[Outcome]()
    for piece in found.pieces:
        try:
            prepared = _prepared(store, piece)
        except CodeflowError as error:
            refused.append(Outcome("refused", piece.title, None, str(error)))
        else:
            own = {source: taken[source] for source in piece.sources if source in taken}
            lessons.append(Lesson(piece.place, prepared, own))
    return _Reading(clone_of(repository), commit, tuple(lessons), tuple(refused), found.skipped)


def _prepared(store: Store, piece: Piece) -> Prepared:
    content = parse_draft(
        {
            "kind": str(piece.kind),
            "title": escape_hidden(piece.title, multiline=False)[:200],
            "body": escape_hidden(piece.body),
            "tags": list(piece.tags),
            "paths": list(piece.paths),
            "sources": list(piece.sources),
        }
    )
    return governance.prepare(store, Candidate(content, Collection.PROJECT))


def _learn(mutation: Mutation, reading: _Reading, wanted: str | None) -> Learned:
    accesses.require(mutation.access, Role.CONTRIBUTOR, None, "register repositories")
    facts = registration.facts_of(reading.clone)
    repository_id, _, _ = registration.admit(mutation, facts, reading.clone.name)
    accesses.require(mutation.access, Role.CONTRIBUTOR, repository_id, "write memories")
    project = _project(mutation, repository_id, wanted)
    lessons = Lessons(mutation, project)
    outcomes = [lessons.take(lesson) for lesson in reading.lessons]
    unread = {s.path for s in reading.skipped if s.reason.startswith(_UNREAD)}
    vanished = lessons.close(unread)
    return Learned(
        repository_id,
        project,
        reading.commit,
        (*outcomes, *reading.refused, *vanished),
        reading.skipped,
    )


def _project(mutation: Mutation, repository_id: str, wanted: str | None) -> Project:
    """Return the project to propose for, made when it is new."""
    own = rows.list_of_repository(mutation.tx, repository_id)
    if wanted is not None:
        for project in own:
            if wanted in {project.project_id, project.slug}:
                return project
        if wanted.startswith("prj_"):
            raise NotFoundError("project", wanted)
        return projects.add(mutation, repository_id, NewProject(wanted))
    if len(own) == 1:
        return own[0]
    repository = repositories.find(mutation.tx, repository_id)
    slug = slug_of("" if repository is None else repository.name)
    found = next((p for p in own if p.slug == slug), None)
    return found or projects.add(mutation, repository_id, NewProject(slug))


def slug_of(name: str) -> str:
    """Return the slug that is nearest to a repository's name: its last part, in ASCII."""
    last = name.rstrip("/").replace(":", "/").rpartition("/")[2].lower()
    return sub(r"[^a-z0-9._-]+", "-", last).strip("-._")[:_SLUG_LENGTH] or "main"


def summary(learned: Learned) -> Mapping[str, int]:
    """Count outcomes by what was done."""
    counts: dict[str, int] = {}
    for outcome in learned.outcomes:
        counts[outcome.action] = counts.get(outcome.action, 0) + 1
    return counts
