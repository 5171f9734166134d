"""Checkouts: where a registered repository may be read on this machine."""

from pathlib import Path
from typing import TypeAlias

from codeflow_memory.adapters import git
from codeflow_memory.domain.errors import CodeflowError
from codeflow_memory.services.store import Store
from codeflow_memory.storage import repositories
from codeflow_memory.storage.engine import Transaction

Place: TypeAlias = tuple[Path, Path]
"""A folder, and the operator's root that it lies in."""


def readable(store: Store, tx: Transaction, repository_id: str) -> list[Place]:
    """List the repository's checkouts under the operator's roots, merged repositories' too.

    Paths that clients give are aliases: none is opened unless the operator listed a root above it.
    """
    paths = [Path(path) for path in repositories.paths(tx, repository_id)]
    return [
        (path, root)
        for path in paths
        for root in store.roots
        if path.is_absolute() and path.is_relative_to(root)
    ]


def open_first(places: list[Place], commit: str | None = None) -> git.Repository | None:
    """Open the first of *places* that is a repository inside its root; outside a transaction.

    Args:
        places: As `readable` listed them.
        commit: A full hash. The first checkout that has it goes before one that was not fetched
            yet; ``None`` asks for none.
    """
    first: git.Repository | None = None
    for path, root in places:
        try:
            opened = git.open_repository(path, within=root)
            if commit is None or opened.resolve(commit) is not None:
                return opened
        except CodeflowError:
            # A checkout that is gone or was refused is no checkout; the next one may serve.
            continue
        first = first or opened
    return first
