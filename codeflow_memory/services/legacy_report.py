"""What a call about the older document did, what the document holds, and how it is named.

Apart from the import itself, whose parsers a home needs once in its life: the guard of every change
knows this module alone.
"""

from dataclasses import dataclass
from enum import StrEnum

from codeflow_memory.domain.errors import ImportConflictError
from codeflow_memory.storage import imports
from codeflow_memory.storage.home import LEGACY_DOCUMENT

COPY = LEGACY_DOCUMENT + ".pre-sqlite"
"""The document after its import, kept until a record changes."""

DATABASE_NAME = "the database of tenant local"
"""How a conflict names it: no name of a file of the server goes to a client."""


class Outcome(StrEnum):
    """What a call did: ``unchanged`` found nothing to do, ``conflict`` left it for a person."""

    CHECKED = "checked"
    IMPORTED = "imported"
    RESUMED = "resumed"
    UNCHANGED = "unchanged"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True)
class Report:
    """What a document holds, and what became of it.

    Args:
        outcome: See `Outcome`.
        source_sha256: Of the document's bytes, in hex; ``None`` where none was read.
        counts: Kind of record to number.
        findings: What the scanner found, ``{memory_id, rules}`` each.
        digest: Of the records as stored; ``None`` where nothing was stored.
    """

    outcome: Outcome
    source_sha256: str | None = None
    counts: dict[str, int] | None = None
    findings: tuple[imports.Finding, ...] = ()
    digest: str | None = None

    def fields(self) -> dict[str, object]:
        """Return the report as JSON values."""
        return {
            "outcome": str(self.outcome),
            "source_sha256": self.source_sha256,
            "counts": self.counts or {},
            "findings": [dict(f) for f in self.findings if f["rules"]],
            "digest": self.digest,
        }


def conflict() -> ImportConflictError:
    """Return the refusal that names document and database."""
    return ImportConflictError(document=LEGACY_DOCUMENT, database=DATABASE_NAME)
