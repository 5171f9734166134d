"""Where a repository's parts lie, and the refusal of any part that lies outside of it.

Everything is found by plain file reads that follow no link out of the repository: nothing here
runs git on the repository itself. A linked worktree and a submodule keep their git directory
elsewhere by design; they are believed only when that other place points back.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from codeflow_memory.adapters.git_process import ask
from codeflow_memory.domain.errors import InvalidRequestError, NotFoundError

MAX_SMALL_FILE_BYTES = 1024 * 1024
"""For files of one or a few lines: ``HEAD``, a ref, ``config``, ``shallow``."""

MAX_ALTERNATE_DEPTH = 5
"""As git itself follows them."""

_WORKTREES = "worktrees"
_MODULES = Path(".git") / "modules"

_HASH = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Layout:
    """The parts of one repository, all absolute and free of links.

    ``toplevel`` is the working tree, or the git directory itself where there is none.
    ``git_dir`` belongs to this worktree, ``common_dir`` to all of them. ``config`` is the
    repository's own configuration, lower-case keys to values in file order, includes left alone.
    """

    toplevel: Path
    git_dir: Path
    common_dir: Path
    objects: Path
    shallow: tuple[str, ...]
    config: Mapping[str, tuple[str, ...]]


def refused(detail: str) -> InvalidRequestError:
    """Build the refusal of a repository whose form cannot be trusted."""
    return InvalidRequestError.at("/repo", detail)


def find_layout(path: Path, *, within: Path | None = None) -> Layout:
    """Find the repository that holds *path*, looking upward from it.

    Args:
        path: Absolute; a folder in a working tree, or a git directory.
        within: When given, every part of the repository must lie in this folder, and the search
            does not leave it.

    Raises:
        InvalidRequestError: *path* is not absolute, or a part of the repository is a link, an
            alternate or a redirection that leaves it, or is of a kind that is not read.
        NotFoundError: There is no folder *path*, or no repository holds it.
    """
    if not path.is_absolute() or "\0" in str(path):
        raise refused("the path of a repository must be absolute")
    limit = None if within is None else within.resolve()
    toplevel, git_dir = _discover(path, limit)
    _check_limit(limit, toplevel, git_dir)
    common_dir = _common_dir(toplevel, git_dir)
    _check_limit(limit, common_dir)
    allowed = [toplevel, git_dir, common_dir, *([] if limit is None else [limit])]
    # Not before: a configuration that lies elsewhere is nobody's to read yet.
    config = _read_config(common_dir)
    _check_kind(config)
    if not common_dir.is_relative_to(toplevel) and common_dir == git_dir:
        _check_module(toplevel, git_dir, config)
    objects = _inside(common_dir / "objects", allowed)
    _check_objects(objects, allowed, depth=0)
    return Layout(toplevel, git_dir, common_dir, objects, _shallow(common_dir), config)


def read_small(
    path: Path, allowed: Iterable[Path], max_bytes: int = MAX_SMALL_FILE_BYTES
) -> bytes | None:
    """Read a plain file that must lie in one of the *allowed* folders once links are followed.

    Returns:
        Its bytes, or ``None`` where there is no such file.

    Raises:
        InvalidRequestError: It leads out, is no plain file, or is longer than *max_bytes*.
    """
    try:
        real = path.resolve(strict=True)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, RuntimeError):
        raise refused(f"{path.name} in the git directory cannot be read") from None
    _inside(real, allowed)
    try:
        # Not a blocking open: a named pipe in the place of a file would hold the reader for ever.
        handle = os.open(real, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        raise refused(f"{path.name} in the git directory cannot be read") from None
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise refused(f"{path.name} in the git directory is not a plain file")
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise refused(f"{path.name} in the git directory is too long")
    return content


def _inside(path: Path, allowed: Iterable[Path]) -> Path:
    """Follow every link in *path* and make sure that it still lies in one of *allowed*."""
    try:
        real = path.resolve()
    except (OSError, RuntimeError):
        raise refused(f"{path.name} in the git directory is a loop of links") from None
    if not any(real.is_relative_to(folder) for folder in allowed):
        raise refused(f"{path.name} in the git directory leads out of the repository")
    return real


def _discover(path: Path, limit: Path | None) -> tuple[Path, Path]:
    """Return the working tree (or bare git directory) and the git directory."""
    try:
        start = path.resolve(strict=True)
    except (OSError, RuntimeError):
        raise NotFoundError("repository", path.name) from None
    if not start.is_dir() or (limit is not None and not start.is_relative_to(limit)):
        raise NotFoundError("repository", path.name)
    for folder in (start, *start.parents):
        if limit is not None and not folder.is_relative_to(limit):
            break
        entry = folder / ".git"
        if entry.is_dir():
            return folder, _inside(entry, [folder])
        if entry.is_file():
            return folder, _follow_file(folder, entry)
        if _is_git_dir(folder):
            return (folder.parent if folder.name == ".git" else folder), folder
    raise NotFoundError("repository", path.name)


def _follow_file(folder: Path, entry: Path) -> Path:
    content = read_small(entry, [folder]) or b""
    target = content.removeprefix(b"gitdir:").strip()
    if not content.startswith(b"gitdir:") or not target or b"\0" in target:
        raise refused("the .git file does not name a git directory")
    git_dir = (folder / os.fsdecode(target)).resolve()
    if not git_dir.is_dir():
        raise refused("the .git file names a git directory that is not there")
    return git_dir


def _is_git_dir(folder: Path) -> bool:
    return (
        (folder / "HEAD").is_file() and (folder / "refs").is_dir() and (folder / "objects").is_dir()
    )


def _check_limit(limit: Path | None, *parts: Path) -> None:
    if limit is not None and not all(part.is_relative_to(limit) for part in parts):
        raise refused("the repository reaches outside of the folder it was listed under")


def _common_dir(toplevel: Path, git_dir: Path) -> Path:
    """Return the common directory of a git directory that may be the working tree's.

    Of a git directory elsewhere nothing is read but what it takes to believe it:

    =============================================  ==========================================
    git directory                                  must
    =============================================  ==========================================
    inside the working tree                        be its own common directory
    ``<common>/worktrees/<name>``                  name this tree's ``.git`` in its ``gitdir``
    ``<parent's .git>/modules/<name>``             name this tree in ``core.worktree``
    anything else                                  be refused
    =============================================  ==========================================

    The third is `_check_module`'s to see.
    """
    inside = git_dir.is_relative_to(toplevel)
    if inside and read_small(git_dir / "commondir", [git_dir]) is None:
        return git_dir
    if git_dir.parent.name != _WORKTREES:
        if not inside and any(git_dir.is_relative_to(p / _MODULES) for p in toplevel.parents):
            return git_dir
        raise refused("the .git file leads out of the repository")
    back = read_small(git_dir / "gitdir", [git_dir]) or b""
    named = (git_dir / os.fsdecode(back.strip().replace(b"\0", b""))).resolve()
    common = git_dir.parent.parent
    if named != toplevel / ".git" or _named_common(git_dir) != common:
        raise refused("the .git file leads to a repository that does not know this worktree")
    return common


def _named_common(git_dir: Path) -> Path | None:
    content = read_small(git_dir / "commondir", [git_dir])
    target = b"" if content is None else content.strip()
    if not target or b"\0" in target:
        return None
    return (git_dir / os.fsdecode(target)).resolve()


def _check_module(toplevel: Path, git_dir: Path, config: Mapping[str, tuple[str, ...]]) -> None:
    """Believe a submodule's git directory where it names this tree as its own."""
    worktree = config.get("core.worktree", ("",))[-1]
    if not worktree or (git_dir / worktree).resolve() != toplevel:
        raise refused("the .git file leads out of the repository")


def _read_config(common_dir: Path) -> Mapping[str, tuple[str, ...]]:
    """Parse the repository's configuration as text, with git's own parser and no includes."""
    content = read_small(common_dir / "config", [common_dir])
    if not content:
        return {}
    answer = ask(["config", "--file", "-", "--no-includes", "--null", "--list"], given=content)
    if answer.status != 0:
        raise refused("the configuration of the repository cannot be read")
    settings: dict[str, tuple[str, ...]] = {}
    for item in answer.output.decode("utf-8", "replace").split("\0"):
        key, found, value = item.partition("\n")
        if key:
            settings[key] = (*settings.get(key, ()), value if found else "true")
    return settings


def _check_kind(config: Mapping[str, tuple[str, ...]]) -> None:
    if config.get("extensions.objectformat", ("sha1",))[-1].lower() != "sha1":
        raise refused("only repositories with SHA-1 hashes are read")
    if config.get("extensions.refstorage", ("files",))[-1].lower() != "files":
        raise refused("only repositories that keep refs in files are read")


def _shallow(common_dir: Path) -> tuple[str, ...]:
    content = read_small(common_dir / "shallow", [common_dir])
    if content is None:
        return ()
    return tuple(line for line in content.decode("ascii", "replace").split() if is_hash(line))


def is_hash(text: str) -> bool:
    """Tell whether *text* is a full hash: 40 lower-case hex digits."""
    return _HASH.fullmatch(text) is not None


def _check_objects(objects: Path, allowed: list[Path], *, depth: int) -> None:
    """Refuse an object store with a link out, a file that is none, or a store borrowed outside."""
    if not objects.is_dir() or depth > MAX_ALTERNATE_DEPTH:
        raise refused("the object store of the repository cannot be read")
    for entry in _walk(objects):
        if entry.is_symlink():
            real = _inside(Path(entry.path), allowed)
            plain = real.is_file() or real.is_dir()
        else:
            plain = entry.is_file() or entry.is_dir()
        if not plain:
            raise refused("the object store of the repository holds what is no plain file")
    content = read_small(objects / "info" / "alternates", allowed)
    for line in (content or b"").splitlines():
        if line and not line.startswith(b"#"):
            borrowed = _inside(objects / os.fsdecode(line.replace(b"\0", b"")), allowed)
            _check_objects(borrowed, allowed, depth=depth + 1)


def _walk(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Yield every entry below *folder*; linked folders are yielded and not entered."""
    pending = [str(folder)]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    yield entry
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
        except OSError:
            raise refused("the object store of the repository cannot be read") from None
