"""Which refusals the description lists for routes that read, write, or replace a revision."""

from typing import Final

from codeflow_memory.domain import errors
from codeflow_memory.domain.errors import CodeflowError

READS: Final[tuple[type[CodeflowError], ...]] = (
    errors.UnauthenticatedError,
    errors.ForbiddenError,
    errors.NotFoundError,
    errors.InvalidRequestError,
    errors.MisdirectedRequestError,
    errors.RateLimitedError,
    errors.BusyError,
    errors.StoreUnusableError,
    errors.DeadlineExceededError,
)

CHANGES: Final[tuple[type[CodeflowError], ...]] = (
    *READS,
    errors.UnsupportedMediaTypeError,
    errors.LimitExceededError,
    errors.OperationReusedError,
    errors.ImportConflictError,
    errors.StorageFullError,
)

REVISIONS: Final[tuple[type[CodeflowError], ...]] = (
    *CHANGES,
    errors.RevisionRequiredError,
    errors.RevisionConflictError,
)

MEMORY_CHANGES: Final[tuple[type[CodeflowError], ...]] = (
    *CHANGES,
    errors.PreviouslyRejectedError,
)

MEMORY_REVISIONS: Final[tuple[type[CodeflowError], ...]] = (
    *REVISIONS,
    errors.PreviouslyRejectedError,
    errors.IllegalTransitionError,
)
