"""Exit codes: one table for every refusal that the product knows, and the two a terminal adds.

====  =========================================
0     done
1     failed
2     wrong usage
3     no permission
4     not found
5     conflict with what stands
6     the server cannot be reached
7     done, and something needs a person's review
====  =========================================
"""

from collections.abc import Mapping
from typing import Final

from codeflow_memory.domain import errors
from codeflow_memory.domain.errors import CodeflowError

OK: Final = 0
FAILED: Final = 1
USAGE: Final = 2
PERMISSION: Final = 3
NOT_FOUND: Final = 4
CONFLICT: Final = 5
UNREACHABLE: Final = 6
REVIEW: Final = 7

INTERRUPTED: Final = 130
"""What shells give a program that Ctrl-C ended."""

EXIT: Final[Mapping[type[CodeflowError], int]] = {
    errors.UnauthenticatedError: PERMISSION,
    errors.ForbiddenError: PERMISSION,
    errors.NotFoundError: NOT_FOUND,
    errors.InvalidRequestError: USAGE,
    errors.RevisionRequiredError: USAGE,
    errors.RevisionConflictError: CONFLICT,
    errors.OperationReusedError: CONFLICT,
    errors.ImportConflictError: CONFLICT,
    errors.IllegalTransitionError: CONFLICT,
    errors.PreviouslyRejectedError: CONFLICT,
    errors.LegalHoldError: CONFLICT,
    errors.StalePlanError: CONFLICT,
    errors.UndoConflictError: CONFLICT,
    errors.LimitExceededError: FAILED,
    errors.RateLimitedError: FAILED,
    errors.BusyError: FAILED,
    errors.ContentionError: FAILED,
    errors.UnreachableError: FAILED,
    errors.StorageFullError: FAILED,
    errors.ProvenanceInvalidError: FAILED,
    errors.PublicationRefusedError: FAILED,
    errors.StoreUnusableError: FAILED,
    errors.InternalError: FAILED,
    errors.MethodNotAllowedError: FAILED,
    errors.UnsupportedMediaTypeError: FAILED,
    errors.MisdirectedRequestError: FAILED,
    errors.DeadlineExceededError: FAILED,
}

_STANDS: Final = "exists"
_BY_CODE: Final[Mapping[str, int]] = {
    **{error.code: code for error, code in EXIT.items()},
    _STANDS: CONFLICT,
}


class Refusal(Exception):  # noqa: N818 - a server's answer, which is no defect of this program
    """What a server, or the application in this process, refused; see `client`.

    Args:
        code: The stable word of a `CodeflowError`.
        sentence: For people.
        facts: The other members of the problem.
    """

    def __init__(self, code: str, sentence: str, facts: Mapping[str, object]) -> None:
        super().__init__(sentence)
        self.code = code
        self.facts = facts


class NotThereError(Refusal):
    """Something named on the command line does not exist."""

    def __init__(self, sentence: str) -> None:
        super().__init__("not-found", sentence, {})


class StandsError(Refusal):
    """Something that was to be made stands already."""

    def __init__(self, sentence: str) -> None:
        super().__init__(_STANDS, sentence, {})


class UnreachableError(Exception):
    """No server answered, or what answered is none of ours."""

    code = "unreachable"


def exit_code(code: str) -> int:
    """Return the exit code of a refusal's stable word; an unknown one is a failure."""
    return UNREACHABLE if code == UnreachableError.code else _BY_CODE.get(code, FAILED)
