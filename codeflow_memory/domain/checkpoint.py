"""Checkpoints: what signed lines say of an audit chain, and whether chain and lines agree.

A checkpoint says how far the audit had come at some moment. The lines form a chain of their own:
each names the digest of the one before, and the audit has a row, a mark, for each line that was
written. So neither can lose its end, or be put back to what it was, without the other telling.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from codeflow_memory.domain import strict_json
from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.domain.memory import canonical_json

END = b"\n"
MAX_LINE_BYTES = 1_000
"""Far more than a line has; what is longer is none."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One line.

    Args:
        number: Its place in the file, from 1.
        at: Unix microseconds.
        count: How many rows the audit had.
        head: The hash of its last row then.
        audit_epoch: Of that row: how many home keys the database has seen.
        restore_epoch: Rises whenever a backup is put back.
        previous: The digest of the line before; empty in the first.
        signature: Keyed hash of all the rest.
    """

    number: int
    at: int
    count: int
    head: str
    audit_epoch: int
    restore_epoch: int
    previous: str
    signature: str = ""

    @property
    def epochs(self) -> tuple[int, int]:
        """Which key signed it: of lines whose epochs are the same it is the same one."""
        return self.restore_epoch, self.audit_epoch

    def unsigned(self) -> str:
        """Return what the signature is made of."""
        return canonical_json({k: v for k, v in asdict(self).items() if k != "signature"})

    def line(self) -> bytes:
        """Return the line without its end."""
        return canonical_json(asdict(self)).encode()

    def digest(self) -> str:
        """Return what the next line and the mark in the audit name this line by."""
        return hashlib.sha256(self.line()).hexdigest()

    def mark(self, place: str | None = None) -> str:
        """Return the item of the audit row that says that this line was written.

        Args:
            place: Names the home where others have the same database, and files of their own: 32
                hexadecimal digits.
        """
        return f"{self.number} {self.digest()}" + ("" if place is None else f" {place}")


def parse(line: bytes) -> Checkpoint | None:
    """Read a line; ``None`` when it is not exactly as `Checkpoint.line` writes it."""
    if len(line) > MAX_LINE_BYTES:
        return None
    try:
        raw = strict_json.parse(line, max_depth=2)
    except InvalidRequestError:
        return None
    if not isinstance(raw, dict) or set(raw) != _TYPES.keys():
        return None
    if any(type(raw[name]) is not kind for name, kind in _TYPES.items()):
        return None
    found = Checkpoint(**raw)
    return found if found.line() == line else None


_TYPES: Mapping[str, type] = {
    "number": int,
    "at": int,
    "count": int,
    "head": str,
    "audit_epoch": int,
    "restore_epoch": int,
    "previous": str,
    "signature": str,
}


@dataclass(frozen=True, slots=True)
class Ledger:
    """A file of checkpoints, as it was read.

    Args:
        present: Whether there is such a file.
        lines: One for each whole line, in order, to the first that is no checkpoint: ``None``.
        torn: Whether bytes without an end follow: an append that a power loss cut off.
    """

    present: bool
    lines: tuple[Checkpoint | None, ...]
    torn: bool

    @property
    def last(self) -> Checkpoint | None:
        """The last line."""
        return self.lines[-1] if self.lines else None


def parse_lines(pieces: Iterable[bytes]) -> Ledger:
    """Read the content of a file of checkpoints; whatever it is, it has some reading.

    Args:
        pieces: Its lines with their ends, one that is too long in parts. Of what follows the first
            that is no checkpoint nothing is read: there is no bound to it.
    """
    lines: list[Checkpoint | None] = []
    torn = False
    for piece in pieces:
        torn = not piece.endswith(END)
        if torn and len(piece) <= MAX_LINE_BYTES:
            break
        lines.append(parse(piece.removesuffix(END)))
        if lines[-1] is None:
            break
    return Ledger(present=True, lines=tuple(lines), torn=torn)


@dataclass(frozen=True, slots=True)
class Head:
    """How far an audit has come.

    Args:
        count: Rows.
        head: The hash of the last one.
        audit_epoch: How many home keys the database has seen.
        restore_epoch: Rises whenever a backup is put back.
    """

    count: int
    head: str
    audit_epoch: int
    restore_epoch: int


@dataclass(frozen=True, slots=True)
class Chain:
    """What a database says, as far as checkpoints can be compared with it.

    Args:
        head: How far it has come.
        links: Epoch and hash of the rows that checkpoints name, by sequence.
        marks: Items of the home's marks since the last restore, in order.
        restored: The restore epoch that the rows under the present key tell; -1 when none can be.
    """

    head: Head
    links: Mapping[int, tuple[int, str]]
    marks: Sequence[str]
    restored: int


@dataclass(frozen=True, slots=True)
class Disagreement:
    """What does not agree; ``number`` is the checkpoint's, ``None`` where it is no single one."""

    number: int | None
    detail: str


Verify = Callable[[Checkpoint], bool]
"""Tells whether a checkpoint is signed with the present key."""


def sign(checkpoint: Checkpoint, signature: str) -> Checkpoint:
    """Return *checkpoint* with its signature."""
    return replace(checkpoint, signature=signature)


def first_disagreement(ledger: Ledger, chain: Chain, verify: Verify) -> Disagreement | None:
    """Return the first thing in which the lines contradict each other or the database.

    Lines before the last restore are held against each other alone: the database that they speak of
    was put away. A line under another home key cannot be verified; those that follow, and the
    marks, name its digest. An earlier key may come back, after it was found or with a backup: lines
    that can be verified then stand before and behind lines that cannot.
    """
    if chain.restored != chain.head.restore_epoch:
        return Disagreement(None, "the restore epoch was changed without a restore")
    return _first_broken(ledger, chain, verify) or _first_unmarked(ledger, chain)


def _first_broken(ledger: Ledger, chain: Chain, verify: Verify) -> Disagreement | None:
    before: Checkpoint | None = None
    signed: set[tuple[int, int]] = set()
    for number, line in enumerate(ledger.lines, start=1):
        fault = _form(number, line, before)
        if fault is not None or line is None:
            return Disagreement(number, fault or _CHANGED)
        if verify(line):
            signed.add(line.epochs)
        elif line.epochs in signed or _is_of_present_key(line, chain.head):
            return Disagreement(number, _CHANGED)
        fault = _against(line, chain)
        if fault is not None:
            return Disagreement(number, fault)
        before = line
    return None


_CHANGED = "the checkpoint was changed"


def _form(number: int, line: Checkpoint | None, before: Checkpoint | None) -> str | None:
    if line is None:
        return _CHANGED
    if line.number != number:
        return "the checkpoint is missing" if line.number > number else _CHANGED
    if before is not None and line.epochs < before.epochs:
        return _CHANGED
    if line.previous != ("" if before is None else before.digest()):
        return "the checkpoint does not follow the one before it"
    return None


def _is_of_present_key(line: Checkpoint, head: Head) -> bool:
    """Tell whether no other key than the present one can have signed *line*.

    Of a line before the last restore nobody can: a backup of before a change of keys, or of another
    home, brings its key and its own count of them along.
    """
    return line.restore_epoch == head.restore_epoch and line.audit_epoch >= head.audit_epoch


def _against(line: Checkpoint, chain: Chain) -> str | None:
    """Return in which way *line* contradicts the database."""
    if line.restore_epoch > chain.head.restore_epoch:
        return "the database is older than the checkpoint: it was put back without a restore"
    if line.restore_epoch < chain.head.restore_epoch:
        return None
    if line.count > chain.head.count:
        return f"rows {chain.head.count + 1} to {line.count} are missing from the database"
    if chain.links.get(line.count) != (line.audit_epoch, line.head):
        return f"row {line.count} of the database is not the one that the checkpoint saw"
    return None


_MARK = re.compile(r"([1-9][0-9]{0,17}) ([0-9a-f]{64})(?: ([0-9a-f]{32}))?")
"""What `Checkpoint.mark` writes."""


def is_of(mark: str, place: str | None) -> bool:
    """Tell whether the line of *mark* is to be found in the file of the home *place*.

    One that names another home is not; nor, where homes share the database, one that names none: it
    is of before they did. What is no mark at all is everybody's to find.
    """
    found = _MARK.fullmatch(mark)
    return found is None or found[3] == place


def _first_unmarked(ledger: Ledger, chain: Chain) -> Disagreement | None:
    """Find a mark whose line is not there: the end of the file, or all of it, was taken away."""
    for mark in chain.marks:
        found = _MARK.fullmatch(mark)
        if found is None:
            return Disagreement(None, "a mark in the database was changed")
        place, digest = int(found[1]), found[2]
        if place > len(ledger.lines):
            told = "the checkpoint is missing" if ledger.present else "the file is missing"
            return Disagreement(place, told)
        line = ledger.lines[place - 1]
        if line is None or line.digest() != digest:
            return Disagreement(place, _CHANGED)
    return None
