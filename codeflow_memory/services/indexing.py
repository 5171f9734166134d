"""Indexing: an index that older rules made is made anew from the texts, a few entries at a time.

Until that is done, the newer rules look words up among rows of both. No text, decision or manifest
is touched, so nothing of it is audited.
"""

from codeflow_memory.domain.memory import Status
from codeflow_memory.domain.terms import VERSION, document_terms
from codeflow_memory.services.store import Store
from codeflow_memory.storage import inspection, lights, memories, repositories, tenants, terms
from codeflow_memory.storage.engine import Transaction

STEP = 25
"""Entries of one transaction: writers wait for about 50 ms."""


def run(store: Store) -> int:
    """Make every accepted entry's terms anew if older rules made them; return how many it were.

    Cut off, it begins again: only at its end the store says that its index is of `terms.VERSION`.
    """
    with store.engine.read() as tx:
        if tenants.terms_version(tx) >= VERSION:
            return 0
        accepted = [
            (scope.scope_id, row.memory_id)
            for repository_id in repositories.ids(tx)
            for scope in inspection.scopes(tx, repository_id)
            for row in lights.in_statuses(tx, [scope.scope_id], [Status.ACCEPTED])
        ]
    for start in range(0, len(accepted), STEP):
        with store.engine.write() as tx:
            for scope_id, memory_id in accepted[start : start + STEP]:
                _index(store, tx, scope_id, memory_id)
    with store.engine.write() as tx:
        tenants.set_terms_version(tx, VERSION)
    return len(accepted)


def _index(store: Store, tx: Transaction, scope_id: int, memory_id: str) -> None:
    # Read again: it may have been changed since, or have left the index.
    for stored in memories.find_all(tx, [scope_id], [memory_id]):
        content = stored.memory.content
        if content is not None and stored.memory.status is Status.ACCEPTED:
            made = document_terms(
                content.title, content.tags, content.body, store.words, store.stems
            )
            terms.delete(tx, scope_id, memory_id)
            terms.insert(tx, scope_id, memory_id, made)
