"""An approval: one reviewer's decision, bound to the revision that it names."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Approval:
    """One decision; ``own`` marks a decision on the reviewer's own proposal."""

    revision: int
    principal: str
    decision: str
    own: bool
    withdrawn: bool
    at: int
    comment: str | None
