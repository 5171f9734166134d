"""Checkpoints: sign how far a tenant's audit has come, and hold the audit against what was signed.

Without them a chain whose end was cut off, or a whole database that was put back to what it was,
would look sound: everything that is left of it is.

Of homes that share a database each keeps a file of its own, and holds the database against that. A
mark names the home whose line it stands for, and only there the line must be.
"""

import logging
from dataclasses import dataclass

from codeflow_memory.adapters.secrets import same
from codeflow_memory.domain.access import Origin
from codeflow_memory.domain.checkpoint import (
    Checkpoint,
    Disagreement,
    Head,
    Ledger,
    first_disagreement,
    sign,
)
from codeflow_memory.domain.errors import CodeflowError
from codeflow_memory.services.store import Store
from codeflow_memory.storage import audit, checkpoints, tenants, tokens
from codeflow_memory.storage.engine import Transaction

EVERY_ROWS = 1_000
"""So many rows of audit at most come without a checkpoint."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Report:
    """What became of an audit.

    Args:
        rows: How many there are.
        order_only: So many of them were signed with an earlier home key; their order is checked.
        broken: Sequence of the first row that breaks the chain, and in which way.
        disagreement: What the checkpoints contradict.
        checkpoints: How many there are.
        last_at: When the last one was written; Unix microseconds.
        rows_since: Rows after it, which only the chain itself protects.
        torn: Whether a power loss cut off the writing of one more.
    """

    rows: int
    order_only: int
    broken: tuple[int, str] | None
    disagreement: Disagreement | None
    checkpoints: int
    last_at: int | None
    rows_since: int
    torn: bool

    @property
    def sound(self) -> bool:
        """Whether nothing was found."""
        return self.broken is None and self.disagreement is None


def write(store: Store) -> bool:
    """Sign how far the audit has come, unless nothing came since; tell whether it was done.

    The line is durable before its mark is in the audit: of a crash in between a line without a mark
    remains, which is no fault.

    Raises:
        StoreUnusableError: The file's last line is no checkpoint.
    """
    if store.home.is_ballast_spent():
        return False
    # Where the database is no file of the home, nothing made it.
    store.home.make_tenant_folder(store.tenant)
    path = checkpoints.file_of(store.home.database(store.tenant))
    with checkpoints.appending(path) as file:
        last = file.last()
        with store.engine.read() as tx:
            head = checkpoints.head(tx)
            current = last is not None and last.restore_epoch == head.restore_epoch
            rows = checkpoints.count_after(tx, last.count if last and current else 0)
        if not rows:
            return False
        made = _signed(store, head, last)
        file.append(made)
        with store.engine.write() as tx:
            _append(store, tx, audit.CHECKPOINT, made.mark(store.home.place()))
    return True


def write_or_log(store: Store) -> None:
    """Do as `write`; what hinders it is logged, and done when the next one is due.

    For callers whose own work is done: it must not fail over this.
    """
    try:
        write(store)
    except CodeflowError as error:
        _log.warning("no checkpoint: %s", error, extra={"tenant": store.tenant})


def verify(store: Store) -> Report:
    """Check the chain from its first row to its last, and every checkpoint.

    Raises:
        StoreUnusableError: The file of checkpoints cannot be read.
    """
    path = checkpoints.file_of(store.home.database(store.tenant))
    with checkpoints.reading(path) as ledger, store.engine.read() as tx:
        report = _report(store, tx, ledger)
    if not ledger.present and path.exists():
        # Its first line came while the rows were read.
        return verify(store)
    return report


def record_restore(store: Store, *, at_least: int = 1) -> int:
    """Begin the next restore epoch, after a backup was put back, and return it.

    Checkpoints of earlier epochs speak of a database that was put away, and the tokens of runs that
    were under way at the backup may be in wrong hands since: they are revoked.

    Args:
        store: The tenant that was put back.
        at_least: The epoch that it has now at least; higher than any that is known elsewhere.
    """
    with checkpoints.reading(checkpoints.file_of(store.home.database(store.tenant))) as ledger:
        seen = [0, *(line.restore_epoch for line in ledger.lines if line is not None)]
    with store.engine.write() as tx:
        epoch = max(at_least, 1 + max(*seen, checkpoints.head(tx).restore_epoch))
        checkpoints.set_restore_epoch(tx, epoch)
        tokens.revoke_of_runs(tx, tenants.moment(tx, store.now()))
        _append(store, tx, audit.RESTORE, str(epoch))
    return epoch


def _signed(store: Store, head: Head, last: Checkpoint | None) -> Checkpoint:
    made = Checkpoint(
        number=1 if last is None else last.number + 1,
        at=store.now(),
        count=head.count,
        head=head.head,
        audit_epoch=head.audit_epoch,
        restore_epoch=head.restore_epoch,
        previous="" if last is None else last.digest(),
    )
    return sign(made, store.keys.checkpoint_signature(made.unsigned()))


def _append(store: Store, tx: Transaction, action: str, item: str) -> None:
    entry = audit.Entry(
        at=tenants.moment(tx, store.now()),
        principal_id=audit.SYSTEM,
        origin=str(Origin.SYSTEM),
        batch_id=store.ids.new("bat"),
        action=action,
        item=item,
    )
    audit.append(tx, entry, store.keys.audit_hash)


def _report(store: Store, tx: Transaction, ledger: Ledger) -> Report:
    def verified(line: Checkpoint) -> bool:
        return same(store.keys.checkpoint_signature(line.unsigned()), line.signature)

    chain, last = checkpoints.chain(tx, ledger, store.home.place()), ledger.last
    current = last is not None and last.restore_epoch == chain.head.restore_epoch
    return Report(
        rows=chain.head.count,
        order_only=audit.count_earlier(tx),
        broken=audit.first_fault(tx, store.keys.audit_hash),
        disagreement=first_disagreement(ledger, chain, verified),
        checkpoints=len(ledger.lines),
        last_at=None if last is None else last.at,
        rows_since=checkpoints.count_after(tx, last.count if last and current else 0),
        torn=ledger.torn,
    )
