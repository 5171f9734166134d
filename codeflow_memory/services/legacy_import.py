"""The import of the older ``memory.json`` (01 §11), which a crash at any point resumes or undoes.

A home is *absent* of an import until one transaction has *committed* it; then the document is
*renamed* to make room, and the first change of a record makes the import *final*. Never is the
document renamed first: until the commit it is the only copy.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path

from codeflow_memory.adapters.legacy_json import parse_document, read_document
from codeflow_memory.adapters.legacy_records import Document
from codeflow_memory.adapters.secrets import TenantKeys
from codeflow_memory.adapters.stems import SnowballStems
from codeflow_memory.domain.errors import (
    CodeflowError,
    Fault,
    ImportConflictError,
    InvalidRequestError,
    StoreUnusableError,
)
from codeflow_memory.domain.ids import Ids
from codeflow_memory.domain.strict_json import MAX_FAULTS
from codeflow_memory.services import legacy_rows
from codeflow_memory.services.legacy_mapping import find_flags
from codeflow_memory.services.legacy_rows import Source
from codeflow_memory.services.store import Store
from codeflow_memory.services.tenants import found
from codeflow_memory.storage import imports, migrate, tenants, tokens
from codeflow_memory.storage.engine import Engine, Transaction
from codeflow_memory.storage.home import LEGACY_DOCUMENT, LOCAL, Home, is_regular, sync_folder
from codeflow_memory.storage.imports import Import, State
from codeflow_memory.storage.words import UnicodeWords

COPY = LEGACY_DOCUMENT + ".pre-sqlite"
"""The document after its import, kept until a record changes."""

DATABASE_NAME = "the database of tenant local"
"""How a conflict names it: no name of a file of the server goes to a client."""

_TEMPORARY = ".memory.sqlite.import"
_INSTANCE_BYTES = 16


class Outcome(StrEnum):
    """What a call did: ``unchanged`` found nothing to do, ``conflict`` left it for a person."""

    CHECKED = "checked"
    IMPORTED = "imported"
    RESUMED = "resumed"
    UNCHANGED = "unchanged"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True)
class Report:
    """What a document holds, and what became of it.

    Args:
        outcome: See `Outcome`.
        source_sha256: Of the document's bytes, in hex; ``None`` where none was read.
        counts: Kind of record to number.
        findings: What the scanner found, ``{memory_id, rules}`` each.
        digest: Of the records as stored; ``None`` where nothing was stored.
    """

    outcome: Outcome
    source_sha256: str | None = None
    counts: dict[str, int] | None = None
    findings: tuple[imports.Finding, ...] = ()
    digest: str | None = None

    def fields(self) -> dict[str, object]:
        """Return the report as JSON values."""
        return {
            "outcome": str(self.outcome),
            "source_sha256": self.source_sha256,
            "counts": self.counts or {},
            "findings": [dict(f) for f in self.findings if f["rules"]],
            "digest": self.digest,
        }


@dataclass(frozen=True, slots=True)
class Importing:
    """One import: the home, the document's path, and what the process decides once.

    Args:
        home: Where to; made when it does not exist.
        path: The document; only the home's own is renamed.
        now: Unix microseconds, UTC.
        random_bytes: As many random bytes as asked for.
        vfs: Name of an apsw VFS, for fault tests.
    """

    home: Home
    path: Path
    now: Callable[[], int]
    random_bytes: Callable[[int], bytes] = os.urandom
    vfs: str | None = None

    @property
    def own(self) -> bool:
        """Tell whether the document is the home's own."""
        where = self.path.parent.resolve()
        return self.path.name == LEGACY_DOCUMENT and where == self.home.path.resolve()


def check(path: Path) -> Report:
    """Validate the document at *path* and report what an import would find; write nothing.

    Raises:
        NotFoundError: There is no such file.
        InvalidRequestError: With the first 100 faults.
    """
    source = _read(path)
    return Report(
        Outcome.CHECKED,
        source.sha256,
        legacy_rows.summarise(source),
        tuple({"memory_id": m, "rules": list(rules)} for m, rules in source.flags.items()),
    )


def run(
    home: Home,
    path: Path | None = None,
    *,
    now: Callable[[], int],
    random_bytes: Callable[[int], bytes] = os.urandom,
    vfs: str | None = None,
) -> Report:
    """Import a document, or bring an import that was cut off to its end.

    Args:
        home: Where to; nothing may use it meanwhile.
        path: The document; ``None`` is the home's own.
        now: Unix microseconds, UTC.
        random_bytes: As many random bytes as asked for.
        vfs: Name of an apsw VFS, for fault tests.

    Raises:
        NotFoundError: There is no document, and none was imported before.
        InvalidRequestError: With the first 100 faults; nothing was created.
        ImportConflictError: The home holds something else already; nothing was changed.
        StoreUnusableError: The home is in use, or its database is damaged.
    """
    document = home.path / LEGACY_DOCUMENT if path is None else path
    importing = Importing(home, document, now, random_bytes, vfs)
    if importing.own and not os.path.lexists(document) and home.database(LOCAL).exists():
        with home.shared():
            record = _recorded(importing)
        if record is not None:
            return _report(Outcome.UNCHANGED, record)
    source = _read(document)
    home.make()
    with home.exclusive():
        return _run(importing, source)


def settle(
    home: Home,
    *,
    now: Callable[[], int],
    random_bytes: Callable[[int], bytes] = os.urandom,
    vfs: str | None = None,
) -> Report:
    """Do at the first access of a home what its document asks for: import, resume or nothing.

    A conflict is reported, not raised: reads are served on, from the database, and the guard
    refuses every change. So is a home that is in use, whose document came meanwhile.

    Raises:
        InvalidRequestError: There is no database, and the document is not valid.
        StoreUnusableError: The database is damaged, or another process imports right now.
    """
    if not os.path.lexists(home.path / LEGACY_DOCUMENT):
        return Report(Outcome.UNCHANGED)
    importing = Importing(home, home.path / LEGACY_DOCUMENT, now, random_bytes, vfs)
    known = home.database(LOCAL).exists()
    with ExitStack() as held:
        try:
            held.enter_context(home.exclusive())
        except StoreUnusableError:
            if known:
                return Report(Outcome.CONFLICT)
            raise
        try:
            source = _read(importing.path)
        except CodeflowError:
            # What cannot be read is not what an existing database was imported from.
            if home.database(LOCAL).exists():
                return Report(Outcome.CONFLICT)
            raise
        try:
            return _run(importing, source)
        except ImportConflictError:
            return Report(Outcome.CONFLICT, source.sha256)


def conflict() -> ImportConflictError:
    """Return the refusal that names document and database."""
    return ImportConflictError(document=LEGACY_DOCUMENT, database=DATABASE_NAME)


def _read(path: Path) -> Source:
    data, sha256 = read_document(path)
    document = parse_document(data)
    faults = list(islice(_nul_faults(document), MAX_FAULTS))
    if faults:
        raise InvalidRequestError(faults)
    flags = {
        e.memory_id: found
        for e in document.entries
        if e.content is not None and (found := find_flags(e.content))
    }
    return Source(document, sha256, flags)


def _nul_faults(document: Document) -> Iterator[Fault]:
    """Yield the names that hold NUL, at which a database ends a text when it measures it."""
    detail = "must not contain NUL"
    for index, entry in enumerate(document.entries):
        named = (
            ("repo", entry.repo),
            ("projectId", entry.project_id),
            ("runId", entry.run_id),
            ("agent", entry.agent),
            ("teamId", entry.team_id),
        )
        yield from (Fault(f"/entries/{index}/{k}", detail) for k, v in named if v and "\0" in v)
    for index, receipt in enumerate(document.receipts):
        if "\0" in receipt.operation_id:
            yield Fault(f"/receipts/{index}/operationId", detail)


def _run(importing: Importing, source: Source) -> Report:
    """Import or resume; the home is held alone."""
    if importing.own:
        _check_copy(importing.home, source.sha256)
    database = importing.home.database(LOCAL)
    if not database.exists():
        record = _import_fresh(importing, source, database)
        outcome = Outcome.IMPORTED
    else:
        record, outcome = _import_beside(importing, source, database)
    if outcome is not Outcome.UNCHANGED:
        _make_room(importing, source.sha256, database)
    return _report(outcome, record)


def _import_fresh(importing: Importing, source: Source, database: Path) -> Import:
    """Make the database with the whole import in it, beside its place, and link it there.

    Of a crash nothing remains but a file that no tenant has; the next import takes it away.
    """
    temporary = database.with_name(_TEMPORARY)
    _remove_temporary(temporary)
    engine = Engine(temporary, vfs=importing.vfs)
    engine.create()
    try:
        migrate.migrate(engine)
        instance_id = importing.random_bytes(_INSTANCE_BYTES).hex()
        store = _store(importing, engine, instance_id)
        with engine.write() as tx:
            found(
                tx,
                LOCAL,
                home_key=importing.home.key(),
                instance_id=instance_id,
                ids=store.ids,
                at=store.now(),
            )
            record = legacy_rows.write(store, tx, source, store.now())
    finally:
        engine.close()
    database.hardlink_to(temporary)
    _remove_temporary(temporary)
    sync_folder(database.parent)
    return record


def _import_beside(importing: Importing, source: Source, database: Path) -> tuple[Import, Outcome]:
    """Import into a database that has no entry, or tell what became of an earlier import.

    Raises:
        ImportConflictError: It has entries of its own, or of another document, or changed since.
    """
    engine = Engine(database, vfs=importing.vfs)
    try:
        migrate.prepare(engine, check=True)
        migrate.migrate(engine)
        with engine.read() as tx:
            record, instance = imports.find(tx), tenants.find(tx)
            empty = not imports.has_memories(tx)
        if record is not None:
            return record, _resumed(importing, source, record)
        if not empty or instance is None:
            raise conflict()
        store = _store(importing, engine, instance.instance_id)
        with engine.write() as tx:
            return legacy_rows.write(store, tx, source, _moment(tx, store.now())), Outcome.IMPORTED
    finally:
        engine.close()


def _moment(tx: Transaction, now: int) -> int:
    """Return the time of the import, which is not before anything the tenant did."""
    return max(now, tokens.latest_at(tx))


def _resumed(importing: Importing, source: Source, record: Import) -> Outcome:
    if record.source_sha256 != source.sha256:
        raise conflict()
    if not importing.own:
        return Outcome.UNCHANGED
    if record.state is State.FINALISED:
        raise conflict()
    return Outcome.RESUMED


def _make_room(importing: Importing, sha256: str, database: Path) -> None:
    """Rename the home's document after the commit, durably, and record that it was.

    Raises:
        ImportConflictError: The document was changed since it was read; it stays.
    """
    home, document = importing.home, importing.path
    if importing.own:
        if read_document(document)[1] != sha256:
            raise conflict()
        try:
            document.chmod(0o600)
            document.replace(home.path / COPY)
            sync_folder(home.path)
        except OSError as error:
            raise StoreUnusableError(
                LEGACY_DOCUMENT, f"it was imported, but cannot be renamed: {error.strerror}"
            ) from error
    engine = Engine(database, vfs=importing.vfs)
    try:
        with engine.write() as tx:
            imports.mark_renamed(tx)
    finally:
        engine.close()


def _check_copy(home: Home, sha256: str) -> None:
    """Refuse to put the document over the copy of another one.

    Raises:
        StoreUnusableError: Such a copy stands there.
    """
    copy = home.path / COPY
    if os.path.lexists(copy) and (not is_regular(copy) or read_document(copy)[1] != sha256):
        raise StoreUnusableError(COPY, "it is the copy of another document; move it aside")


def _remove_temporary(temporary: Path) -> None:
    for path in (temporary, temporary.with_name(temporary.name + "-journal")):
        path.unlink(missing_ok=True)


def _recorded(importing: Importing) -> Import | None:
    engine = Engine(importing.home.database(LOCAL), vfs=importing.vfs)
    try:
        migrate.prepare(engine, check=False)
        with engine.read() as tx:
            return imports.find(tx)
    finally:
        engine.close()


def _store(importing: Importing, engine: Engine, instance_id: str) -> Store:
    return Store(
        tenant=LOCAL,
        engine=engine,
        keys=TenantKeys(importing.home.key(), instance_id),
        ids=Ids(importing.now, importing.random_bytes),
        now=importing.now,
        words=UnicodeWords(),
        stems=SnowballStems(),
        home=importing.home,
    )


def _report(outcome: Outcome, record: Import) -> Report:
    return Report(
        outcome, record.source_sha256, dict(record.counts), record.findings, record.digest
    )
