"""A pair of worlds, one on each engine: what is done in both must come out alike."""

from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from typing import Any, TypeVar

from codeflow_memory.domain.access import Access, Origin
from codeflow_memory.domain.errors import CodeflowError
from codeflow_memory.services import access as accesses
from codeflow_memory.services.store import Store
from codeflow_memory.storage import principals
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.fingerprint import all_rows, of_database

from ..grounds import Ground
from ..worlds.building import Ask, Reply, Tokens, World

T = TypeVar("T")


class DifferentError(AssertionError):
    """The engines did not answer alike."""


class Pair:
    """Two worlds that have the same seeds and clocks, on files and on schemas.

    Args:
        files: Where the one stands.
        schemas: Where the other stands.
        secrets: The source of their tokens.
    """

    def __init__(self, files: Ground, schemas: Ground, secrets: Tokens) -> None:
        self.worlds = (World(files.home("files"), secrets), World(schemas.home("schemas"), secrets))
        self.asked = 0

    def close(self) -> None:
        for world in self.worlds:
            world.close()

    @property
    def ids(self) -> dict[str, str]:
        return self.worlds[0].ids

    def both(self, what: object, work: Callable[[World], T]) -> T:
        """Do *work* in both worlds and return what came of it."""
        self.asked += 1
        one, other = (work(world) for world in self.worlds)
        if one != other:
            raise DifferentError(f"{what}:\n  {one!r}\n  {other!r}")
        drawn, drawn_otherwise = (world.streams.visible.getstate() for world in self.worlds)
        if drawn != drawn_otherwise:
            raise DifferentError(f"{what}: one drew more identifiers, for work that it did again")
        return one

    def ask(self, caller: str, wanted: Ask) -> Reply:
        """Send a request of *caller* to both; status, headers and body must be the same bytes."""
        reply = self.both((caller, wanted), lambda world: world.ask(caller, wanted))
        assert reply.status < 500, (caller, wanted, reply)
        return reply

    def call(
        self, what: object, service: Callable, *arguments, tenant: str = "local", **options
    ) -> Any:
        """Call a service as the first owner; return its answer, or the words of its refusal."""

        def work(world: World) -> object:
            store = world.tenants.get(tenant)
            try:
                return plain(service(store, owner(store), *arguments, **options))
            except CodeflowError as error:
                return type(error).__name__, str(error), error.facts

        return self.both(what, work)

    def compare_rows(self) -> None:
        """See that both hold the same rows, by the fingerprint and, to say where, by each table."""
        for tenant in self.both("the tenants", lambda world: world.tenants.slugs()):
            self.both(f"the fingerprint of {tenant}", lambda w, t=tenant: self._read(w, t, rows_of))
            self.both(tenant, lambda w, t=tenant: self._read(w, t, of_database))

    @staticmethod
    def _read(world: World, tenant: str, read: Callable[[Transaction], object]) -> object:
        with world.tenants.get(tenant).engine.read() as tx:
            return read(tx)


def owner(store: Store) -> Access:
    with store.engine.read() as tx:
        first = principals.first_owner(tx)
        return accesses.of_principal(store, tx, first.principal_id, Origin.USER)


def rows_of(tx: Transaction) -> dict[str, list]:
    """Return every row, by table, in the order of the keys."""
    return {table.name: tx.rows(all_rows(table)) for table in tx.tables()}


def plain(answer: object) -> object:
    """Return an answer as values that compare by what they hold."""
    return asdict(answer) if is_dataclass(answer) and not isinstance(answer, type) else answer
