"""The guard between the older ``memory.json`` and the first change of a record (01 §11)."""

import os

from codeflow_memory.domain.tenant import LOCAL
from codeflow_memory.services.legacy_report import COPY, conflict
from codeflow_memory.services.store import Guard, NoGuard
from codeflow_memory.services.tenants import GuardOf
from codeflow_memory.storage import imports
from codeflow_memory.storage.engine import Engine, Transaction
from codeflow_memory.storage.home import LEGACY_DOCUMENT, Home, sync_folder
from codeflow_memory.storage.imports import State

_SNAPSHOTS = LEGACY_DOCUMENT + ".*.tmp"
"""What an older Code Flow left when it was cut off in a write."""


class LegacyGuard:
    """`codeflow_memory.services.store.Guard` of the tenant that the document belongs to.

    Args:
        home: Where the document stood.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self._document = home.path / LEGACY_DOCUMENT
        self._without = False

    def before(self) -> None:
        """Refuse while a document stands in the home; asked anew each time, it may reappear.

        Raises:
            ImportConflictError: A document stands there.
        """
        if os.path.lexists(self._document):
            raise conflict()

    def within(self, tx: Transaction) -> None:
        """Make the import final as a record changes, and take the document's copies away first.

        A transaction that fails afterwards leaves the database as it was and the copies gone: from
        here on the way back is a backup. Without an import, or once it is final, nothing is taken
        away: what stands there then was put there by somebody else.
        """
        if self._without:
            return
        record = imports.find(tx)
        if record is None:
            # None comes while this process uses the home: an import holds it alone.
            self._without = True
            return
        # Read anew each time: an earlier call in this very transaction may yet be rolled back.
        if record.state is State.FINALISED:
            return
        self._remove_copies()
        imports.finalise(tx)

    def _remove_copies(self) -> None:
        folder = self._home.path
        for path in (folder / COPY, *folder.glob(_SNAPSHOTS)):
            if path.is_symlink() or path.is_file():
                path.unlink(missing_ok=True)
        sync_folder(folder)


def guard_of(home: Home) -> GuardOf:
    """Return what makes the guards of a home's tenants: only ``local`` had a document."""

    def made(slug: str, _: Engine) -> Guard:
        return LegacyGuard(home) if slug == LOCAL else NoGuard()

    return made
