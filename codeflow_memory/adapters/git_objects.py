"""Objects of a repository: commits resolved, trees listed and blobs read, by one child each."""

from collections.abc import Sequence
from dataclasses import dataclass

from codeflow_memory.adapters.git_layout import Layout, is_hash, refused
from codeflow_memory.adapters.git_process import Answer, ask

_FILE_MODES = frozenset({b"100644", b"100755", b"100664"})
"""Plain files; a symbolic link (120000) or a submodule (160000) has no content of its own."""

_HEADER_PARTS = 3


@dataclass(frozen=True, slots=True)
class Header:
    """What an object is, and its length in bytes."""

    kind: str
    size: int


def ask_objects(layout: Layout, *arguments: str, given: bytes = b"") -> Answer:
    """Ask git about the objects of a repository."""
    return ask(arguments, objects=layout.objects, shallow=layout.shallow, given=given)


def find_commit(layout: Layout, name: str) -> str | None:
    """Resolve a hash, full or cut, to the commit it names directly or through a tag."""
    answer = ask_objects(
        layout, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
    )
    found = answer.output.decode("ascii", "replace").strip()
    return found if answer.status == 0 and is_hash(found) else None


def find_headers(layout: Layout, names: Sequence[str]) -> dict[str, Header]:
    """Ask for the kind and size of each object that exists, in the order asked, once each."""
    asked = list(dict.fromkeys(n for n in names if is_hash(n)))
    if not asked:
        return {}
    answer = ask_objects(layout, "cat-file", "--batch-check", given=_lines(asked))
    rows = [line.split() for line in answer.output.decode("ascii", "replace").splitlines()]
    return {row[0]: Header(row[1], int(row[2])) for row in rows if len(row) == _HEADER_PARTS}


def read_blobs(layout: Layout, blobs: Sequence[str]) -> dict[str, bytes]:
    """Read blobs that `find_headers` knows; together they must fit the bound on output."""
    if not blobs:
        return {}
    return _split_batch(ask_objects(layout, "cat-file", "--batch", given=_lines(blobs)).output)


def list_files(
    layout: Layout, commit: str, *options: str, path: str | None = None
) -> list[tuple[str, str]]:
    """List the plain files of a commit's tree as path and blob hash, in the order of the tree.

    Raises:
        InvalidRequestError: The commit is there and its tree is not, as in a partial clone.
    """
    if not is_hash(commit) or not (path is None or is_path(path)):
        return []
    chosen = [] if path is None else ["--", path]
    answer = ask_objects(
        layout, "ls-tree", "-z", "--full-tree", *options, "--end-of-options", commit, *chosen
    )
    if answer.status != 0:
        if find_commit(layout, commit) is None:
            return []
        raise refused("a tree of the repository cannot be read")
    return [row for item in answer.output.split(b"\0") if item for row in _parse_entry(item)]


def has_entry(layout: Layout, commit: str, path: str) -> bool:
    """Tell whether a commit has anything at *path*: a file, folder, link or submodule."""
    if not is_hash(commit) or not is_path(path):
        return False
    arguments = ("ls-tree", "-z", "--full-tree", "--end-of-options", commit, "--", path)
    return bool(ask_objects(layout, *arguments).output)


def is_path(path: str) -> bool:
    """Tell whether *path* is one that a file in a tree can have and a citation may name."""
    if not path or path.startswith("/") or any(c in path for c in "\0\n\\"):
        return False
    if any("\ud800" <= c <= "\udfff" for c in path):
        return False
    return not any(part in {"", ".", ".."} or part.lower() == ".git" for part in path.split("/"))


def _lines(names: Sequence[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode("ascii")


def _parse_entry(item: bytes) -> list[tuple[str, str]]:
    """Parse ``mode type hash TAB path``; nothing for what no citation can name."""
    head, _, name = item.partition(b"\t")
    mode, _, blob = head.split(b" ")
    try:
        path = name.decode("utf-8")
    except UnicodeDecodeError:
        return []
    return [(path, blob.decode("ascii"))] if mode in _FILE_MODES and is_path(path) else []


def _split_batch(output: bytes) -> dict[str, bytes]:
    """Split what ``cat-file --batch`` wrote: a header line, the content and a newline each."""
    found: dict[str, bytes] = {}
    at = 0
    while at < len(output):
        end = output.index(b"\n", at)
        header = output[at:end].decode("ascii", "replace").split()
        if len(header) != _HEADER_PARTS:
            at = end + 1
            continue
        size = int(header[2])
        found[header[0]] = output[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
    return found
