"""What comes back: JSON, or an error."""

import json
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from codeflow_memory_client.errors import ProblemError, UnexpectedAnswerError
from codeflow_memory_client.problems import BY_CODE

_URN = "urn:codeflow-memory:problem:"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as it came over the wire.

    Args:
        status: Its status.
        body: All of it.
        retry_after: The header's text.
        request_id: The same.
    """

    status: int
    body: bytes
    retry_after: str | None
    request_id: str | None

    def read(self) -> Any:  # noqa: ANN401 - any JSON; the client's methods say which
        """Return what was asked for.

        Raises:
            ProblemError: The server refused.
            UnexpectedAnswerError: It is no answer of this API's; redirections are such.
        """
        try:
            value = json.loads(self.body)
        except ValueError:
            value = None
        if isinstance(value, dict):
            if HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES:
                return value
            if str(value.get("type", "")).startswith(_URN):
                raise self._problem(value)
        raise UnexpectedAnswerError(self.status, _seconds(self.retry_after))

    def _problem(self, members: dict[str, Any]) -> ProblemError:
        kind = BY_CODE.get(str(members["type"]).removeprefix(_URN), ProblemError)
        return kind(
            members,
            status=self.status,
            retry_after=_seconds(self.retry_after),
            request_id=self.request_id,
        )


def _seconds(header: str | None) -> float | None:
    """Read ``Retry-After``; a date, which this server never sends, counts as nothing."""
    digits = header is not None and header.isascii() and header.isdecimal()
    return float(header) if header is not None and digits else None
