"""Opens every power-loss image of a recording with plain SQLite and compares it with the truth."""

import hashlib
import random
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from .disk import DRAWN, FIXED, Disk, Files, Loss
from .recording import Event, Op, Recording


@dataclass(frozen=True, slots=True)
class Image:
    """Files that a power loss after ``point`` operations may leave."""

    point: int
    loss: Loss
    seed: int
    files: Files
    acknowledged: int

    def __str__(self) -> str:
        return f"point {self.point}, {self.loss}, seed {self.seed}, acked {self.acknowledged}"


Oracle = Callable[[apsw.Connection, Image], None]
"""Given an opened image and where it comes from: raises AssertionError."""


@dataclass(slots=True)
class Survey:
    """What was looked at, and what was wrong: a sentence for each failing image."""

    points: int = 0
    images: int = 0
    rolled_back: int = 0
    failures: list[str] = field(default_factory=list)

    def __iadd__(self, other: "Survey") -> "Survey":
        self.points += other.points
        self.images += other.images
        self.rolled_back += other.rolled_back
        self.failures += other.failures
        return self

    def __str__(self) -> str:
        first = "".join(f"\n  {failure}" for failure in self.failures[:10])
        return (
            f"{self.points} points, {self.images} images, {self.rolled_back} with a journal, "
            f"{len(self.failures)} failures{first}"
        )


def images_of(
    recording: Recording,
    *,
    seed: int,
    draws: int,
    acknowledged: int = 0,
    flags: Mapping[str, bool] | None = None,
) -> Iterator[Image]:
    """Yield the distinct images of every operation point.

    Args:
        recording: What ran.
        seed: Makes the drawn images reproducible.
        draws: How many images with drawn parts a point adds to the fixed ones.
        acknowledged: How many operations were acknowledged before the recording began.
        flags: Arguments of `Disk`, for the controls.
    """
    disk = Disk.of(recording.before, **(flags or {}))
    seen: set[tuple[bytes, int]] = set()
    for point, event in enumerate(recording.events, start=1):
        disk.apply(event)
        acknowledged += event.op is Op.ACKNOWLEDGE
        losses = [*FIXED, *(DRAWN[(point + draw) % len(DRAWN)] for draw in range(draws))]
        for draw, loss in enumerate(losses):
            number = seed * 1_000_003 + point * 101 + draw
            rng = random.Random(number)  # noqa: S311 - reproducible noise, not a secret
            files = disk.image(loss, rng)
            key = _digest_of_files(files), acknowledged
            if key not in seen:
                seen.add(key)
                yield Image(point, loss, number, files, acknowledged)


def survey(
    images: Iterator[Image],
    folder: Path,
    oracle: Oracle,
    *,
    database: str = "memory.sqlite",
    keep: bool = True,
) -> Survey:
    """Open each image in a fresh folder and ask *oracle*; failing images stay in *folder*.

    ``quick_check`` comes first. Pass ``keep=False`` where failures are expected.
    """
    result = Survey()
    for number, image in enumerate(images):
        place = folder / f"image-{number}"
        result.images += 1
        result.points = max(result.points, image.point)
        result.rolled_back += f"{database}-journal" in image.files
        failure = _failure(image, place, oracle, database)
        if failure is not None:
            result.failures.append(f"{image}: {failure}")
        if failure is None or not keep:
            shutil.rmtree(place)
    return result


def _failure(image: Image, place: Path, oracle: Oracle, database: str) -> str | None:
    lay_out(image.files, place)
    try:
        with opened(place / database) as connection:
            verdict = connection.pragma("quick_check")
            if verdict != "ok":
                return f"quick_check: {verdict}"
            oracle(connection, image)
    except (apsw.Error, AssertionError) as error:
        return f"{type(error).__name__}: {str(error)[:300]}"
    return None


def lay_out(files: Mapping[str, bytes], place: Path) -> None:
    """Write *files* into the fresh folder *place*."""
    place.mkdir(parents=True)
    for name, content in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


@contextmanager
def opened(path: Path) -> Iterator[apsw.Connection]:
    """Open a plain connection to *path* and close it at the end of the block.

    Looking makes no file: where there is none, an empty database is shown.
    """
    connection = apsw.Connection(str(path) if path.exists() else ":memory:")
    try:
        # An image is looked at once; that its recovery is durable does not matter here.
        connection.pragma("synchronous", "OFF")
        yield connection
    finally:
        connection.close()


def content_of(connection: apsw.Connection) -> dict[str, list[tuple[object, ...]]]:
    """Read every row of every table, each table's rows in the order of their text."""
    tables = [
        name
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
        )
    ]
    return {
        table: sorted(
            connection.execute(f'SELECT * FROM "{table}"').fetchall(),  # noqa: S608 - own names
            key=repr,
        )
        for table in tables
    }


def digest_of(connection: apsw.Connection) -> str:
    """Return one hash of all that `content_of` reads."""
    return hashlib.sha256(repr(content_of(connection)).encode()).hexdigest()


def _commits(event: Event, database: str) -> bool:
    if event.op in {Op.LINK, Op.RENAME}:
        return event.target == database
    return event.op is Op.DELETE and event.name == f"{database}-journal"


def _digest_of_files(files: Files) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(files):
        digest.update(f"{name}\0{len(files[name])}\0".encode())
        digest.update(files[name])
    return digest.digest()


class Commits:
    """The committed states of a recording, and which of them an image may show.

    A commit is the removal of the journal, or the arrival of a whole new database. Between an
    acknowledgement and the next commit the store shows what was acknowledged; while a commit is
    under way, that or what it leads to: everything of an operation, or nothing of it, in every
    table.
    """

    def __init__(self, recording: Recording, folder: Path, database: str = "memory.sqlite") -> None:
        self.states: list[str] = []
        self.at_acknowledgement: list[int] = []
        disk = Disk.of(recording.before)
        self._note(disk, folder / "state", database)
        self.at_acknowledgement.append(0)
        for event in recording.events:
            disk.apply(event)
            if _commits(event, database):
                self._note(disk, folder / "state", database)
            elif event.op is Op.ACKNOWLEDGE:
                self.at_acknowledgement.append(len(self.states) - 1)

    def _note(self, disk: Disk, place: Path, database: str) -> None:
        lay_out(disk.image(Loss.NONE, random.Random(0)), place)  # noqa: S311 - nothing is drawn
        with opened(place / database) as connection:
            self.states.append(digest_of(connection))
        shutil.rmtree(place)

    def check(self, connection: apsw.Connection, image: Image) -> None:
        """Raise AssertionError unless the image shows a state that it may show."""
        acknowledged = image.acknowledged
        first = self.at_acknowledgement[acknowledged]
        following = self.at_acknowledgement[acknowledged + 1 : acknowledged + 2]
        last = following[0] if following else len(self.states) - 1
        digest = digest_of(connection)
        if digest in self.states[first : last + 1]:
            return
        if digest in self.states[:first]:
            raise AssertionError("an acknowledged operation is lost")
        raise AssertionError("a state that was never committed")
