"""Checkpoints of the audit: a file of lines beside the database, and the rows that they speak of.

The file is only ever appended to. Whoever appends holds it alone from reading its end until the
mark is in the audit, so that a reader who holds it too never sees one without the other.
"""

import errno
import fcntl
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from codeflow_memory.domain.checkpoint import (
    END,
    MAX_LINE_BYTES,
    Chain,
    Checkpoint,
    Head,
    Ledger,
    is_of,
    parse,
    parse_lines,
)
from codeflow_memory.domain.errors import StorageFullError, StoreUnusableError
from codeflow_memory.storage.audit import CHECKPOINT, KEY_CHANGE, RESTORE
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.home import sync_folder

FILE = "memory.audit"
RESTORED = "restore epoch "

_SAFELY = getattr(os, "O_NOFOLLOW", 0) | os.O_CLOEXEC | os.O_NONBLOCK
"""Follows no link, and does not wait for the other end of a pipe."""


def file_of(database: Path) -> Path:
    """Return the path of a database's checkpoints."""
    return database.with_name(FILE)


class Appending:
    """The file of checkpoints, held alone.

    Args:
        path: The file.
        handle: Its descriptor.
    """

    def __init__(self, path: Path, handle: int) -> None:
        self._path = path
        self._handle = handle

    def last(self) -> Checkpoint | None:
        """Return the last whole line; ``None`` when there is none.

        Raises:
            StoreUnusableError: It is no checkpoint: nothing may be put after it.
        """
        line = _last_line(_tail(self._handle))
        found = None if line is None else parse(line)
        if line is not None and found is None:
            raise StoreUnusableError(
                FILE, "its last line is no checkpoint; `audit verify` says more"
            )
        return found

    def append(self, checkpoint: Checkpoint) -> None:
        """Add a line, durably; what a power loss left of another is cut off before.

        Raises:
            StorageFullError: There is no room for it.
            StoreUnusableError: The disk does not take it.
        """
        try:
            self._append(checkpoint.line() + END)
        except OSError as error:
            if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                raise StorageFullError from None
            raise StoreUnusableError(FILE, f"it cannot be written: {error.strerror}") from None

    def _append(self, line: bytes) -> None:
        tail = _tail(self._handle)
        whole = os.fstat(self._handle).st_size - (len(tail) - tail.rfind(END) - 1)
        os.ftruncate(self._handle, whole)
        if os.pwrite(self._handle, line, whole) != len(line):
            # A disk that fills up in the middle; the torn line is cut off at the next attempt.
            raise StorageFullError
        os.fsync(self._handle)
        if whole == 0:
            sync_folder(self._path.parent)


@contextmanager
def appending(path: Path) -> Iterator[Appending]:
    """Hold the file alone; one that is missing is made, mode 0600.

    Raises:
        StoreUnusableError: Something else has its name.
    """
    handle = _open(path, os.O_CREAT | os.O_RDWR)
    try:
        os.fchmod(handle, 0o600)
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield Appending(path, handle)
    finally:
        os.close(handle)


@contextmanager
def reading(path: Path) -> Iterator[Ledger]:
    """Read the file, and keep others from appending to it during the block.

    Raises:
        StoreUnusableError: Something else than a file that can be read has its name.
    """
    try:
        handle = _open(path, os.O_RDONLY)
    except FileNotFoundError:
        yield Ledger(present=False, lines=(), torn=False)
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_SH)
        with os.fdopen(os.dup(handle), "rb") as file:
            ledger = parse_lines(iter(lambda: file.readline(MAX_LINE_BYTES + 1), b""))
        yield ledger
    finally:
        os.close(handle)


def last_of(path: Path) -> Checkpoint | None:
    """Read the last whole line, without waiting for one that is being written.

    Returns:
        ``None`` when there is none that can be read; `first_disagreement` finds why.
    """
    try:
        handle = _open(path, os.O_RDONLY)
    except (FileNotFoundError, StoreUnusableError):
        return None
    try:
        line = _last_line(_tail(handle))
    finally:
        os.close(handle)
    return None if line is None else parse(line)


def _tail(handle: int) -> bytes:
    """Read the end of the file: more than one line, and what was torn of another."""
    size = os.fstat(handle).st_size
    return os.pread(handle, 2 * MAX_LINE_BYTES, max(0, size - 2 * MAX_LINE_BYTES))


def _last_line(tail: bytes) -> bytes | None:
    """Return the last line of *tail* that has an end; what is too long for one counts as one."""
    end = tail.rfind(END)
    if end < 0:
        return tail if len(tail) > MAX_LINE_BYTES else None
    return tail[tail.rfind(END, 0, end) + 1 : end]


def _open(path: Path, flags: int) -> int:
    try:
        handle = os.open(path, flags | _SAFELY, 0o600)
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise StorageFullError from None
        raise StoreUnusableError(FILE, f"it cannot be opened: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise StoreUnusableError(FILE, "it is no regular file; move it aside")
    return handle


def head(tx: Transaction) -> Head:
    """Read how far the audit has come."""
    row = tx.row(
        """
        SELECT audit_count, audit_head, audit_epoch, restore_epoch
          FROM store
         WHERE singleton = 1
        """
    )
    assert row is not None, "a migrated store has its one row"  # noqa: S101 - an invariant
    return Head(*row)


def chain(tx: Transaction, ledger: Ledger, place: str | None) -> Chain:
    """Read what *ledger* is to be compared with; *place* is what marks name its home by."""
    now = head(tx)
    rows = tx.rows(
        """
        SELECT sequence, epoch, action, item, reason
          FROM audit
         WHERE action IN ('audit.checkpoint', 'store.restore', 'key.change')
         ORDER BY sequence
        """
    )
    since = max((row[0] for row in rows if row[2] == RESTORE), default=0)
    return Chain(
        head=now,
        links=_links(tx, [line.count for line in ledger.lines if line is not None]),
        marks=[
            row[3]
            for row in rows
            if row[2] == CHECKPOINT and row[0] > since and is_of(row[3], place)
        ],
        restored=_restored([row[2:] for row in rows if row[1] == now.audit_epoch]),
    )


def _restored(rows: list[tuple[str, str, str | None]]) -> int:
    """Return the restore epoch that the rows under the present key tell; -1 for what is none.

    Rows of earlier keys could be changed by now. What they told, the row of the change of keys
    repeats.
    """
    told = "0"
    for action, item, reason in rows:
        if action == RESTORE:
            told = item
        elif action == KEY_CHANGE:
            told = (reason or "0").removeprefix(RESTORED)
    return int(told) if _EPOCH.fullmatch(told) else -1


_EPOCH = re.compile(r"[0-9]{1,18}")


def restore_epoch_of(tx: Transaction) -> str:
    """Say for the row of a change of keys how often a backup was put back."""
    return f"{RESTORED}{head(tx).restore_epoch}"


def count_after(tx: Transaction, sequence: int) -> int:
    """Count the rows after *sequence* that are no marks."""
    return int(
        tx.value(
            """
            SELECT COUNT(*)
              FROM audit
             WHERE sequence > :sequence
               AND action <> 'audit.checkpoint'
            """,
            {"sequence": sequence},
        )
    )


def set_restore_epoch(tx: Transaction, epoch: int) -> None:
    """Write down that a backup was put back."""
    tx.execute("UPDATE store SET restore_epoch = :epoch WHERE singleton = 1", {"epoch": epoch})


_PAGE = 500


def _links(tx: Transaction, sequences: list[int]) -> dict[int, tuple[int, str]]:
    links: dict[int, tuple[int, str]] = {}
    for start in range(0, len(sequences), _PAGE):
        rows = tx.rows(
            """
            SELECT a.sequence, a.epoch, a.hash
              FROM json_each(:sequences) AS wanted
              JOIN audit AS a ON a.sequence = CAST(wanted.value AS INTEGER)
             ORDER BY sequence
            """,
            {"sequences": str(sequences[start : start + _PAGE])},
        )
        links |= {sequence: (epoch, link) for sequence, epoch, link in rows}
    return links
