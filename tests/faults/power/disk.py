"""What a disk may hold after a power loss: replays a recording and yields the images.

A write is *pending* until its file is synced; then it is durable. A name that was made, moved or
removed is pending until its directory is synced. A power loss keeps all that is durable and, of
what is pending, whatever it likes: nothing, everything, some writes, some sectors of a write, or
noise in place of a sector that was being written. Names of one directory reach the disk in the
order in which they changed, as in a journalling file system.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from .recording import Event, Op

SECTOR_BYTES = 512

Files = dict[str, bytes]


class Loss(StrEnum):
    """Which part of the pending writes a power loss keeps."""

    NONE = "everything applied"
    PENDING = "only what was synced"
    NAMES = "all writes, names as synced"
    WRITES = "all names, writes as synced"
    SUBSET = "some of the writes"
    TORN = "some sectors of the writes"
    GARBAGE = "noise in some sectors"


FIXED = (Loss.NONE, Loss.PENDING, Loss.NAMES, Loss.WRITES)
DRAWN = (Loss.SUBSET, Loss.TORN, Loss.GARBAGE)


@dataclass(frozen=True, slots=True)
class Change:
    """A pending write, or a pending truncation to ``at`` when ``data`` is ``None``."""

    at: int
    data: bytes | None


@dataclass(slots=True, eq=False)
class Inode:
    """A file's durable bytes and what was done to it since its last sync."""

    durable: bytes = b""
    pending: list[Change] = field(default_factory=list)

    def sync(self) -> None:
        """Make everything durable."""
        self.durable = self.now()
        self.pending.clear()

    def now(self) -> bytes:
        """Return the bytes that a reader sees before any power loss."""
        content = bytearray(self.durable)
        for change in self.pending:
            _apply(content, change)
        return bytes(content)

    def after(self, loss: Loss, rng: random.Random) -> bytes:
        """Return bytes that *loss* may leave."""
        match loss:
            case Loss.NONE | Loss.NAMES:
                return self.now()
            case Loss.PENDING | Loss.WRITES:
                return self.durable
            case _:
                pass
        content = bytearray(self.durable)
        for change in self.pending:
            for part in _parts(change, loss):
                fate = rng.random()
                if loss is Loss.GARBAGE and fate < 0.2 and part.data is not None:
                    _apply(content, Change(part.at, rng.randbytes(len(part.data))))
                elif fate < 0.6:
                    _apply(content, part)
        return bytes(content)


@dataclass(slots=True)
class Disk:
    """The files of one home, as the program sees them and as the disk holds them.

    Args:
        honest: False for a disk that ignores every sync, which is what a database gets that runs
            with ``synchronous=OFF``.
        syncs_removals: False for a database that does not sync the directory after it removed the
            journal, which is what ``synchronous=FULL`` does.
    """

    durable: dict[str, Inode]
    names: dict[str, Inode]
    moves: list[tuple[str, Inode | None]] = field(default_factory=list)
    honest: bool = True
    syncs_removals: bool = True
    _last: Op | None = None

    @classmethod
    def of(cls, files: Mapping[str, bytes], **flags: bool) -> "Disk":
        """Begin with *files*, all durable."""
        inodes = {name: Inode(content) for name, content in files.items()}
        return cls(dict(inodes), dict(inodes), **flags)

    def apply(self, event: Event) -> None:
        """Do what the program did."""
        match event.op:
            case Op.WRITE | Op.TRUNCATE | Op.SYNC:
                self._change(self.names[event.name], event)
            case Op.CREATE:
                self._name(event.name, Inode())
            case Op.DELETE:
                self._name(event.name, None)
            case Op.RENAME | Op.LINK:
                self._name(event.target, self.names[event.name])
                if event.op is Op.RENAME:
                    self._name(event.name, None)
            case Op.SYNC_DIRECTORY if self.honest:
                self._sync_directory(event.name)
            case _:
                pass
        self._last = event.op

    def _change(self, inode: Inode, event: Event) -> None:
        if event.op is not Op.SYNC:
            data = event.data if event.op is Op.WRITE else None
            inode.pending.append(Change(event.at, data))
        elif self.honest:
            inode.sync()

    def _name(self, name: str, inode: Inode | None) -> None:
        _point(self.names, name, inode)
        self.moves.append((name, inode))

    def _sync_directory(self, folder: str) -> None:
        if self._last is Op.DELETE and not self.syncs_removals:
            return
        kept = []
        for name, inode in self.moves:
            if str(Path(name).parent) == folder:
                _point(self.durable, name, inode)
            else:
                kept.append((name, inode))
        self.moves = kept

    def image(self, loss: Loss, rng: random.Random) -> Files:
        """Return the files that *loss*, now, may leave."""
        names = dict(self.durable)
        if loss in {Loss.NONE, Loss.WRITES}:
            reached = len(self.moves)
        elif loss in {Loss.PENDING, Loss.NAMES}:
            reached = 0
        else:
            reached = rng.randint(0, len(self.moves))
        for name, inode in self.moves[:reached]:
            _point(names, name, inode)
        # One inode may have two names for a moment (a link); it has one content.
        contents: dict[Inode, bytes] = {}
        for inode in names.values():
            if inode not in contents:
                contents[inode] = inode.after(loss, rng)
        return {name: contents[inode] for name, inode in names.items()}


def _point(names: dict[str, Inode], name: str, inode: Inode | None) -> None:
    if inode is None:
        names.pop(name, None)
    else:
        names[name] = inode


def _apply(content: bytearray, change: Change) -> None:
    if change.data is None:
        del content[change.at :]
        content.extend(bytes(change.at - len(content)))
        return
    content.extend(bytes(max(0, change.at - len(content))))
    content[change.at : change.at + len(change.data)] = change.data


def _parts(change: Change, loss: Loss) -> Iterator[Change]:
    """Yield *change* whole, or cut where its sectors end."""
    if loss is Loss.SUBSET or change.data is None:
        yield change
        return
    start = 0
    while start < len(change.data):
        stop = start + SECTOR_BYTES - (change.at + start) % SECTOR_BYTES
        yield Change(change.at + start, change.data[start:stop])
        start = stop
