"""Passwords: one a person at most, as an encoded hash."""

from codeflow_memory.storage.engine import Transaction


def find(tx: Transaction, principal_id: str) -> str | None:
    """Find the encoded hash of a principal's password."""
    row = tx.row(
        "SELECT encoded FROM passwords WHERE principal_id = :principal_id",
        {"principal_id": principal_id},
    )
    return None if row is None else str(row[0])


def put(tx: Transaction, principal_id: str, encoded: str, at: int) -> None:
    """Give a principal its password, in the place of an earlier one."""
    tx.execute(
        """
        INSERT INTO passwords (principal_id, encoded, set_at)
        VALUES (:principal_id, :encoded, :at)
            ON CONFLICT (principal_id) DO UPDATE
           SET encoded = excluded.encoded,
               set_at = excluded.set_at
        """,
        {"principal_id": principal_id, "encoded": encoded, "at": at},
    )


def renew(tx: Transaction, principal_id: str, old: str, new: str) -> bool:
    """Put a stronger hash of the same password in the place of *old*, if it is still that one."""
    changed = tx.execute(
        """
        UPDATE passwords
           SET encoded = :new
         WHERE principal_id = :principal_id
           AND encoded = :old
        """,
        {"principal_id": principal_id, "old": old, "new": new},
    )
    return changed == 1


def delete(tx: Transaction, principal_id: str) -> None:
    """Take a principal's password away, if it has one."""
    tx.execute(
        "DELETE FROM passwords WHERE principal_id = :principal_id", {"principal_id": principal_id}
    )
