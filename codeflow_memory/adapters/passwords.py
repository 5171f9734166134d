"""Slow hashes of passwords, by argon2id: a few at once, and the same work for nobody.

An encoded hash is the standard text ``$argon2id$v=19$m=…,t=…,p=…$salt$tag``, which tells its cost.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from codeflow_memory.domain.errors import BusyError

SALT_BYTES: Final = 16
TAG_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Cost:
    """What one hash takes: memory in KiB, passes over it, lanes that share it."""

    memory: int
    passes: int
    lanes: int

    def raised_to(self, other: "Cost") -> "Cost":
        """Return the greater of both in each respect."""
        return Cost(
            max(self.memory, other.memory),
            max(self.passes, other.passes),
            max(self.lanes, other.lanes),
        )


COST: Final = Cost(memory=64 * 1024, passes=3, lanes=1)
"""0.2 s of a processor. More lanes gain nothing where as many sign-ins run as there are cores."""

MOST: Final = Cost(memory=1024 * 1024, passes=10, lanes=8)
"""A stored hash that asks for more was not written here: it would spend the server's memory."""

_NOBODY: Final = b"\0" * SALT_BYTES


class Passwords:
    """Hashes and verifies; one for a process, whose threads share its bounds.

    argon2 lets other threads run, and each hash takes its memory for as long as it runs: hence the
    bound. Whoever waits keeps its thread.

    Args:
        cost: Of new hashes.
        at_once: How many run together.
        waiting: How many more may wait for that.
    """

    def __init__(self, cost: Cost = COST, *, at_once: int = 2, waiting: int = 16) -> None:
        self._cost = cost
        self._room = threading.BoundedSemaphore(at_once + waiting)
        self._turns = threading.BoundedSemaphore(at_once)

    def hash(self, password: bytes) -> str:
        """Hash a new password under a salt of its own; return it encoded.

        Raises:
            BusyError: Too many wait.
        """
        return self._hash(password, self._cost)

    def verify(self, password: bytes, encoded: str | None) -> bool:
        """Tell whether *password* is the one that was hashed.

        Args:
            password: As `hash` was given it.
            encoded: ``None`` for somebody who has none: the same work is done, and the answer no.

        Raises:
            BusyError: Too many wait.
        """
        # Imported late: a server starts without it, and most never check a password.
        from argon2 import Type, exceptions, low_level  # noqa: PLC0415 - as above

        cost = None if encoded is None else _cost_of(encoded)
        with self._turn():
            if encoded is None or cost is None:
                _raw(password, _NOBODY, self._cost)
                return False
            try:
                return low_level.verify_secret(encoded.encode("ascii"), password, Type.ID)
            except exceptions.VerificationError:
                return False

    def renew(self, password: bytes, encoded: str) -> str | None:
        """Hash a password again where its hash is weaker than new ones are.

        No respect in which the old hash costs more is lowered: a configuration that was made
        cheaper weakens nothing that is stored.

        Returns:
            The new hash, or ``None`` where the old one will do.

        Raises:
            BusyError: Too many wait.
        """
        cost = _cost_of(encoded)
        raised = self._cost if cost is None else cost.raised_to(self._cost)
        return None if raised == cost else self._hash(password, raised)

    def _hash(self, password: bytes, cost: Cost) -> str:
        from argon2 import PasswordHasher  # noqa: PLC0415 - as in `verify`

        hasher = PasswordHasher(
            time_cost=cost.passes,
            memory_cost=cost.memory,
            parallelism=cost.lanes,
            hash_len=TAG_BYTES,
            salt_len=SALT_BYTES,
        )
        with self._turn():
            return hasher.hash(password)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._room.acquire(blocking=False):
            raise BusyError
        try:
            with self._turns:
                yield
        finally:
            self._room.release()


def _cost_of(encoded: str) -> Cost | None:
    """Read what a hash costs; ``None`` for what no version of this program would store."""
    from argon2 import Type, exceptions, extract_parameters  # noqa: PLC0415 - as above

    try:
        found = extract_parameters(encoded if encoded.isascii() else "")
    except exceptions.InvalidHashError:
        return None
    cost = Cost(found.memory_cost, found.time_cost, found.parallelism)
    return cost if found.type is Type.ID and MOST.raised_to(cost) == MOST else None


def _raw(password: bytes, salt: bytes, cost: Cost) -> bytes:
    from argon2 import Type, low_level  # noqa: PLC0415 - as above

    return low_level.hash_secret_raw(
        password, salt, cost.passes, cost.memory, cost.lanes, TAG_BYTES, Type.ID
    )
