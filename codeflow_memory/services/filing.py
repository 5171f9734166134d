"""Filing: how a file-style tool changes a caller's private entries; see `files`.

Each command is one mutation: what it rests on, the path and the text that stands there, is read
behind the lock. A command may name the revision that its caller viewed; then it changes no other.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from codeflow_memory.domain.access import Access, Reach, Role
from codeflow_memory.domain.candidates import Candidate
from codeflow_memory.domain.drafts import parse_draft
from codeflow_memory.domain.errors import (
    Fault,
    ForbiddenError,
    IllegalTransitionError,
    InvalidRequestError,
    RevisionConflictError,
)
from codeflow_memory.domain.files import TAG, FilePath, parse_path
from codeflow_memory.domain.findings import is_flagged
from codeflow_memory.domain.memory import Collection, Content, Kind, Memory, Status, describe
from codeflow_memory.domain.project import Project
from codeflow_memory.services import access as accesses
from codeflow_memory.services import deletion, files, governance, memories
from codeflow_memory.services.files import Tree
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.store import Store
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.memories import Stored
from codeflow_memory.storage.receipts import Receipt

Edit = Callable[[str], str]
"""From the text that stands to the one that shall stand."""


@dataclass(frozen=True, slots=True)
class Filed:
    """What was done.

    Args:
        path: Of the file, or folder, as it is called now.
        memory_id: The entry; of a folder the first one.
        revision: Of that entry, now.
        status: ``proposed`` while the text waits for a decision.
        files: How many were changed.
    """

    path: FilePath
    memory_id: str
    revision: int
    status: Status
    files: int


@dataclass(slots=True)
class _Desk:
    """What one command works on, behind the lock."""

    mutation: Mutation
    project: Project
    reach: Reach
    tree: Tree


def create(  # noqa: PLR0913, PLR0917 - the parts of one request
    store: Store,
    access: Access,
    project_id: str,
    path: str,
    text: str,
    revision: int | None,
    operation: Operation,
) -> Filed:
    """Write a new file; with the *revision* that stands there, replace its text.

    Raises:
        InvalidRequestError: It can be no path, or no text of a file.
        RevisionConflictError: A file stands there, at another revision than is named.
        PreviouslyRejectedError: The same file was deleted before, or its text rejected.
        LimitExceededError: A limit would be passed.
    """
    where = _new_path(path, "/path")
    fields = {"kind": str(Kind.GUIDANCE), "title": where.name, "body": text}
    with_key = fields | {"tags": [TAG], "key": where.key}
    with _Pointed("/file_text"):
        draft = parse_draft(with_key)
        prepared = governance.prepare(store, Candidate(draft, Collection.PRIVATE))
    _check_key(prepared.candidate.content, where, "/path")

    def work(desk: _Desk) -> Receipt:
        standing = desk.tree.get(where)
        if standing is not None:
            _check_revision(where, standing, revision or 0)
            return _receipt([_revised(desk, standing, {"body": text}, "/file_text")])
        if revision is not None:
            raise files.missing(path)
        _check_free(desk.tree, where, "/path")
        placed = memories.placed(desk.mutation, desk.project, prepared)
        memory, known = memories.admit(desk.mutation, desk.project, placed)
        if known and memory.status not in files.LIVE:
            raise IllegalTransitionError(source=str(memory.status), target=str(Status.ACCEPTED))
        return _receipt([memory])

    return _filed(store, access, project_id, operation, work, where)


def edit(  # noqa: PLR0913, PLR0917 - the parts of one request
    store: Store,
    access: Access,
    project_id: str,
    path: str,
    change: Edit,
    revision: int | None,
    operation: Operation,
) -> Filed:
    """Change the text of a file by what stands there now.

    Raises:
        NotFoundError: There is no such file.
        ForbiddenError: It is an entry of a team, of the project or of somebody else.
        RevisionConflictError: It is not at *revision*.
        InvalidRequestError: *change* says so, or its result can be no text of a file.
    """
    where = files.named(path)

    def work(desk: _Desk) -> Receipt:
        stored = _one(desk, where)
        _check_revision(where, stored, revision)
        text = change(files.text_of(stored.memory))
        return _receipt([_revised(desk, stored, {"body": text}, "/new_str")])

    return _filed(store, access, project_id, operation, work, where)


def delete(
    store: Store,
    access: Access,
    project_id: str,
    path: str,
    revision: int | None,
    operation: Operation,
) -> Filed:
    """Delete a file, or every file of a folder; tombstones take their places.

    Raises:
        NotFoundError: There is nothing of this name.
        InvalidRequestError: It is the root.
        RevisionConflictError: It is not at *revision*.
        LegalHoldError: A hold keeps an entry.
    """
    where = files.named(path)
    if not where.segments:
        raise InvalidRequestError.at("/path", "the root stays")

    def work(desk: _Desk) -> Receipt:
        stored = _all(desk, where, revision)
        return _receipt([deletion.erase(desk.mutation, s, None) for _, s in stored])

    return _filed(store, access, project_id, operation, work, where, needs_room=False)


def rename(
    store: Store,
    access: Access,
    project_id: str,
    paths: tuple[str, str],
    revision: int | None,
    operation: Operation,
) -> Filed:
    """Give a file, or a folder, another path: *paths* are the old and the new one.

    Raises:
        NotFoundError: There is nothing of the old name.
        InvalidRequestError: The new one can be no path, or an entry is known by its id alone.
        RevisionConflictError: Something has the new name, or it is not at *revision*.
    """
    old, new = files.named(paths[0]), _new_path(paths[1], "/new_path")
    if old.memory_id is not None or not old.segments or new.is_below(old):
        raise InvalidRequestError.at("/old_path", "is no file or folder that can be moved there")

    def work(desk: _Desk) -> Receipt:
        moving = _all(desk, old, revision)
        staying = {path: s for path, s in desk.tree.items() if path not in dict(moving)}
        written = []
        for path, stored in moving:
            target = path.moved(old, new)
            _check_free(staying, target, "/new_path")
            if parse_path(str(target)) is None:
                raise InvalidRequestError.at("/new_path", "is too long for what lies below it")
            changes = {"title": target.name, "key": target.key}
            written.append(_revised(desk, stored, changes, "/new_path"))
            _check_key(written[-1].content, target, "/new_path")
        return _receipt(written)

    return _filed(store, access, project_id, operation, work, new)


def _filed(  # noqa: PLR0913 - the parts of one request
    store: Store,
    access: Access,
    project_id: str,
    operation: Operation,
    work: Callable[[_Desk], Receipt],
    where: FilePath,
    *,
    needs_room: bool = True,
) -> Filed:
    def behind_the_lock(mutation: Mutation) -> Receipt:
        tx, caller = mutation.tx, mutation.access
        project = accesses.get_project(tx, caller, project_id, None)
        accesses.require(caller, Role.CONTRIBUTOR, project.repository_id, "write memories")
        reach = accesses.reach(tx, caller, project)
        return work(_Desk(mutation, project, reach, files.tree(tx, reach, project)))

    def render(_: Transaction, __: Access, receipt: Receipt) -> Filed:
        facts = receipt.facts
        status, count = Status(str(facts["status"])), int(str(facts["files"]))
        return Filed(where, receipt.target_id, receipt.revision, status, count)

    return mutate(store, access, operation, behind_the_lock, render, needs_room=needs_room)


def _receipt(written: list[Memory]) -> Receipt:
    first = written[0]
    facts: dict[str, object] = {"status": str(first.status), "files": len(written)}
    return Receipt("file", first.memory_id, first.revision, facts)


def _one(desk: _Desk, where: FilePath) -> Stored:
    """Return the entry that a path names, which the caller may change as a file."""
    if where.memory_id is None:
        if where not in desk.tree:
            raise files.missing(str(where))
        return desk.tree[where]
    stored = files.by_id(desk.mutation.tx, desk.reach, where)
    if not files.is_own(desk.mutation.access, stored.memory):
        raise ForbiddenError("what others read is changed by a proposal that supersedes it")
    return stored


def _all(desk: _Desk, where: FilePath, revision: int | None) -> list[tuple[FilePath, Stored]]:
    """Return the file that a path names, or those of the folder, by path."""
    below = [(path, desk.tree[path]) for path in sorted(desk.tree, key=str) if path.is_below(where)]
    if below:
        if revision is not None:
            raise InvalidRequestError.at("/revision", "a folder has none")
        return below
    stored = _one(desk, where)
    _check_revision(where, stored, revision)
    return [(where, stored)]


def _revised(desk: _Desk, stored: Stored, changes: Mapping[str, object], pointer: str) -> Memory:
    with _Pointed(pointer):
        return memories.revise_stored(desk.mutation, desk.reach, stored, changes, None)


def _check_revision(where: FilePath, stored: Stored, revision: int | None) -> None:
    current = stored.memory.revision
    if revision is not None and revision != current:
        content = None if is_flagged(stored.memory.review_reason) else describe(stored.memory)
        raise RevisionConflictError(str(where), expected=revision, current=current, content=content)


def _check_free(tree: Mapping[FilePath, Stored], where: FilePath, pointer: str) -> None:
    """Refuse a path that a file or folder has, or that leads through a file."""
    if where in tree:
        _check_revision(where, tree[where], 0)
    if any(path.is_below(where) for path in tree):
        raise InvalidRequestError.at(pointer, "is a folder")
    if any(where.is_below(path) for path in tree):
        raise InvalidRequestError.at(pointer, "leads through a file")


def _check_key(content: Content | None, where: FilePath, pointer: str) -> None:
    """Refuse a path that is kept otherwise than it was given, because a secret was in it."""
    if content is None or content.key != where.key:
        raise InvalidRequestError.at(pointer, "must not hold a secret")


def _new_path(text: str, pointer: str) -> FilePath:
    where = parse_path(text)
    if where is None or not where.segments or where.memory_id is not None:
        raise InvalidRequestError.at(pointer, "must be a path below /memories, as /memories/a/b.md")
    return where


class _Pointed:
    """Says of a fault in the text of an entry where in the tool's arguments it is."""

    def __init__(self, pointer: str) -> None:
        self._pointer = pointer

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, InvalidRequestError):
            faults = [Fault(self._pointer, fault.detail) for fault in error.faults]
            raise InvalidRequestError(faults) from None
