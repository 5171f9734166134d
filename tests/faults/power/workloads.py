"""What runs under every harness."""

from pathlib import Path

from codeflow_memory.domain.tenant import LOCAL
from codeflow_memory.storage.migrate import migrate
from codeflow_memory.storage.sqlite import SQLiteEngine

from . import standin
from .consistency import check
from .drill import DATABASE, Step, Workload
from .legacy import IMPORT
from .product import ADMINISTRATION, MEMORIES, RETENTION, SELECTED
from .stores import make_home, opened_tenants
from .survey import opened
from .upkeep import CHECKPOINT, UPGRADE

_WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath")


def _put(number: int) -> Step:
    """Write through the product's engine, in the shape of a product's mutation."""
    body = None if number % 6 == 5 else " ".join(_WORDS[: number + 2]) * 40

    def run(home: Path, vfs: str | None) -> None:
        engine = SQLiteEngine(home / DATABASE, vfs=vfs)
        try:
            with engine.write() as tx:
                standin.put(tx._connection, f"op-{number}", f"m{number % 3}", body)
        finally:
            engine.close()

    return Step("delete" if body is None else f"put {number}", run)


def _empty_store(home: Path) -> None:
    engine = SQLiteEngine(home / DATABASE)
    engine.create()
    with engine.write() as tx:
        standin.create_schema(tx._connection)
    engine.close()


def _check_store(home: Path) -> None:
    with opened(home / DATABASE) as connection:
        standin.check(connection)


def _migrate(home: Path, vfs: str | None) -> None:
    engine = SQLiteEngine(home / DATABASE, vfs=vfs)
    try:
        if not (home / DATABASE).exists():
            engine.create()
        migrate(engine)
    finally:
        engine.close()


def _found(home: Path, vfs: str | None) -> None:
    with opened_tenants(home, vfs, 1) as tenants:
        if LOCAL not in tenants.slugs():
            tenants.create(LOCAL)


ENGINE = Workload(
    "the engine",
    _empty_store,
    tuple(_put(number) for number in range(8)),
    images=450,
    check=_check_store,
)


def _blind_put(home: Path, vfs: str | None) -> None:
    engine = SQLiteEngine(home / DATABASE, vfs=vfs)
    try:
        with engine.write() as tx:
            standin.append(tx._connection, "op", "m", "text")
    finally:
        engine.close()


def _put_in_two(home: Path, vfs: str | None) -> None:
    engine = SQLiteEngine(home / DATABASE, vfs=vfs)
    try:
        for part in ("first", "second"):
            with engine.write() as tx:
                standin.put(tx._connection, part, part, "text")
    finally:
        engine.close()


WITHOUT_RECEIPTS = Workload("no receipts", _empty_store, (Step("put", _blind_put),), images=30)
"""A control: an operation that is done again when it is asked for again."""

IN_TWO_TRANSACTIONS = Workload(
    "two transactions", _empty_store, (Step("put", _put_in_two, commits=2),), images=30
)
"""A control: an operation that is not one transaction."""

MIGRATION = Workload(
    "a migration",
    lambda _home: None,
    (Step("migrate", _migrate),),
    images=200,
)

FOUNDATION = Workload("a new tenant", make_home, (Step("create", _found),), images=300, check=check)

WORKLOADS = (
    *(ENGINE, MIGRATION, FOUNDATION, UPGRADE, CHECKPOINT, IMPORT),
    *(SELECTED, RETENTION, ADMINISTRATION, MEMORIES),
)

BY_NAME = {workload.name: workload for workload in WORKLOADS}
