"""A legal hold: it keeps an entry, or every entry of a project, from being deleted in any way."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hold:
    """One hold; ``memory_id`` is ``None`` for the whole project. Times are Unix microseconds."""

    repository_id: str
    project_id: str
    memory_id: str | None
    reason: str
    placed_by: str
    placed_at: int

    def fields(self) -> dict[str, object]:
        """Return the hold as JSON values but for its times."""
        return {
            "repository_id": self.repository_id,
            "project_id": self.project_id,
            "memory_id": self.memory_id,
            "reason": self.reason,
            "placed_by": self.placed_by,
        }
