"""A typed client of Code Flow Memory's HTTP API: `Client`, and `AsyncClient` for asyncio.

Every JSON route is a method. A change names its operation, so that trying it again does nothing
twice; refusals are exceptions of `problems`.
"""

from codeflow_memory_client.async_client import AsyncClient
from codeflow_memory_client.client import Client
from codeflow_memory_client.errors import (
    ClientError,
    ConnectionLostError,
    Fault,
    ProblemError,
    UnexpectedAnswerError,
)
from codeflow_memory_client.retrying import Retry

__all__ = [
    "AsyncClient",
    "Client",
    "ClientError",
    "ConnectionLostError",
    "Fault",
    "ProblemError",
    "Retry",
    "UnexpectedAnswerError",
]
