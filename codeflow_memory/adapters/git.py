"""Questions to a git repository, which is an untrusted input.

`open_repository` finds and checks its parts; each method of `Repository` then asks one question.
Names are read from the ref files, everything else by one child process of git per question, which
sees the object store and nothing else of the repository (`adapters.git_process`). There is no
status, diff, blame, checkout or fetch here, and no network.

Answers are those of committed content: what is only in the working tree or the index is not seen.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codeflow_memory.adapters.git_layout import Layout, find_layout, is_hash
from codeflow_memory.adapters.git_objects import (
    ask_objects,
    find_commit,
    find_headers,
    has_entry,
    is_path,
    list_files,
    read_blobs,
)
from codeflow_memory.adapters.git_refs import find_ref, read_head
from codeflow_memory.domain.errors import DeadlineExceededError, LimitExceededError

MAX_BLOB_BYTES = 4 * 1024 * 1024
MAX_FILES = 500_000
MAX_BATCH_BYTES = 32 * 1024 * 1024
"""Contents that one `Repository.contents` may hold at once."""

_ABBREVIATED = re.compile(r"[0-9a-f]{7,39}")


@dataclass(frozen=True, slots=True)
class Facts:
    """What identifies a repository.

    ``remote`` is ``origin``'s address as configured. ``root_commits`` are those of the default
    branch, oldest first; none where history is cut, empty or too long to walk in time.
    """

    toplevel: Path
    common_dir: Path
    remote: str | None
    root_commits: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Head:
    """What is checked out: a commit (none before the first) and a branch (none if detached)."""

    commit: str | None
    branch: str | None


def open_repository(path: Path, *, within: Path | None = None) -> "Repository":
    """Find the repository that holds *path* and check that all of it lies where it should.

    Args:
        path: Absolute; a folder in a working tree, a worktree, or a bare repository.
        within: A listed root that no part of the repository may leave, where there is one.

    Raises:
        InvalidRequestError: The repository leaves its place, or is of a kind that is not read.
        NotFoundError: There is none.
    """
    return Repository(find_layout(path, within=within))


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository that was checked when it was opened.

    Every method may raise `InvalidRequestError` (git is missing, a ref or object is damaged),
    `DeadlineExceededError` and `LimitExceededError`, unless it says that it answers otherwise.
    """

    layout: Layout

    def facts(self) -> Facts:
        """Say what identifies this repository, the same from each of its worktrees."""
        remote = self.layout.config.get("remote.origin.url", (None,))[0]
        return Facts(self.layout.toplevel, self.layout.common_dir, remote, self._root_commits())

    def head(self) -> Head:
        """Say what this worktree has checked out."""
        commit, branch = read_head(self.layout)
        return Head(None if commit is None else find_commit(self.layout, commit), branch)

    def resolve(self, revision: str) -> str | None:
        """Return the full hash of the commit that *revision* names, or ``None``.

        Args:
            revision: A full hash, ``HEAD``, a branch, a tag, a ref, or a hash cut to 7 digits or
                more, in this order. No operators (``~``, ``^``, ``@{…}``).
        """
        if is_hash(revision):
            return find_commit(self.layout, revision)
        found = find_ref(self.layout, revision)
        if found is None and _ABBREVIATED.fullmatch(revision):
            found = revision
        return None if found is None else find_commit(self.layout, found)

    def is_ancestor(self, older: str, newer: str) -> bool | None:
        """Tell whether *newer* contains *older*; a commit contains itself.

        Returns:
            ``None`` where it cannot be told: a commit is unknown, history is cut before the
            answer is certain, or the walk takes too long.
        """
        if not (is_hash(older) and is_hash(newer)):
            return None
        try:
            answer = ask_objects(
                self.layout, "merge-base", "--is-ancestor", "--end-of-options", older, newer
            )
        except DeadlineExceededError:
            return None
        if answer.status == 0:
            return True
        return False if answer.status == 1 and not self.layout.shallow else None

    def ancestors_among(self, commits: Iterable[str], head: str) -> frozenset[str] | None:
        """Return those of *commits* that *head* contains, or ``None`` where it cannot be told.

        A commit that the repository does not have is not contained, unless history is cut.
        """
        wanted = sorted({c for c in commits if is_hash(c)})
        headers = find_headers(self.layout, [head, *wanted])
        known = {name for name, header in headers.items() if header.kind == "commit"}
        if head not in known:
            return None
        present = [c for c in wanted if c in known]
        if not present:
            return None if wanted and self.layout.shallow else frozenset()
        try:
            listed = ask_objects(self.layout, "rev-list", "--end-of-options", *present, f"^{head}")
        except (DeadlineExceededError, LimitExceededError):
            return None
        if listed.status != 0:
            return None
        outside = set(listed.output.decode("ascii").split())
        # Where clocks were wrong, rev-list may list a commit that head contains; the exact
        # question is asked again for those few.
        contained = frozenset(
            c for c in present if c not in outside or self.is_ancestor(c, head) is True
        )
        return None if self.layout.shallow and len(contained) < len(wanted) else contained

    def default_branch(self) -> str | None:
        """Return the commit at the head of the default branch, or ``None`` before the first.

        That is the remote's, as last fetched, where ``origin/HEAD`` says which it is; else
        ``main`` or ``master``; else whatever the main worktree has checked out.
        """
        candidates = ["refs/heads/main", "refs/heads/master"]
        main_worktree = replace(self.layout, git_dir=self.layout.common_dir)
        if find_ref(self.layout, "refs/remotes/origin/HEAD"):
            candidates.insert(0, "refs/remotes/origin/HEAD")
        elif self._is_bare():
            candidates.insert(0, "HEAD")
        for name in candidates:
            found = find_ref(main_worktree, name)
            if found is not None:
                return find_commit(self.layout, found)
        found = read_head(main_worktree)[0]
        return None if found is None else find_commit(self.layout, found)

    def has(self, commit: str, path: str) -> bool:
        """Tell whether anything is at *path*, also what `blob` does not read: a link, a folder."""
        return has_entry(self.layout, commit, path)

    def blob_hash(self, commit: str, path: str) -> str | None:
        """Return the blob hash of the plain file at *path*; ``None`` where there is none."""
        files = list_files(self.layout, commit, path=path)
        return next((blob for found, blob in files if found == path), None)

    def blob(self, commit: str, path: str) -> bytes | None:
        """Return the content of the plain file at *path*.

        Returns:
            ``None`` where there is no such file, it is a link or submodule, or it is longer than
            `MAX_BLOB_BYTES`; `blob_hash` tells the last case from the others.
        """
        blob = self.blob_hash(commit, path)
        return None if blob is None else self.contents([blob]).get(blob)

    def contents(
        self, blobs: Sequence[str], *, max_bytes: int = MAX_BATCH_BYTES
    ) -> Mapping[str, bytes]:
        """Read many blobs by hash with one child.

        Args:
            blobs: Full hashes, most wanted first.
            max_bytes: Where reading stops; later blobs are then left out.

        Returns:
            Hash to content; without those that are absent, no blob or over `MAX_BLOB_BYTES`.
        """
        wanted: list[str] = []
        for blob, header in find_headers(self.layout, blobs).items():
            if header.kind == "blob" and header.size <= MAX_BLOB_BYTES:
                max_bytes -= header.size
                if max_bytes < 0:
                    break
                wanted.append(blob)
        return read_blobs(self.layout, wanted)

    def tree(self, commit: str) -> list[tuple[str, str]]:
        """List the plain files of *commit* as path and blob hash, in the order of the tree.

        Left out are paths that no citation can name: not UTF-8, or with a backslash or newline.

        Raises:
            LimitExceededError: There are more than `MAX_FILES`.
        """
        found = list_files(self.layout, commit, "-r")
        if len(found) > MAX_FILES:
            raise LimitExceededError("files in the tree", value=len(found), maximum=MAX_FILES)
        return found

    def last_commit(self, path: str, commit: str) -> str | None:
        """Return the commit that last changed *path*, as seen from *commit*.

        ``None`` where nothing did, or the walk through history takes too long.
        """
        if not is_hash(commit) or not is_path(path):
            return None
        try:
            answer = ask_objects(
                self.layout, "rev-list", "--max-count=1", "--end-of-options", commit, "--", path
            )
        except DeadlineExceededError:
            return None
        return (answer.output.decode("ascii").strip() or None) if answer.status == 0 else None

    def _is_bare(self) -> bool:
        return self.layout.toplevel == self.layout.common_dir

    def _root_commits(self) -> tuple[str, ...]:
        head = self.default_branch()
        if head is None:
            return ()
        try:
            answer = ask_objects(
                self.layout, "rev-list", "--max-parents=0", "--timestamp", "--end-of-options", head
            )
        except DeadlineExceededError:
            return ()
        if answer.status != 0:
            return ()
        rows = [line.split() for line in answer.output.decode("ascii").splitlines()]
        roots = sorted((int(time), commit) for time, commit in rows)
        # At the edge of a shallow clone a commit only looks like a root.
        return tuple(commit for _, commit in roots if commit not in self.layout.shallow)
