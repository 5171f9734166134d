"""Who owns which path, by a CODEOWNERS file.

Source:
    GitHub Docs, "About code owners", sections "CODEOWNERS syntax" and "Example of a CODEOWNERS
    file"; gitignore(5) for patterns, without ``!`` and ``[ ]``.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LOCATIONS = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Where the file may lie; the first that exists is the one that counts."""

MAX_BYTES = 3 * 1024 * 1024
"""GitHub ignores a longer file."""

_OWNER = re.compile(r"@[A-Za-z0-9][\w.-]*(?:/[\w.-]+)?|[^@\s#]+@[^@\s#]+")
_FIELD = re.compile(r"(?:\\.|[^\\\s])+")


@dataclass(frozen=True, slots=True)
class OwnerRule:
    """One line: a pattern, split at its slashes, and who owns what it matches.

    No owners at all means that what matches has none, whatever earlier lines say. With ``below``
    the pattern also matches everything in a folder that it names.
    """

    segments: tuple[str, ...]
    below: bool
    owners: tuple[str, ...]
    line: int


def parse_codeowners(text: str) -> tuple[OwnerRule, ...]:
    """Read a CODEOWNERS file; a line with an error in it is skipped, as GitHub does.

    Returns:
        The rules in file order. Owners are as written: ``@name``, ``@org/team`` or an e-mail.
    """
    rules = (_parse_line(line, number) for number, line in enumerate(text.splitlines(), start=1))
    return tuple(rule for rule in rules if rule is not None)


def owners_of(rules: Sequence[OwnerRule], path: str) -> tuple[str, ...]:
    """Return who owns *path*; the last rule that matches decides.

    Args:
        rules: As `parse_codeowners` gave them.
        path: Repository-relative, with ``/``. A glob counts as its longest literal folder, and a
            folder is owned by whom any file directly in it would be.

    Returns:
        Owners in the order written, each once; empty where there are none.
    """
    segments = tuple(s for s in path.split("/") if s)
    literal = _literal_folder(segments)
    # None is a file of unknown name in the folder; only a wildcard matches it.
    below: tuple[str | None, ...] = (*literal, None)
    candidates = [below] if literal != segments or not segments else [segments, below]
    for rule in reversed(rules):
        if any(_matches(rule, candidate) for candidate in candidates):
            return tuple(dict.fromkeys(rule.owners))
    return ()


def owned_paths(rules: Sequence[OwnerRule], paths: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the owners of each of *paths* that has any, in the order given."""
    owned = {path: owners_of(rules, path) for path in paths}
    return {path: owners for path, owners in owned.items() if owners}


def _parse_line(line: str, number: int) -> OwnerRule | None:
    fields = _FIELD.findall(_without_comment(line))
    if not fields:
        return None
    pattern, owners = fields[0], tuple(fields[1:])
    if pattern.startswith("!") or not all(_OWNER.fullmatch(owner) for owner in owners):
        return None
    return _rule(re.sub(r"\\(.)", r"\1", pattern), owners, number)


def _without_comment(line: str) -> str:
    """Cut at a ``#`` that starts the line or follows white space, unless that is escaped."""
    match = re.search(r"(?:^|(?<!\\)\s)#", line)
    return line if match is None else line[: match.start()]


def _rule(pattern: str, owners: tuple[str, ...], number: int) -> OwnerRule | None:
    folder = pattern.endswith("/")
    segments = [s for s in pattern.split("/") if s]
    if not segments:
        return None
    if not pattern.startswith("/") and len(segments) == 1:
        segments.insert(0, "**")
    if folder:
        segments.append("**")
    # A lone star stays within its folder (docs/* does not own docs/a/b), everything else that
    # names a folder owns what is below it.
    below = segments[-1] not in {"*", "**"}
    return OwnerRule(tuple(segments), below=below, owners=owners, line=number)


def _literal_folder(segments: tuple[str, ...]) -> tuple[str, ...]:
    for index, segment in enumerate(segments):
        if any(c in segment for c in "*?"):
            return segments[:index]
    return segments


def _matches(rule: OwnerRule, path: Sequence[str | None]) -> bool:
    """Follow every way through the pattern at once: the cost is length times length at most."""
    pattern = rule.segments
    end = len(pattern)
    reached = _skip(pattern, {0})
    for name in path:
        if rule.below and end in reached:
            return True
        following: set[int] = set()
        for at in reached - {end}:
            if pattern[at] == "**":
                following |= {at, end} if at == end - 1 else {at}
            elif _segment(pattern[at], name):
                following.add(at + 1)
        reached = _skip(pattern, following)
    return end in reached


def _skip(pattern: Sequence[str], reached: set[int]) -> set[int]:
    """Add the positions behind each ``**``, which may stand for nothing, but not at the end."""
    result = set(reached)
    for index in range(len(pattern) - 1):
        if index in result and pattern[index] == "**":
            result.add(index + 1)
    return result


def _segment(pattern: str, name: str | None) -> bool:
    """Match one name; ``*`` any run of characters, ``?`` any one, all else itself."""
    if name is None:
        return pattern == "*"
    at = start = 0
    star, resume = -1, 0
    while at < len(name):
        if start < len(pattern) and pattern[start] == "*":
            star, resume = start, at
            start += 1
        elif start < len(pattern) and pattern[start] in {"?", name[at]}:
            at, start = at + 1, start + 1
        elif star >= 0:
            resume += 1
            at, start = resume, star + 1
        else:
            return False
    return not pattern[start:].strip("*")
