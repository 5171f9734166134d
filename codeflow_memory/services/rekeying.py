"""Rekeying: a tenant that comes to a home with another key goes on under that key (01 §1).

What the old key signed cannot be checked or matched any more: tokens are revoked, receipts go, the
audit begins a new epoch, and the hashes by which equal texts are known are made again.

A database that several homes share has one key with all of them: a home with another came by a
slip and is refused. `codeflow-memory tenant rekey` changes the key while nobody uses the database.
"""

from codeflow_memory.domain.access import Access, Origin
from codeflow_memory.domain.errors import StoreUnusableError
from codeflow_memory.services import governance
from codeflow_memory.services.mutation import Mutation
from codeflow_memory.services.store import Store
from codeflow_memory.storage import (
    audit,
    checkpoints,
    memories,
    receipts,
    repositories,
    tenants,
    tokens,
)
from codeflow_memory.storage.tenants import Instance


def refuse_another(store: Store, instance: Instance) -> None:
    """Refuse the home's key when the database has another.

    Raises:
        StoreUnusableError: It has.
    """
    if store.keys.check() != instance.key_check:
        raise StoreUnusableError(
            store.engine.name,
            "it has another home key; copy the file `key` of the home that made it to this one",
        )


def run(store: Store) -> None:
    """Bring the tenant under the home's key, in one transaction."""
    with store.engine.write() as tx:
        at = tenants.moment(tx, store.now())
        tenants.begin_epoch(tx, store.keys.check())
        tokens.revoke_all(tx, at)
        receipts.delete_all(tx)
        for repository_id in repositories.ids(tx):
            for memory in memories.of_repository(tx, repository_id):
                if memory.content is not None:
                    text_hash = governance.hash_text(store, memory.content)
                    memories.set_text_hash(tx, repository_id, memory.memory_id, text_hash)
        mutation = Mutation(store, tx, system(store), store.ids.new("op"), store.ids.new("bat"), at)
        epoch = checkpoints.restore_epoch_of(tx)
        mutation.record(audit.KEY_CHANGE, store.tenant, reason=epoch)


def system(store: Store) -> Access:
    """Return the access under which the program itself acts: no role, and on record."""
    return Access(
        tenant=store.tenant,
        principal_id=audit.SYSTEM,
        person=False,
        grants=frozenset(),
        teams=frozenset(),
        origin=Origin.SYSTEM,
    )
