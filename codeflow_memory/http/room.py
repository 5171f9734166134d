"""The connections that a server holds: so many of a peer, so many in all.

When it is full, a newcomer is not the one to suffer: whoever fills a server with connections on
which nothing comes would keep everybody else out of it for the length of a deadline, again and
again. So the one gives way that has waited longest for its client.
"""

from collections import Counter
from typing import Protocol


class Held(Protocol):
    """A connection as `Room` knows it."""

    @property
    def peer(self) -> str:
        """The address of the other side."""

    @property
    def waiting_since(self) -> float | None:
        """When it began to wait for its client; ``None`` while a request of it is worked on."""

    def give_way(self) -> None:
        """End at once."""


class Room:
    """The room of one server; used from its event loop alone.

    Args:
        connections: In all.
        per_peer: From one address.
    """

    def __init__(self, connections: int, per_peer: int) -> None:
        self._connections = connections
        self._per_peer = per_peer
        self._held: set[Held] = set()
        self._of_peer: Counter[str] = Counter()

    def enter(self, newcomer: Held) -> bool:
        """Let *newcomer* in, in the place of another where the room is full.

        Returns:
            Whether it came in: not where its peer has its share, or all that are in are at work.
        """
        if self._of_peer[newcomer.peer] >= self._per_peer:
            return False
        if len(self._held) >= self._connections and not self._make_way():
            return False
        self._held.add(newcomer)
        self._of_peer[newcomer.peer] += 1
        return True

    def leave(self, connection: Held) -> None:
        """Forget a connection; one that is not in changes nothing."""
        if connection not in self._held:
            return
        self._held.remove(connection)
        self._of_peer[connection.peer] -= 1
        if not self._of_peer[connection.peer]:
            del self._of_peer[connection.peer]

    def _make_way(self) -> bool:
        """End the one that waits longest, of the peers that hold the most."""
        waiting = [
            (-self._of_peer[held.peer], since, held)
            for held in self._held
            if (since := held.waiting_since) is not None
        ]
        if not waiting:
            return False
        *_, chosen = min(waiting, key=lambda row: row[:2])
        self.leave(chosen)
        chosen.give_way()
        return True
