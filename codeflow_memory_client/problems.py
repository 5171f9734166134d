"""One exception for each type of problem.

Written by ``ops/client.py`` from the API's description; a test keeps it true.
"""

from collections.abc import Mapping
from typing import Final

from codeflow_memory_client.errors import ProblemError


class BusyError(ProblemError):
    """Another writer held the store for longer than the busy timeout; nothing was written."""

    code = "busy"


class DeadlineExceededError(ProblemError):
    """The request took longer than its deadline and was stopped."""

    code = "deadline-exceeded"


class ForbiddenError(ProblemError):
    """The caller may see the thing but not do this to it."""

    code = "forbidden"


class IllegalTransitionError(ProblemError):
    """The move is not in the table of statuses."""

    code = "illegal-transition"


class ImportConflictError(ProblemError):
    """An older ``memory.json`` and the database disagree; only reads are served until settled."""

    code = "import-conflict"


class InternalError(ProblemError):
    """A defect of the program."""

    code = "internal"


class InvalidRequestError(ProblemError):
    """A header, parameter or field does not have the documented form."""

    code = "invalid-request"


class LegalHoldError(ProblemError):
    """A legal hold keeps the memory, or its whole project, from being deleted."""

    code = "legal-hold"


class LimitExceededError(ProblemError):
    """A documented limit would be passed."""

    code = "limit-exceeded"


class MethodNotAllowedError(ProblemError):
    """The path exists, the method on it does not."""

    code = "method-not-allowed"


class MisdirectedRequestError(ProblemError):
    """A Host that this server does not serve."""

    code = "misdirected-request"


class NotFoundError(ProblemError):
    """Absent, or out of the caller's reach; the two are the same answer."""

    code = "not-found"


class OperationReusedError(ProblemError):
    """An idempotency key came back with another request than its first."""

    code = "operation-reused"


class PreviouslyRejectedError(ProblemError):
    """The same text was rejected or deleted before."""

    code = "previously-rejected"


class ProvenanceInvalidError(ProblemError):
    """A source or ``derived_from`` pair cannot be relied on."""

    code = "provenance-invalid"


class PublicationRefusedError(ProblemError):
    """A memory may not be published to the project as it is."""

    code = "publication-refused"


class RateLimitedError(ProblemError):
    """Too many requests in the window."""

    code = "rate-limited"


class RevisionConflictError(ProblemError):
    """The thing changed since the caller read it; nothing was written."""

    code = "revision-conflict"


class RevisionRequiredError(ProblemError):
    """A change was asked for without the revision it is based on."""

    code = "revision-required"


class StalePlanError(ProblemError):
    """What retention would remove is not what the named plan says: something changed since."""

    code = "stale-plan"


class StorageFullError(ProblemError):
    """No room on the disk; reads, deletions and revocations still work."""

    code = "storage-full"


class StoreUnusableError(ProblemError):
    """A database file is damaged, foreign or newer than this program; it was not written to."""

    code = "store-unusable"


class UnauthenticatedError(ProblemError):
    """What was given names nobody: no token, an unknown, expired or revoked one, a wrong password.

    Which of these is not said.
    """

    code = "unauthenticated"


class UndoConflictError(ProblemError):
    """An entry was changed after what should be undone; nothing was written."""

    code = "undo-conflict"


class UnsupportedMediaTypeError(ProblemError):
    """A body that is not exactly ``application/json``, or is encoded."""

    code = "unsupported-media-type"


BY_CODE: Final[Mapping[str, type[ProblemError]]] = {
    "busy": BusyError,
    "deadline-exceeded": DeadlineExceededError,
    "forbidden": ForbiddenError,
    "illegal-transition": IllegalTransitionError,
    "import-conflict": ImportConflictError,
    "internal": InternalError,
    "invalid-request": InvalidRequestError,
    "legal-hold": LegalHoldError,
    "limit-exceeded": LimitExceededError,
    "method-not-allowed": MethodNotAllowedError,
    "misdirected-request": MisdirectedRequestError,
    "not-found": NotFoundError,
    "operation-reused": OperationReusedError,
    "previously-rejected": PreviouslyRejectedError,
    "provenance-invalid": ProvenanceInvalidError,
    "publication-refused": PublicationRefusedError,
    "rate-limited": RateLimitedError,
    "revision-conflict": RevisionConflictError,
    "revision-required": RevisionRequiredError,
    "stale-plan": StalePlanError,
    "storage-full": StorageFullError,
    "store-unusable": StoreUnusableError,
    "unauthenticated": UnauthenticatedError,
    "undo-conflict": UndoConflictError,
    "unsupported-media-type": UnsupportedMediaTypeError,
}
"""The class of each code."""
