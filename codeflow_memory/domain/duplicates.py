"""Known already: when two texts say the same, and which kinds are compared at all."""

import unicodedata
from collections.abc import Mapping

from codeflow_memory.domain.memory import Kind

NEAR = 0.75
"""Similarity from which a text is a near duplicate.

Source: Flowly's guard of `memory_append`, character trigrams and Jaccard's index at 0.75.
"""

_FAMILIES: Mapping[Kind, str | None] = {
    Kind.GUIDANCE: "guidance",
    Kind.DECISION: "guidance",
    Kind.CONVENTION: "guidance",
    Kind.PROCEDURE: "guidance",
    Kind.FACT: "guidance",
    Kind.PREFERENCE: "guidance",
    Kind.CORRECTION: "guidance",
    Kind.ENVIRONMENT: "guidance",
    Kind.PROFILE: "guidance",
    Kind.TEMPORAL: "guidance",
    Kind.TRACE: None,
    Kind.POLICY: "policy",
    Kind.WORLD_MODEL: "world_model",
    Kind.SKILL: "skill",
}


def family(kind: Kind) -> str | None:
    """Return the family that *kind* is compared within; ``None`` for a trace, which never is.

    Source:
        Contract 08 §3: guidance-like kinds together, the layers of recall each by itself; a trace
        repeats by its turn alone.
    """
    return _FAMILIES[kind]


def group(kind: Kind) -> str:
    """Return what tells the texts of *kind* from equal ones of others: its family, else itself."""
    return family(kind) or str(kind)


GROUPS = tuple(sorted({group(kind) for kind in Kind}))


def text_key(title: str, body: str) -> str:
    """Return the text whose keyed hash tells an exact duplicate.

    Case, compatibility forms and the amount of white space make no difference; where the title
    ends does.
    """
    return f"{_folded(title)}\n{_folded(body)}"


def trigrams(text: str) -> frozenset[str]:
    """Return the character trigrams of the folded *text*; a shorter text is its own only one."""
    folded = _folded(text)
    return frozenset(folded[at : at + 3] for at in range(max(1, len(folded) - 2)))


def overlap(a: frozenset[str], b: frozenset[str]) -> float:
    """Return Jaccard's index of two texts' trigrams, 0 to 1; 1 for equal folded texts."""
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)


def _folded(text: str) -> str:
    # Folding case can leave compatibility forms and the other way round; NFKC comes last.
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.split())
