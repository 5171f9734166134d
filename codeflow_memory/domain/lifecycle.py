"""The table of statuses: which moves exist, and which action asks for which move."""

from collections.abc import Mapping
from enum import StrEnum

from codeflow_memory.domain.errors import IllegalTransitionError
from codeflow_memory.domain.memory import Status

MOVES: Mapping[Status, frozenset[Status]] = {
    Status.PROPOSED: frozenset(
        {
            Status.ACCEPTED,
            Status.REJECTED,
            Status.SUPERSEDED,
            Status.OUTDATED,
            Status.DELETED,
        }
    ),
    Status.ACCEPTED: frozenset(
        {
            Status.SUPERSEDED,
            Status.OUTDATED,
            Status.ARCHIVED,
            Status.REJECTED,
            Status.PROPOSED,
            Status.DELETED,
        }
    ),
    Status.OUTDATED: frozenset(
        {Status.ACCEPTED, Status.SUPERSEDED, Status.REJECTED, Status.DELETED}
    ),
    Status.SUPERSEDED: frozenset({Status.ACCEPTED, Status.DELETED}),
    Status.ARCHIVED: frozenset({Status.ACCEPTED, Status.DELETED}),
    Status.REJECTED: frozenset({Status.DELETED}),
    Status.DELETED: frozenset(),
}


class Action(StrEnum):
    """What a caller asks for; each names the status it leads to in `TARGET`."""

    APPROVE = "approve"
    REJECT = "reject"
    SUPERSEDE = "supersede"
    OUTDATE = "outdate"
    ARCHIVE = "archive"
    RESTORE = "restore"
    RETURN = "return"
    DELETE = "delete"


TARGET: Mapping[Action, Status] = {
    Action.APPROVE: Status.ACCEPTED,
    Action.REJECT: Status.REJECTED,
    Action.SUPERSEDE: Status.SUPERSEDED,
    Action.OUTDATE: Status.OUTDATED,
    Action.ARCHIVE: Status.ARCHIVED,
    Action.RESTORE: Status.ACCEPTED,
    Action.RETURN: Status.PROPOSED,
    Action.DELETE: Status.DELETED,
}

_STARTS: Mapping[Action, frozenset[Status]] = {
    Action.APPROVE: frozenset({Status.PROPOSED}),
    Action.RESTORE: frozenset({Status.SUPERSEDED, Status.ARCHIVED, Status.OUTDATED}),
}
"""Two actions lead to ``accepted``; each has its own starting points."""


def allows(action: Action, status: Status) -> bool:
    """Tell whether *action* moves an entry on from *status*."""
    starts = _STARTS.get(action)
    return TARGET[action] in MOVES[status] and (starts is None or status in starts)


def move(action: Action, status: Status) -> Status | None:
    """Return the status that *action* leads to, or ``None`` when it is already there.

    Raises:
        IllegalTransitionError: The table has no such move.
    """
    target = TARGET[action]
    if status is target:
        return None
    if not allows(action, status):
        raise IllegalTransitionError(source=status, target=target)
    return target
