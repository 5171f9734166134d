"""A tenant's store: its database, keys, clock and the ports that services work with."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from codeflow_memory.adapters.secrets import TenantKeys
from codeflow_memory.domain.ids import Ids
from codeflow_memory.domain.ports import Stems, Words
from codeflow_memory.services.uses import Uses
from codeflow_memory.services.visible import Shelf
from codeflow_memory.storage.engine import Engine, Transaction
from codeflow_memory.storage.home import Home


class Guard(Protocol):
    """What stands between an older ``memory.json`` and the first change of a record."""

    def before(self) -> None:
        """Refuse while document and database disagree; remove the copies of the old document.

        Called before the transaction of every mutation of records.

        Raises:
            ImportConflictError: The document is not what the database was imported from.
        """

    def within(self, tx: Transaction) -> None:
        """Record, in that transaction, that the import is final."""


class NoGuard:
    """The guard of a tenant that never had an older document."""

    def before(self) -> None:
        """Let every mutation pass."""

    def within(self, tx: Transaction) -> None:
        """Record nothing."""


@dataclass(frozen=True, slots=True)
class Store:
    """One tenant, opened.

    Args:
        tenant: Its slug.
        engine: Its database.
        keys: The keys of this instance.
        ids: Makes identifiers.
        now: Unix microseconds, UTC.
        words: Cuts text into words.
        stems: Reduces words to their stems.
        home: The home it lies in.
        roots: Folders under which repositories may be read; absolute.
        guard: See `Guard`.
        shelf: Keeps what selections filter.
        uses: Collects when tokens were used.
    """

    tenant: str
    engine: Engine
    keys: TenantKeys
    ids: Ids
    now: Callable[[], int]
    words: Words
    stems: Stems
    home: Home
    roots: tuple[Path, ...] = ()
    guard: Guard = field(default_factory=NoGuard)
    shelf: Shelf = field(default_factory=Shelf)
    uses: Uses = field(default_factory=Uses)
