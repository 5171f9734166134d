"""A remote as what a repository is known by: one text for all ways to write its address."""

import re

MAX_REMOTE = 2000
"""Characters of an address; a longer one names nothing."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_NETWORK_SCHEMES = frozenset({"http", "https", "ssh", "git", "git+ssh", "ssh+git", "ftp", "ftps"})
_SCP = re.compile(r"(?:[^/:@\[\]]+@)?(\[[^/\]]+\]|[^/:@\[\]]+):(?!:)(.+)")
_BARE = re.compile(r"([^/:@]*\.[^/:@]*|\[[^/\]]+\])/(.+)")
_DRIVE = 1
"""Characters before the colon of a drive, which is no host."""

_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:.]+\]")
_REFUSED = re.compile(r"[\s\x00-\x1f\x7f\\]")


def normalise_remote(url: str) -> str | None:
    """Reduce a remote's address to what all ways of writing it share.

    Scheme, user, password, port, query, a final ``.git`` or slash and the case of the host go:
    ``git@GitHub.com:acme/app.git`` and ``https://github.com/acme/app/`` are
    ``github.com/acme/app``. The case of the path stays. A host without a dot is written
    ``host:path``, because ``host/path`` could as well be a folder.

    Returns:
        The address, which normalises to itself; ``None`` for a path of this machine, a ``file:``
        or helper address (``ext::``), and for what is no address.
    """
    text = url.strip()
    if not 0 < len(text) <= MAX_REMOTE or _REFUSED.search(text):
        return None
    split = _split(text)
    if split is None:
        return None
    host, path = split[0].lower().rstrip("."), _clean(split[1])
    if len(host) <= _DRIVE or not _HOST.fullmatch(host) or ".." in host or not path:
        return None
    return f"{host}/{path}" if "." in host or host.startswith("[") else f"{host}:{path}"


def _split(text: str) -> tuple[str, str] | None:
    """Return host and path of an address in any of its forms."""
    scheme = _SCHEME.fullmatch(text)
    if scheme:
        if scheme[1].lower() not in _NETWORK_SCHEMES:
            return None
        authority, _, path = scheme[2].partition("/")
        return _without_port(authority.rpartition("@")[2]), path
    match = _BARE.fullmatch(text) or _SCP.fullmatch(text)
    return None if match is None else (match[1], match[2])


def _without_port(authority: str) -> str:
    if authority.startswith("["):
        return authority.partition("]")[0] + "]"
    return authority.partition(":")[0]


def _clean(path: str) -> str | None:
    """Drop what does not tell one repository from another, until nothing more can be dropped."""
    path = re.split(r"[?#]", path, maxsplit=1)[0]
    segments = [s for s in path.split("/") if s not in {"", "."}]
    while segments and segments[-1].endswith(".git"):
        segments[-1] = segments[-1].removesuffix(".git")
        if not segments[-1] or segments[-1] == ".":
            segments.pop()
    if not segments or ".." in segments or segments[0].startswith(":"):
        return None
    return "/".join(segments)
