"""Operations: how a tenant is run, for those who run it: sizes, audit, limits, backups, jobs."""

from dataclasses import dataclass

from codeflow_memory.domain.access import Access
from codeflow_memory.domain.errors import ForbiddenError
from codeflow_memory.domain.limits import PROJECT_ENTRIES, SCOPE_BYTES
from codeflow_memory.domain.tenant import LOCAL
from codeflow_memory.services.store import Store
from codeflow_memory.storage import checkpoints, copies, operations, snapshots
from codeflow_memory.storage import migrate as migrations
from codeflow_memory.storage.engine import Transaction


@dataclass(frozen=True, slots=True)
class Use:
    """How far the fullest of its kind has come toward a limit."""

    name: str
    used: int
    maximum: int


@dataclass(frozen=True, slots=True)
class Gauges:
    """What can be measured at any moment without reading much.

    Args:
        schema: Number of the last migration.
        database_bytes: Of the database file.
        audit_rows: All of them.
        audit_checkpoints: Number of the last one.
        audit_rows_since: Rows that came after it.
        jobs_waiting: To be done, or under way.
        jobs_dead: Given up.
        limits: Of those that are the same for every project.
    """

    schema: int
    database_bytes: int
    audit_rows: int
    audit_checkpoints: int
    audit_rows_since: int
    jobs_waiting: int
    jobs_dead: int
    limits: tuple[Use, ...]


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What the home keeps, and what was last done for it.

    Args:
        last_backup: As the home's file of operations says; of the tenant `local` alone.
        last_drill: The last restore that was tried; as above.
        earlier_states: Names of what may hold deleted texts: copies of before a migration, what
            was put aside beside the databases, and for `local` the folders of restores.
    """

    last_backup: dict[str, str] | None
    last_drill: dict[str, str] | None
    earlier_states: tuple[str, ...]


def measure(store: Store, access: Access) -> Gauges:
    """Measure the tenant.

    Raises:
        ForbiddenError: The caller is no operator or owner of the whole tenant.
    """
    _require_operator(access, "read metrics")
    with store.engine.read() as tx:
        return _gauges(store, tx)


def status(store: Store, access: Access) -> tuple[Gauges, Upkeep] | None:
    """Return what operators and owners are shown of the tenant; ``None`` to everybody else.

    What concerns the whole home, other tenants too, is shown to the tenant `local` alone, which is
    that of who made the home.
    """
    if not access.operates:
        return None
    with store.engine.read() as tx:
        gauges = _gauges(store, tx)
    beside = snapshots.beside(store.home)
    if store.tenant == LOCAL:
        backup, drill = (
            operations.last(store.home, f"last_{what}") for what in ("backup", "drill")
        )
        earlier = [
            path.relative_to(store.home.path).as_posix() for path in snapshots.of(store.home)
        ]
        earlier += [kept.name for kept in beside]
        return gauges, Upkeep(backup, drill, tuple(earlier))
    own = [path.name for path in copies.kept(store.home).get(store.tenant, [])]
    own += [kept.name for kept in beside if kept.tenant == store.tenant]
    return gauges, Upkeep(None, None, tuple(own))


def _gauges(store: Store, tx: Transaction) -> Gauges:
    head = checkpoints.head(tx)
    last = checkpoints.last_of(checkpoints.file_of(store.home.database(store.tenant)))
    current = last is not None and last.restore_epoch == head.restore_epoch
    return Gauges(
        schema=migrations.version(tx),
        database_bytes=store.engine.size_bytes(),
        audit_rows=head.count,
        audit_checkpoints=0 if last is None else last.number,
        audit_rows_since=checkpoints.count_after(tx, last.count if last and current else 0),
        jobs_waiting=operations.waiting_jobs(tx),
        jobs_dead=operations.dead_jobs(tx),
        limits=(
            Use("project_entries", operations.fullest_project(tx), PROJECT_ENTRIES),
            Use("scope_bytes", operations.largest_scope(tx), SCOPE_BYTES),
        ),
    )


def _require_operator(access: Access, to: str) -> None:
    if not access.operates:
        raise ForbiddenError(f"to {to}, the role operator or owner is required")
