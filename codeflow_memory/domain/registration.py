"""Registering a repository: which registered one a clone is, by what it says of itself."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum


class Fact(StrEnum):
    """A kind of fact about a repository, strongest first."""

    KEY = "key"
    REMOTE = "remote"
    ROOT_COMMIT = "root_commit"
    COMMON_DIR = "common_dir"
    PATH = "path"


STRENGTH: Mapping[Fact, int] = {fact: place for place, fact in enumerate(Fact)}
"""The smaller, the stronger."""


@dataclass(frozen=True, slots=True)
class Alias:
    """One thing that a repository is known by."""

    kind: Fact
    value: str


@dataclass(frozen=True, slots=True)
class Known:
    """A registered repository, as far as it matters which one is meant."""

    repository_id: str
    identified_by: Fact
    aliases: frozenset[Alias]


def identify(facts: Iterable[Alias], known: Iterable[Known]) -> tuple[str, Fact] | None:
    """Decide which of *known* a clone with *facts* is.

    The strongest fact that fits exactly one repository decides. A repository with another value of
    a stronger kind that the clone has too is a different one, whatever weaker facts they share. A
    fact that fits several decides nothing, unless exactly one of these is identified by it: to the
    others it is only an alias.

    Args:
        facts: What the clone says of itself.
        known: Every repository that any of *facts* fits, with all its aliases.

    Returns:
        The repository's id and the rule that applied; ``None`` when the clone is none of them.
    """
    facts = sorted(facts, key=lambda fact: (STRENGTH[fact.kind], fact.value))
    candidates = sorted(known, key=lambda k: k.repository_id)
    for fact in facts:
        fitting = [k for k in candidates if fact in k.aliases]
        if len(fitting) > 1:
            fitting = [k for k in fitting if k.identified_by is fact.kind]
        if len(fitting) == 1 and not _contradicted(fitting[0], facts, fact.kind):
            return fitting[0].repository_id, fact.kind
    return None


def _contradicted(known: Known, facts: Iterable[Alias], kind: Fact) -> bool:
    """Tell whether a stronger kind than *kind* has values on both sides, and none in common."""
    facts = list(facts)
    for stronger in (k for k in Fact if STRENGTH[k] < STRENGTH[kind]):
        said = {f for f in facts if f.kind is stronger}
        has = {a for a in known.aliases if a.kind is stronger}
        if said and has and not said & has:
            return True
    return False


def strongest(kinds: Iterable[Fact]) -> Fact:
    """Return the strongest of *kinds*, of which there is at least one."""
    return min(kinds, key=lambda kind: STRENGTH[kind])


def named_by(text: str, remote: str | None, path: str | None) -> Iterator[Alias]:
    """Yield the facts that the text of a ``repo`` parameter may be, strongest first.

    Args:
        text: As given: it may be a key.
        remote: *text* as a normalised remote, where it is one.
        path: *text* as an absolute path, where it is one.
    """
    yield Alias(Fact.KEY, text)
    if remote is not None:
        yield Alias(Fact.REMOTE, remote)
    if path is not None:
        yield Alias(Fact.PATH, path)
