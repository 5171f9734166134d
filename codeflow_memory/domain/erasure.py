"""An erasure: a principal's own data deleted, and what the team shares put under a pseudonym."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Erasure:
    """The receipt of one erasure; it never says whose it was once it is done.

    Args:
        erasure_id: Its id.
        subject_id: Whose data goes; ``None`` once it is gone.
        pseudonym_id: The principal that takes the subject's place.
        erased_by: The owner that asked for it.
        begun_at: Unix microseconds; from then on the subject could do nothing.
        erased_at: When it was done; ``None`` until then.
        counts: What there was when it began: each kind of data and how many.
    """

    erasure_id: str
    subject_id: str | None
    pseudonym_id: str
    erased_by: str
    begun_at: int
    erased_at: int | None
    counts: Mapping[str, int]
