"""Errors on the wire: problem details (RFC 9457) with a stable type and code.

The one table of statuses is `STATUS`. Litestar's own exceptions are first turned into errors of the
domain, so that a client sees one form whoever refused. Nothing of what Litestar says is passed on:
its sentences quote the path.
"""

import json
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from litestar import Request, Response
from litestar.exceptions import HTTPException
from litestar.types import ExceptionHandlersMap

from codeflow_memory.domain import errors
from codeflow_memory.domain.errors import CodeflowError, Fault
from codeflow_memory.http import exchange
from codeflow_memory.http.bodies import BODY_BYTES, MAX_FAULTS

MEDIA_TYPE: Final = "application/problem+json"

URN: Final = "urn:codeflow-memory:problem:"

STATUS: Final[Mapping[type[CodeflowError], HTTPStatus]] = {
    errors.UnauthenticatedError: HTTPStatus.UNAUTHORIZED,
    errors.ForbiddenError: HTTPStatus.FORBIDDEN,
    errors.NotFoundError: HTTPStatus.NOT_FOUND,
    errors.MethodNotAllowedError: HTTPStatus.METHOD_NOT_ALLOWED,
    errors.OperationReusedError: HTTPStatus.CONFLICT,
    errors.ImportConflictError: HTTPStatus.CONFLICT,
    errors.IllegalTransitionError: HTTPStatus.CONFLICT,
    errors.PreviouslyRejectedError: HTTPStatus.CONFLICT,
    errors.LegalHoldError: HTTPStatus.CONFLICT,
    errors.StalePlanError: HTTPStatus.CONFLICT,
    errors.UndoConflictError: HTTPStatus.CONFLICT,
    errors.RevisionConflictError: HTTPStatus.PRECONDITION_FAILED,
    errors.LimitExceededError: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    errors.UnsupportedMediaTypeError: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    errors.MisdirectedRequestError: HTTPStatus.MISDIRECTED_REQUEST,
    errors.InvalidRequestError: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.ProvenanceInvalidError: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.PublicationRefusedError: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.RevisionRequiredError: HTTPStatus.PRECONDITION_REQUIRED,
    errors.RateLimitedError: HTTPStatus.TOO_MANY_REQUESTS,
    errors.InternalError: HTTPStatus.INTERNAL_SERVER_ERROR,
    errors.BusyError: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.ContentionError: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.UnreachableError: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.StoreUnusableError: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.DeadlineExceededError: HTTPStatus.GATEWAY_TIMEOUT,
    errors.StorageFullError: HTTPStatus.INSUFFICIENT_STORAGE,
}
"""Every class of the tree but its root."""

_log = logging.getLogger(__name__)

_MISSING = re.compile(r"Missing required (\w+) parameter '([\w-]{1,64})'")


@dataclass(frozen=True, slots=True)
class Problem:
    """A refusal as it goes over the wire; ``headers`` beside the content type and length."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def describe(error: CodeflowError) -> Problem:
    """Describe *error* to a client; the same error always gives the same bytes."""
    exchange.note_refusal(error.code)
    status = STATUS[type(error)]
    members: dict[str, object] = {
        "type": URN + error.code,
        "title": status.phrase,
        "status": status.value,
        "detail": _sentence(error),
        "code": error.code,
    }
    members |= {name: value for name, value in error.facts.items() if name not in members}
    # A lone surrogate that a sentence quotes becomes "?": it has no encoding in UTF-8.
    body = json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return Problem(status.value, _headers(error), body)


def _sentence(error: CodeflowError) -> str:
    """Return what a client is told; which file it is stays with the operator."""
    if isinstance(error, errors.StoreUnusableError):
        return "what is stored cannot be used as it is; the operator's doctor says why"
    return str(error)


def problem(error: CodeflowError) -> Response[bytes]:
    """Answer *error* from within Litestar."""
    return _response(describe(error))


def unexpected(error: Exception) -> Problem:
    """Log a defect under the request's id and describe it to the client without a word of it."""
    _log.error("request %s failed", exchange.request_id(), exc_info=error)
    return describe(errors.InternalError())


def exception_handlers() -> ExceptionHandlersMap:
    """Return what an application passes as ``exception_handlers``."""
    return {
        CodeflowError: _refused,
        HTTPException: _refused_by_framework,
        Exception: _failed,
    }


def translate(error: HTTPException, method: str) -> CodeflowError:
    """Turn an exception of Litestar's into one of ours; anything from 500 up is a defect."""
    if error.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return errors.InternalError()
    known = _TRANSLATIONS.get(error.status_code)
    return _invalid(error, method) if known is None else known(error, method)


def _refused(_: Request[Any, Any, Any], error: CodeflowError) -> Response[bytes]:
    return problem(error)


def _refused_by_framework(request: Request[Any, Any, Any], error: HTTPException) -> Response[bytes]:
    translated = translate(error, request.method)
    if isinstance(translated, errors.InternalError):
        return _response(unexpected(error))
    response = problem(translated)
    allowed = (error.headers or {}).get("allow")
    if allowed is not None:
        response.headers["allow"] = ", ".join(sorted(allowed.split(", ")))
    return response


def _failed(_: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    return _response(unexpected(error))


def _response(described: Problem) -> Response[bytes]:
    return Response(
        described.body,
        status_code=described.status,
        media_type=MEDIA_TYPE,
        headers=dict(described.headers),
    )


def _headers(error: CodeflowError) -> tuple[tuple[str, str], ...]:
    match error:
        case errors.UnauthenticatedError():
            return (("www-authenticate", "Bearer"),)
        case errors.RateLimitedError() | errors.BusyError():
            return (("retry-after", str(error.retry_after_seconds)),)
        case _:
            return ()


def _not_found(_: HTTPException, __: str) -> CodeflowError:
    return errors.NotFoundError("route here")


def _method_not_allowed(_: HTTPException, method: str) -> CodeflowError:
    return errors.MethodNotAllowedError(method)


def _unauthenticated(_: HTTPException, __: str) -> CodeflowError:
    return errors.UnauthenticatedError()


def _forbidden(_: HTTPException, __: str) -> CodeflowError:
    return errors.ForbiddenError("this is not allowed")


def _too_large(_: HTTPException, __: str) -> CodeflowError:
    # Litestar does not say how much it saw; it stopped at the first byte too many.
    return errors.LimitExceededError("body_bytes", value=BODY_BYTES + 1, maximum=BODY_BYTES)


def _unsupported(_: HTTPException, __: str) -> CodeflowError:
    return errors.UnsupportedMediaTypeError()


def _limited(error: HTTPException, _: str) -> CodeflowError:
    seconds = (error.headers or {}).get("retry-after", "1")
    return errors.RateLimitedError(retry_after_seconds=int(seconds) if seconds.isdecimal() else 1)


_TRANSLATIONS: Final[Mapping[int, Callable[[HTTPException, str], CodeflowError]]] = {
    HTTPStatus.UNAUTHORIZED: _unauthenticated,
    HTTPStatus.FORBIDDEN: _forbidden,
    HTTPStatus.NOT_FOUND: _not_found,
    HTTPStatus.METHOD_NOT_ALLOWED: _method_not_allowed,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: _too_large,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: _unsupported,
    HTTPStatus.TOO_MANY_REQUESTS: _limited,
}


def _invalid(error: HTTPException, _: str) -> CodeflowError:
    extra = error.extra if isinstance(error.extra, list) else []
    faults = [_fault(item) for item in extra if isinstance(item, dict)]
    missing = _MISSING.search(error.detail)
    if not faults and missing is not None:
        faults = [Fault(_pointer(missing[1], missing[2]), "is required")]
    return errors.InvalidRequestError(
        faults[:MAX_FAULTS] or [Fault("", "the request does not have the documented form")]
    )


def _fault(item: dict[str, Any]) -> Fault:
    pointer = _pointer(str(item.get("source", "")), str(item.get("key", "")))
    return Fault(pointer, str(item.get("message", "")) or "is not valid")


def _pointer(source: str, key: str) -> str:
    match source:
        case "body":
            return "/" + key.replace(".", "/")
        case "header" | "cookie":
            return f"{source} {key}"
        case _:
            return key
