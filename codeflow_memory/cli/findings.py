"""What ``doctor`` says of one thing."""

from dataclasses import asdict, dataclass
from enum import StrEnum


class State(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARNING = "warning"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, how it is, and what to do about it."""

    name: str
    state: State
    detail: str
    fix: str | None = None

    def fields(self) -> dict[str, object]:
        """Return the check as JSON values."""
        return asdict(self)
