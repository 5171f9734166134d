"""Files: a caller's private entries as a tree of files, for agents that know only files.

A file is an accepted or waiting entry of the caller's own, tagged `files.TAG`, whose ``key`` holds
its path. Every entry that the caller may read can also be viewed under its id. Nothing of a disk is
read or written: a path that is no name of an entry is not found.
"""

from dataclasses import dataclass

from codeflow_memory.domain.access import Access, Reach
from codeflow_memory.domain.errors import NotFoundError
from codeflow_memory.domain.files import TAG, FilePath, parse_path, path_of
from codeflow_memory.domain.memory import Collection, Memory, Status
from codeflow_memory.domain.project import Project
from codeflow_memory.services import access as accesses
from codeflow_memory.services import views
from codeflow_memory.services.store import Store
from codeflow_memory.storage import lights, memories
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.memories import Stored

LIVE = (Status.ACCEPTED, Status.PROPOSED)
"""What is a file: one that waits for its owner's decision too, or its writer could not find it."""

Tree = dict[FilePath, Stored]


@dataclass(frozen=True, slots=True)
class Viewed:
    """A file, or a folder with what lies in it.

    Args:
        path: Of the file or folder.
        memory: The entry; ``None`` for a folder.
        files: Path and entry of each in the folder, by path.
    """

    path: FilePath
    memory: Memory | None
    files: tuple[tuple[FilePath, Memory], ...] = ()


def view(store: Store, access: Access, project_id: str, path: str) -> Viewed:
    """Return a file, or a folder.

    Raises:
        NotFoundError: There is none for the caller.
    """
    where = named(path)
    with store.engine.read() as tx:
        project = accesses.get_project(tx, access, project_id, None)
        reach = accesses.reach(tx, access, project)
        if where.memory_id is not None:
            return Viewed(where, by_id(tx, reach, where).memory)
        found = tree(tx, reach, project)
    if where in found:
        return Viewed(where, found[where].memory)
    below = [(at, found[at].memory) for at in sorted(found, key=str) if at.is_below(where)]
    if not below and where.segments:
        raise missing(path)
    return Viewed(where, None, tuple(below))


def tree(tx: Transaction, reach: Reach, project: Project) -> Tree:
    """Return the caller's files in *project*; of two entries with one path the older is it."""
    own = [
        scope.scope_id
        for scope in reach.scopes.values()
        if scope.project_id == project.project_id
        and scope.audience == f"private:{reach.access.principal_id}"
    ]
    tagged = [row.memory_id for row in lights.in_statuses(tx, own, LIVE) if TAG in row.tags]
    found: Tree = {}
    for stored in memories.find_all(tx, own, tagged):
        content = stored.memory.content
        path = None if content is None else path_of(content.key)
        if path is not None:
            found.setdefault(path, stored)
    return found


def by_id(tx: Transaction, reach: Reach, path: FilePath) -> Stored:
    """Return the entry whose id *path* is.

    Raises:
        NotFoundError: There is none that the caller reads, or it is deleted.
    """
    try:
        stored = views.seen(tx, reach, str(path.memory_id))
    except NotFoundError:
        raise missing(str(path)) from None
    if stored.memory.content is None:
        raise missing(str(path))
    return stored


def is_own(access: Access, memory: Memory) -> bool:
    """Tell whether a file tool may change an entry: the caller's own and nobody else's to read."""
    return memory.collection is Collection.PRIVATE and memory.owner == access.principal_id


def named(path: str) -> FilePath:
    """Return the path of something that should be there.

    Raises:
        NotFoundError: It is no path that a file can have: such a file is not there either.
    """
    found = parse_path(path)
    if found is None:
        raise missing(path)
    return found


def missing(path: str) -> NotFoundError:
    """Return the refusal of a path that names nothing."""
    return NotFoundError("file", path)


def text_of(memory: Memory) -> str:
    """Return what stands in a file."""
    return "" if memory.content is None else memory.content.body
