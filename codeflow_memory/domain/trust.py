"""Trust: how far an entry is relied on, in basis points from 0 to 10,000 (03 §2).

An entry's *standing* is what it has earned: how it came, who saw it again, whether it helped. Its
*trust* is the standing less what age and an open conflict take off. Source of the numbers:
contract 03 §2, which has them from Flowly's calibration.
"""

from collections.abc import Iterable

from codeflow_memory.domain.memory import Kind

BASE = 6_000
EXPLICIT = 2_500
"""Added when a person states it, or an agent saves it in a person's own turn."""

SIGHTING = 500
SIGHTINGS_COUNTED = 3
"""Further sources that count, together 1,500."""

HELPFUL = 1_000
UNHELPFUL = -1_500
CONFLICT = -3_000
"""While another entry holds another value of the same functional key."""

AUTO_FLOOR = 8_000
REVIEW_FLOOR = 5_500
"""An accepted entry whose trust falls below returns to review."""

RECOVERED = 7_000
"""An entry in review for its trust that rises above is noted for the reviewer."""

MAX = 10_000
HALF_LIFE_DAYS = 30
"""Of a temporal entry."""

_DAY = 86_400_000_000


def first(*, explicit: bool, sources: Iterable[int] = ()) -> int:
    """Return the first standing: at most the trust of the least trusted of its *sources*."""
    return min([BASE + (EXPLICIT if explicit else 0), *sources])


def after_sighting(standing: int, sightings: int) -> int:
    """Return the standing after the *sightings*-th further source, counted from 1."""
    return _within(standing + (SIGHTING if sightings <= SIGHTINGS_COUNTED else 0))


def after_feedback(standing: int, *, helpful: bool) -> int:
    """Return the standing after one judgement."""
    return _within(standing + (HELPFUL if helpful else UNHELPFUL))


def effective(standing: int, kind: Kind, age: int, *, conflicting: bool) -> int:
    """Return the trust that comes of a standing.

    Args:
        standing: What was earned.
        kind: Only ``temporal`` ages: by half in `HALF_LIFE_DAYS`, in steps of whole days.
        age: Microseconds since it was judged.
        conflicting: Whether a conflict is unresolved.
    """
    left = standing
    if kind is Kind.TEMPORAL:
        left = int(standing * 0.5 ** (max(0, age) // _DAY / HALF_LIFE_DAYS))
    return _within(left + (CONFLICT if conflicting else 0))


def _within(trust: int) -> int:
    return max(0, min(MAX, trust))
