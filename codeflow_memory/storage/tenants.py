"""The tenant's own row: which instance this database is."""

from dataclasses import dataclass

from codeflow_memory.domain.terms import VERSION
from codeflow_memory.storage.engine import Transaction


@dataclass(frozen=True, slots=True)
class Instance:
    """What a database says of itself; its keys are derived from ``instance_id``."""

    instance_id: str
    tenant: str
    created_at: int
    key_check: str


def find(tx: Transaction) -> Instance | None:
    """Find the row; ``None`` in a database that was never filled."""
    row = tx.row("SELECT instance_id, tenant, created_at, key_check FROM store WHERE singleton = 1")
    return None if row is None else Instance(*row)


def insert(tx: Transaction, instance: Instance) -> None:
    """Write the row of a new database."""
    tx.execute(
        """
        INSERT INTO store (
            singleton, instance_id, tenant, created_at, latest_at, key_check, terms_version
        ) VALUES (
            1, :instance_id, :tenant, :created_at, :created_at, :key_check, :terms_version
        )
        """,
        {
            "instance_id": instance.instance_id,
            "tenant": instance.tenant,
            "created_at": instance.created_at,
            "key_check": instance.key_check,
            "terms_version": VERSION,
        },
    )


def terms_version(tx: Transaction) -> int:
    """Return which rules made the rows of the keyword index."""
    return int(tx.value("SELECT terms_version FROM store WHERE singleton = 1"))


def set_terms_version(tx: Transaction, version: int) -> None:
    """Note that the rules *version* made every row of the keyword index."""
    tx.execute(
        "UPDATE store SET terms_version = :version WHERE singleton = 1", {"version": version}
    )


def scanned_by(tx: Transaction) -> str | None:
    """Return which catalogue of the scanner last read what is in service."""
    found: str | None = tx.value("SELECT scanned_by FROM store WHERE singleton = 1")
    return found


def set_scanned_by(tx: Transaction, catalogue: str) -> None:
    """Note that *catalogue* has read what is in service."""
    tx.execute(
        "UPDATE store SET scanned_by = :catalogue WHERE singleton = 1", {"catalogue": catalogue}
    )


def begin_epoch(tx: Transaction, key_check: str) -> None:
    """Go on under another home key: from here on the audit is signed with it."""
    tx.execute(
        """
        UPDATE store
           SET audit_epoch = audit_epoch + 1, key_check = :key_check
         WHERE singleton = 1
        """,
        {"key_check": key_check},
    )


def moment(tx: Transaction, now: int) -> int:
    """Return the time of this mutation: at least the latest one seen, whatever the clock does."""
    row = tx.row(
        """
        UPDATE store
           SET latest_at = CASE WHEN latest_at < :now THEN :now ELSE latest_at END
         WHERE singleton = 1
        RETURNING latest_at
        """,
        {"now": now},
    )
    return now if row is None else int(row[0])
