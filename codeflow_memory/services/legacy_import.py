"""The import of the older ``memory.json`` (01 §11), which a crash at any point resumes or undoes.

A home is *absent* of an import until one transaction has *committed* it; then the document is
*renamed* to make room, and the first change of a record makes the import *final*. Never is the
document renamed first: until the commit it is the only copy.
"""

import os
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from codeflow_memory.adapters.legacy_json import read_document
from codeflow_memory.adapters.secrets import TenantKeys
from codeflow_memory.adapters.stems import SnowballStems
from codeflow_memory.domain.errors import (
    CodeflowError,
    ImportConflictError,
    StoreUnusableError,
)
from codeflow_memory.domain.ids import Ids
from codeflow_memory.domain.ports import Watch, unwatched
from codeflow_memory.domain.tenant import LOCAL
from codeflow_memory.services import legacy_rows, legacy_source, rekeying
from codeflow_memory.services.legacy_report import COPY, Outcome, Report, conflict
from codeflow_memory.services.legacy_source import Source
from codeflow_memory.services.store import Store
from codeflow_memory.services.tenants import found
from codeflow_memory.storage import copies, databases, imports, migrate, tenants
from codeflow_memory.storage.databases import Databases, Files
from codeflow_memory.storage.engine import Engine, Transaction
from codeflow_memory.storage.home import LEGACY_DOCUMENT, Home, is_regular, sync_folder
from codeflow_memory.storage.imports import Import, State
from codeflow_memory.storage.words import UnicodeWords

__all__ = ["COPY", "Outcome", "Report", "check", "conflict", "run", "settle"]

_INSTANCE_BYTES = 16


@dataclass(frozen=True, slots=True)
class Importing:
    """One import: the home, the document's path, and what the process decides once.

    Args:
        home: Where to; made when it does not exist.
        databases: Those of the home.
        path: The document; only the home's own is renamed.
        now: Unix microseconds, UTC.
        random_bytes: As many random bytes as asked for.
        watch: Is shown how far it has come.
        vfs: Name of an apsw VFS, for fault tests.
    """

    home: Home
    databases: Databases
    path: Path
    now: Callable[[], int]
    random_bytes: Callable[[int], bytes] = os.urandom
    watch: Watch = unwatched
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
    source = legacy_source.read(path)
    return Report(
        Outcome.CHECKED,
        source.sha256,
        legacy_source.summarise(source),
        tuple({"memory_id": m, "rules": list(rules)} for m, rules in source.flags.items()),
    )


def run(
    home: Home,
    path: Path | None = None,
    *,
    now: Callable[[], int],
    random_bytes: Callable[[int], bytes] = os.urandom,
    vfs: str | None = None,
    watch: Watch = unwatched,
) -> Report:
    """Import a document, or bring an import that was cut off to its end.

    Args:
        home: Where to; nothing may use it meanwhile.
        path: The document; ``None`` is the home's own.
        now: Unix microseconds, UTC.
        random_bytes: As many random bytes as asked for.
        vfs: Name of an apsw VFS, for fault tests.
        watch: Is shown how far it has come.

    Raises:
        NotFoundError: There is no document, and none was imported before.
        InvalidRequestError: With the first 100 faults; nothing was created.
        ImportConflictError: The home holds something else already; nothing was changed.
        StoreUnusableError: The home is in use, or its database is damaged.
    """
    document = home.path / LEGACY_DOCUMENT if path is None else path
    with closing(databases.of(home, vfs)) as of_home:
        importing = Importing(home, of_home, document, now, random_bytes, watch, vfs)
        if importing.own and not os.path.lexists(document) and of_home.exists(LOCAL):
            with home.shared():
                record = _recorded(importing)
            if record is not None:
                return _report(Outcome.UNCHANGED, record)
        source = legacy_source.read(document)
        home.make()
        with home.exclusive():
            _check_waiting(importing, source)
            return _run(importing, source)


def _check_waiting(importing: Importing, source: Source) -> None:
    """Refuse another document while the home's own waits to be imported: neither is picked.

    Raises:
        ImportConflictError: The home's own says something else.
    """
    own = importing.home.path / LEGACY_DOCUMENT
    if importing.own or not os.path.lexists(own):
        return
    if not is_regular(own) or read_document(own)[1] != source.sha256:
        raise conflict()


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
    with ExitStack() as held:
        of_home = held.enter_context(closing(databases.of(home, vfs)))
        document = home.path / LEGACY_DOCUMENT
        importing = Importing(home, of_home, document, now, random_bytes, vfs=vfs)
        known = of_home.exists(LOCAL)
        try:
            held.enter_context(home.exclusive())
        except StoreUnusableError:
            if known:
                return Report(Outcome.CONFLICT)
            raise
        try:
            source = legacy_source.read(importing.path)
        except CodeflowError:
            # What cannot be read is not what an existing database was imported from.
            if of_home.exists(LOCAL):
                return Report(Outcome.CONFLICT)
            raise
        try:
            return _run(importing, source)
        except ImportConflictError:
            return Report(Outcome.CONFLICT, source.sha256)


def _run(importing: Importing, source: Source) -> Report:
    """Import or resume; the home is held alone."""
    # What an earlier one left that was cut off.
    importing.home.sweep()
    if not importing.databases.exists(LOCAL):
        _check_copy(importing, source)
        record = _import_fresh(importing, source)
        outcome = Outcome.IMPORTED
    else:
        record, outcome = _import_beside(importing, source)
    if outcome is not Outcome.UNCHANGED:
        _make_room(importing, source.sha256)
    return _report(outcome, record)


def _import_fresh(importing: Importing, source: Source) -> Import:
    """Make the database with the whole import in it: of a crash no tenant remains."""
    instance_id = importing.random_bytes(_INSTANCE_BYTES).hex()
    store = _store(importing, importing.databases.engine(LOCAL), instance_id)
    records = []

    def fill(tx: Transaction) -> None:
        found(
            tx,
            slug=LOCAL,
            home_key=importing.home.key(importing.databases.slugs),
            instance_id=instance_id,
            ids=store.ids,
            at=store.now(),
        )
        records.append(legacy_rows.write(store, tx, source, store.now(), importing.watch))

    importing.databases.create(LOCAL, fill)
    return records[0]


def _import_beside(importing: Importing, source: Source) -> tuple[Import, Outcome]:
    """Import into a database that has no entry, or tell what became of an earlier import.

    Raises:
        ImportConflictError: It has entries of its own, or of another document, or changed since.
    """
    engine = importing.databases.engine(LOCAL)
    try:
        migrate.prepare(engine, check=True)
        files = Files(importing.home, importing.vfs)
        migrate.upgrade(engine, lambda old: copies.make(files, LOCAL, engine, old))
        with engine.read() as tx:
            record, instance = imports.find(tx), tenants.find(tx)
            empty = not imports.has_memories(tx)
        if record is not None:
            return record, _resumed(importing, source, record)
        if not empty or instance is None:
            raise conflict()
        _check_copy(importing, source)
        store = _store(importing, engine, instance.instance_id)
        if importing.databases.shared:
            rekeying.refuse_another(store, instance)
        with engine.write() as tx:
            return legacy_rows.write(
                store, tx, source, tenants.moment(tx, store.now()), importing.watch
            ), Outcome.IMPORTED
    finally:
        engine.close()


def _resumed(importing: Importing, source: Source, record: Import) -> Outcome:
    if record.source_sha256 != source.sha256:
        raise conflict()
    if not importing.own:
        return Outcome.UNCHANGED
    if record.state is State.FINALISED or _stands_in_the_way(importing, source):
        raise conflict()
    return Outcome.RESUMED


def _make_room(importing: Importing, sha256: str) -> None:
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
    engine = importing.databases.engine(LOCAL)
    try:
        with engine.write() as tx:
            imports.mark_renamed(tx)
    finally:
        engine.close()


def _check_copy(importing: Importing, source: Source) -> None:
    """Refuse to put the home's document over the copy of another one.

    Raises:
        StoreUnusableError: Such a copy stands there.
    """
    if importing.own and _stands_in_the_way(importing, source):
        raise StoreUnusableError(COPY, "it is the copy of another document; move it aside")


def _stands_in_the_way(importing: Importing, source: Source) -> bool:
    """Tell whether something but a copy of this document has the copy's name."""
    copy = importing.home.path / COPY
    if not os.path.lexists(copy):
        return False
    return not is_regular(copy) or read_document(copy)[1] != source.sha256


def _recorded(importing: Importing) -> Import | None:
    engine = importing.databases.engine(LOCAL)
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
        keys=TenantKeys(importing.home.key(importing.databases.slugs), instance_id),
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
