"""Citations checked against a repository."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from codeflow_memory.adapters.git import Repository
from codeflow_memory.domain.citations import Anchor, Citation, Outcome, Result, Tree, anchor, check
from codeflow_memory.domain.deadline import current
from codeflow_memory.domain.errors import CodeflowError, DeadlineExceededError

MAX_HELD_BYTES = 64 * 1024 * 1024
"""Contents kept while many citations are checked against one tree."""

READ_AT_ONCE = 256
MAX_READ_AHEAD = 8_192
"""Files; more than `MAX_HELD_BYTES` has room for."""


def make_anchor(repository: Repository, citation: Citation, commit: str) -> Anchor | None:
    """Take the anchor of what *citation* names at *commit*, a full hash.

    Returns:
        ``None`` where there is no such file or range, or the file is too long.

    Raises:
        CodeflowError: The repository cannot be read.
    """
    if citation.first_line is None:
        blob = repository.blob_hash(commit, citation.path)
        return None if blob is None else Anchor(blob)
    content = repository.blob(commit, citation.path)
    return None if content is None else anchor(content, citation.first_line, citation.last_line)


def check_citation(
    repository: Repository, citation: Citation, taken: Anchor | None, commit: str
) -> Outcome:
    """Compare *citation* with the tree of *commit*, a full hash.

    Where no anchor was taken, its source's own commit may still give one: see `make_anchor`.

    Returns:
        The outcome; ``unknown`` where the commit or the repository cannot be read.
    """
    return check_citations(repository, [(citation, taken)], commit)[0]


def check_citations(
    repository: Repository, citations: list[tuple[Citation, Anchor | None]], commit: str
) -> list[Outcome]:
    """Compare many citations with one tree, which is listed once; outcomes are in their order.

    Raises:
        DeadlineExceededError: The request that is being served has none of its time left.
    """
    unknown = Outcome(Result.UNKNOWN)
    try:
        if repository.resolve(commit) is None:
            return [unknown] * len(citations)
        tree = Tree(dict(repository.tree(commit)), _remembering(repository))
    except CodeflowError:
        return [unknown] * len(citations)
    _read_ahead(citations, tree)
    return [_checked(citation, taken, tree) for citation, taken in citations]


def _read_ahead(citations: list[tuple[Citation, Anchor | None]], tree: Tree) -> None:
    """Read the changed files that are cited by lines with a few children, not with two for each."""
    changed = {
        blob: None
        for citation, taken in citations
        if citation.first_line is not None
        and (blob := tree.files.get(citation.path)) is not None
        and taken is not None
        and blob != taken.blob_hash
    }
    wanted = list(changed)
    with suppress(CodeflowError):
        for start in range(0, min(len(wanted), MAX_READ_AHEAD), READ_AT_ONCE):
            tree.contents(wanted[start : start + READ_AT_ONCE])


def _remembering(repository: Repository) -> Callable[[Sequence[str]], Mapping[str, bytes]]:
    """Read each blob once for all citations: those that moved look through the same files."""
    held: dict[str, bytes] = {}
    room = MAX_HELD_BYTES

    def contents(blobs: Sequence[str]) -> Mapping[str, bytes]:
        nonlocal room
        found = {blob: held[blob] for blob in blobs if blob in held}
        fresh = repository.contents([blob for blob in blobs if blob not in held])
        for blob, content in fresh.items():
            if len(content) <= room:
                room -= len(content)
                held[blob] = content
        return {**found, **fresh}

    return contents


def _checked(citation: Citation, taken: Anchor | None, tree: Tree) -> Outcome:
    deadline = current.get()
    if deadline is not None and deadline.passed():
        raise DeadlineExceededError
    try:
        return check(citation, taken, tree)
    except CodeflowError:
        return Outcome(Result.UNKNOWN)
