"""A revision: one step of a memory's history, never changed but by deleting its text."""

from dataclasses import dataclass

from codeflow_memory.domain.memory import Content, Status


@dataclass(frozen=True, slots=True)
class Revision:
    """A memory as it was; ``content`` is ``None`` once the memory is deleted.

    ``trust``, in basis points, is what the memory had when this revision was made.
    """

    memory_id: str
    revision: int
    status: Status
    superseded_by: str | None
    action: str
    actor: str
    at: int
    operation_id: str
    reason: str | None
    content_sha256: str | None
    content: Content | None
    trust: int | None = None
