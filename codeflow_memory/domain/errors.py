"""Every refusal the product knows, as one tree.

``CodeflowError``
    ``UnauthenticatedError`` ``ForbiddenError`` ``NotFoundError`` ``InvalidRequestError``
    ``RevisionRequiredError`` ``LimitExceededError`` ``RateLimitedError`` ``BusyError``
    ``StorageFullError`` ``RevisionConflictError`` ``OperationReusedError``
    ``ImportConflictError`` ``IllegalTransitionError`` ``PreviouslyRejectedError``
    ``ProvenanceInvalidError`` ``PublicationRefusedError`` ``StoreUnusableError``
    ``InternalError`` ``MethodNotAllowedError`` ``UnsupportedMediaTypeError``
    ``MisdirectedRequestError`` ``DeadlineExceededError`` ``LegalHoldError``
    ``StalePlanError`` ``UndoConflictError``; of ``BusyError`` also ``ContentionError``
    ``UnreachableError``

Each class has a stable ``code``, typed ``facts`` for programs and a sentence for people. No status
and no exit code: those belong to the transports. Sentences never carry the text of a memory, a
secret or a path of the host.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

Facts = Mapping[str, object]


class CodeflowError(Exception):
    """The root: something was refused and nothing was changed."""

    code: ClassVar[str] = "internal"

    @property
    def facts(self) -> Facts:
        """What a program may want to know; JSON values only."""
        return {}


class UnauthenticatedError(CodeflowError):
    """What was given names nobody: no token, an unknown, expired or revoked one, a wrong password.

    Which of these is not said.
    """

    code = "unauthenticated"

    def __init__(self, sentence: str = "a valid bearer token is required") -> None:
        super().__init__(sentence)


class ForbiddenError(CodeflowError):
    """The caller may see the thing but not do this to it."""

    code = "forbidden"

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)


class NotFoundError(CodeflowError):
    """Absent, or out of the caller's reach; the two are the same answer."""

    code = "not-found"

    def __init__(self, kind: str, identifier: str | None = None) -> None:
        super().__init__(f"no {kind}" if identifier is None else f"no {kind} {identifier!r}")
        self.kind = kind
        self.identifier = identifier


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a request: a JSON pointer (RFC 6901) and what is wrong there."""

    pointer: str
    detail: str


class InvalidRequestError(CodeflowError):
    """A header, parameter or field does not have the documented form."""

    code = "invalid-request"

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(f"{f.pointer or 'the document'}: {f.detail}" for f in faults))
        self.faults = tuple(faults)

    @classmethod
    def at(cls, pointer: str, detail: str) -> "InvalidRequestError":
        """Build the error for a single fault."""
        return cls([Fault(pointer, detail)])

    @property
    def facts(self) -> Facts:
        """Each fault's pointer and detail, in document order."""
        return {"errors": [{"pointer": f.pointer, "detail": f.detail} for f in self.faults]}


class RevisionRequiredError(CodeflowError):
    """A change was asked for without the revision it is based on."""

    code = "revision-required"

    def __init__(self) -> None:
        super().__init__("If-Match with the revision that was read is required")


class RevisionConflictError(CodeflowError):
    """The thing changed since the caller read it; nothing was written."""

    code = "revision-conflict"

    def __init__(
        self, identifier: str, *, expected: int, current: int, content: Facts | None = None
    ) -> None:
        super().__init__(f"{identifier} is at revision {current}, not {expected}")
        self.identifier = identifier
        self.expected = expected
        self.current = current
        self.content = content

    @property
    def facts(self) -> Facts:
        """Of what, both revisions and, where the caller may read it, the current content."""
        facts: dict[str, object] = {
            "id": self.identifier,
            "expected_revision": self.expected,
            "current_revision": self.current,
        }
        if self.content is not None:
            facts["current"] = self.content
        return facts


class OperationReusedError(CodeflowError):
    """An idempotency key came back with another request than its first."""

    code = "operation-reused"

    def __init__(self) -> None:
        super().__init__("this idempotency key was used for another request")


class LimitExceededError(CodeflowError):
    """A documented limit would be passed."""

    code = "limit-exceeded"

    def __init__(self, limit: str, *, value: int, maximum: int) -> None:
        super().__init__(f"{limit}: {value} is over the maximum of {maximum}")
        self.limit = limit
        self.value = value
        self.maximum = maximum

    @property
    def facts(self) -> Facts:
        """The limit's name, the value that was reached and the maximum."""
        return {"limit": self.limit, "value": self.value, "maximum": self.maximum}


class RateLimitedError(CodeflowError):
    """Too many requests in the window."""

    code = "rate-limited"

    def __init__(self, *, retry_after_seconds: int) -> None:
        super().__init__(f"too many requests; try again in {retry_after_seconds} s")
        self.retry_after_seconds = retry_after_seconds

    @property
    def facts(self) -> Facts:
        """Seconds to wait, at least 1."""
        return {"retry_after_seconds": self.retry_after_seconds}


class BusyError(CodeflowError):
    """Another writer held the store for longer than the busy timeout; nothing was written."""

    code = "busy"

    def __init__(self, *, retry_after_seconds: int = 1) -> None:
        super().__init__("the store is busy; try again")
        self.retry_after_seconds = retry_after_seconds

    @property
    def facts(self) -> Facts:
        """Seconds to wait, at least 1."""
        return {"retry_after_seconds": self.retry_after_seconds}


class ContentionError(BusyError):
    """The store's engine undid a transaction in favour of another one; nothing was written."""


class UnreachableError(BusyError):
    """The store's engine went away; whether the last commit was done is not known."""

    def __init__(self, sentence: str | None = None) -> None:
        super().__init__()
        if sentence is not None:
            self.args = (sentence,)


class StorageFullError(CodeflowError):
    """No room on the disk; reads, deletions and revocations still work."""

    code = "storage-full"

    def __init__(self) -> None:
        super().__init__("the disk is full; nothing was written")


class ImportConflictError(CodeflowError):
    """An older ``memory.json`` and the database disagree; only reads are served until settled."""

    code = "import-conflict"

    def __init__(self, *, document: str, database: str) -> None:
        super().__init__(
            f"{document} is not what {database} was imported from; remove one of them to settle it"
        )
        self.document = document
        self.database = database

    @property
    def facts(self) -> Facts:
        """The names of both files, without their folders."""
        return {"document": self.document, "database": self.database}


class IllegalTransitionError(CodeflowError):
    """The move is not in the table of statuses."""

    code = "illegal-transition"

    def __init__(self, *, source: str, target: str) -> None:
        super().__init__(f"a memory that is {source} cannot become {target}")
        self.source = source
        self.target = target

    @property
    def facts(self) -> Facts:
        """Both states."""
        return {"from": self.source, "to": self.target}


class LegalHoldError(CodeflowError):
    """A legal hold keeps the memory, or its whole project, from being deleted."""

    code = "legal-hold"

    def __init__(self, memory_ids: Sequence[str]) -> None:
        super().__init__(
            f"under a legal hold, which an owner must release first: {', '.join(memory_ids)}"
        )
        self.memory_ids = tuple(memory_ids)

    @property
    def facts(self) -> Facts:
        """The memories that are held."""
        return {"memory_ids": list(self.memory_ids)}


@dataclass(frozen=True, slots=True)
class LaterChange:
    """A revision that came after what should be undone; ``at`` as on the wire."""

    memory_id: str
    revision: int
    action: str
    at: str


class UndoConflictError(CodeflowError):
    """An entry was changed after what should be undone; nothing was written."""

    code = "undo-conflict"

    def __init__(self, later: Sequence[LaterChange]) -> None:
        super().__init__("it was changed since: undo that first, or change the entry itself")
        self.later = tuple(later)

    @property
    def facts(self) -> Facts:
        """The later changes that the caller may read."""
        return {"later_changes": [asdict(change) for change in self.later]}


class StalePlanError(CodeflowError):
    """What retention would remove is not what the named plan says: something changed since."""

    code = "stale-plan"

    def __init__(self) -> None:
        super().__init__(
            "the database, a policy or what they lead to is not what this plan was made of; "
            "nothing was removed: preview again"
        )


class PreviouslyRejectedError(CodeflowError):
    """The same text was rejected or deleted before."""

    code = "previously-rejected"

    def __init__(self, memory_id: str | None = None) -> None:
        super().__init__("the same text was rejected or deleted before; a reviewer may ask for it")
        self.memory_id = memory_id

    @property
    def facts(self) -> Facts:
        """The entry that was decided, where the caller may see it."""
        return {} if self.memory_id is None else {"memory_id": self.memory_id}


class ProvenanceInvalidError(CodeflowError):
    """A source or ``derived_from`` pair cannot be relied on."""

    code = "provenance-invalid"

    def __init__(self, pointer: str, detail: str) -> None:
        super().__init__(f"{pointer}: {detail}")
        self.pointer = pointer
        self.detail = detail

    @property
    def facts(self) -> Facts:
        """The pointer to the pair or source, and what is wrong with it."""
        return {"errors": [{"pointer": self.pointer, "detail": self.detail}]}


class PublicationRefusedError(CodeflowError):
    """A memory may not be published to the project as it is."""

    code = "publication-refused"

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason

    @property
    def facts(self) -> Facts:
        """A stable word for the rule that refused it."""
        return {"reason": self.reason}


class StoreUnusableError(CodeflowError):
    """A database file is damaged, foreign or newer than this program; it was not written to."""

    code = "store-unusable"

    def __init__(self, name: str, detail: str) -> None:
        super().__init__(f"{name}: {detail}")
        self.name = name


class InternalError(CodeflowError):
    """A defect of the program."""

    code = "internal"

    def __init__(self) -> None:
        super().__init__("the request failed; the log has the details under the request id")


class MethodNotAllowedError(CodeflowError):
    """The path exists, the method on it does not."""

    code = "method-not-allowed"

    def __init__(self, method: str) -> None:
        super().__init__(f"{method} is not allowed here")


class UnsupportedMediaTypeError(CodeflowError):
    """A body that is not exactly ``application/json``, or is encoded."""

    code = "unsupported-media-type"

    def __init__(self) -> None:
        super().__init__("the body must be application/json without a content encoding")


class MisdirectedRequestError(CodeflowError):
    """A Host that this server does not serve."""

    code = "misdirected-request"

    def __init__(self) -> None:
        super().__init__("this server does not answer for that host")


class DeadlineExceededError(CodeflowError):
    """The request took longer than its deadline and was stopped."""

    code = "deadline-exceeded"

    def __init__(self) -> None:
        super().__init__("the request took longer than its deadline")
