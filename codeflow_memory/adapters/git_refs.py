"""Names of commits in a repository: ``HEAD``, branches, tags, read from the files that hold them.

Read here and not by git, because git finds refs only in a git directory whose configuration it
also obeys. Hashes that come out of here are unchecked text until git has resolved them.
"""

import re
from collections.abc import Mapping

from codeflow_memory.adapters.git_layout import Layout, is_hash, read_small, refused

MAX_PACKED_REFS_BYTES = 64 * 1024 * 1024
MAX_SYMBOLIC_DEPTH = 5
"""As git itself follows them."""

_SEGMENT = re.compile(r"(?!\.)(?!.*\.\.)(?!.*@\{)[^\x00-\x20\x7f~^:?*\[\\/]+(?<!\.)(?<!\.lock)")
_MAX_NAME = 255
_PER_WORKTREE = ("refs/bisect/", "refs/worktree/", "refs/rewritten/")


def is_ref_name(name: str) -> bool:
    """Tell whether *name* may name a branch, tag or ref.

    Source:
        git-check-ref-format(1), with one-level names allowed and a leading ``-`` refused.
    """
    if not 0 < len(name) <= _MAX_NAME or name.startswith("-") or name == "@":
        return False
    return all(_SEGMENT.fullmatch(segment) for segment in name.split("/"))


def read_head(layout: Layout) -> tuple[str | None, str | None]:
    """Return this worktree's commit and branch; either is ``None`` where there is none.

    A branch without a commit is one on which nothing was committed yet.
    """
    commit, last = _follow(layout, "HEAD", _packed(layout))
    prefix = "refs/heads/"
    return commit, last.removeprefix(prefix) if last.startswith(prefix) else None


def find_ref(layout: Layout, name: str) -> str | None:
    """Return the hash that *name* stands for, in git's order: itself, a tag, a branch, a remote.

    Source:
        gitrevisions(7), "<refname>".
    """
    if not is_ref_name(name):
        return None
    candidates = [
        f"refs/{name}",
        f"refs/tags/{name}",
        f"refs/heads/{name}",
        f"refs/remotes/{name}",
        f"refs/remotes/{name}/HEAD",
    ]
    if name == "HEAD" or name.startswith("refs/"):
        candidates.insert(0, name)
    packed = _packed(layout)
    for candidate in candidates:
        found = _follow(layout, candidate, packed)[0]
        if found is not None:
            return found
    return None


def _follow(layout: Layout, name: str, packed: Mapping[str, str]) -> tuple[str | None, str]:
    """Return the hash at the end of the chain that starts at *name*, and the last name in it."""
    for _ in range(MAX_SYMBOLIC_DEPTH):
        content = _read_loose(layout, name)
        if content is None:
            return packed.get(name), name
        if not content.startswith("ref:"):
            return (content if is_hash(content) else None), name
        name = content.removeprefix("ref:").strip()
        if not is_ref_name(name):
            raise refused("a ref of the repository points at what cannot be a ref")
    raise refused("refs of the repository point at each other")


def _read_loose(layout: Layout, name: str) -> str | None:
    private = "/" not in name or name.startswith(_PER_WORKTREE)
    folder = layout.git_dir if private else layout.common_dir
    path = folder / name
    if path.is_dir():
        return None
    content = read_small(path, [layout.git_dir, layout.common_dir])
    return None if content is None else content.decode("utf-8", "replace").strip()


def _packed(layout: Layout) -> Mapping[str, str]:
    content = read_small(
        layout.common_dir / "packed-refs",
        [layout.common_dir],
        max_bytes=MAX_PACKED_REFS_BYTES,
    )
    refs: dict[str, str] = {}
    for line in (content or b"").decode("utf-8", "replace").splitlines():
        commit, _, name = line.partition(" ")
        if is_hash(commit) and name:
            refs[name] = commit
    return refs
