"""Inspection: what derived rows and counters hold, to be compared with their source."""

import hashlib
import json
from collections.abc import Iterable, Iterator

from codeflow_memory.domain.access import Scope
from codeflow_memory.storage.engine import Transaction

Term = tuple[str, str, int, int, int]
"""``(term, form, title_tf, tag_tf, body_tf)``."""


def scopes(tx: Transaction, repository_id: str) -> list[Scope]:
    """List every scope of a repository, by id: for who inspects, not for who asks."""
    rows = tx.rows(
        """
        SELECT scope_id, repository_id, project_id, audience
          FROM scopes
         WHERE repository_id = :repository_id
         ORDER BY scope_id
        """,
        {"repository_id": repository_id},
    )
    return [Scope(*row) for row in rows]


def damaged(tx: Transaction, repository_id: str) -> Iterator[tuple[str, int | None]]:
    """Yield ``(memory id, revision)`` of each text that is not the one that was stored.

    The revision is ``None`` where the entry itself is meant. Every text is read and hashed.
    """
    for memory_id, _, canonical, sha256 in _texts(tx, _ENTRY_TEXTS, repository_id):
        if hashlib.sha256(canonical.encode()).hexdigest() != sha256:
            yield memory_id, None
    for memory_id, revision, canonical, sha256 in _texts(tx, _REVISION_TEXTS, repository_id):
        if hashlib.sha256(canonical.encode()).hexdigest() != sha256:
            yield memory_id, revision


_TEXTS = 200

_ENTRY_TEXTS = """
    SELECT memory_id, revision, content, content_sha256
      FROM memories
     WHERE repository_id = :repository_id
       AND memory_id > :memory_id
       AND content IS NOT NULL
     ORDER BY memory_id
     LIMIT :limit
"""

_REVISION_TEXTS = """
    SELECT memory_id, revision, content, content_sha256
      FROM memory_revisions
     WHERE repository_id = :repository_id
       AND (memory_id, revision) > (:memory_id, :revision)
       AND content IS NOT NULL
     ORDER BY memory_id, revision
     LIMIT :limit
"""


def _texts(tx: Transaction, sql: str, repository_id: str) -> Iterator[tuple[str, int, str, str]]:
    memory_id, revision = "", 0
    while True:
        last = {"memory_id": memory_id, "revision": revision}
        page = tx.rows(sql, last | {"repository_id": repository_id, "limit": _TEXTS})
        yield from page
        if len(page) < _TEXTS:
            return
        memory_id, revision = page[-1][:2]


def counted(tx: Transaction, scope_id: int) -> tuple[int, int, int]:
    """Count a scope's live and accepted entries and canonical bytes from the entries themselves."""
    row = tx.row(
        """
        SELECT COUNT(CASE WHEN status <> 'deleted' AND kind <> 'trace' THEN 1 END),
               COUNT(CASE WHEN status = 'accepted' THEN 1 END),
               COALESCE(SUM(canonical_bytes), 0)
          FROM memories
         WHERE scope_id = :scope_id
        """,
        {"scope_id": scope_id},
    )
    assert row is not None, "an aggregate has its one row"  # noqa: S101 - an invariant
    return int(row[0]), int(row[1]), int(row[2])


def terms(
    tx: Transaction, scope_id: int, memory_id: str, keys: Iterable[tuple[str, str]]
) -> list[Term]:
    """List an entry's rows of the keyword index, for those of *keys* that it has, by key."""
    wanted = set(keys)
    rows = tx.rows(
        """
        SELECT t.term, t.form, t.title_tf, t.tag_tf, t.body_tf
          FROM json_each(:terms) AS k
         CROSS JOIN json_each(:forms) AS f
          JOIN memory_terms AS t
            ON t.scope_id = :scope_id
           AND t.term = CAST(k.value AS TEXT)
           AND t.form = CAST(f.value AS TEXT)
           AND t.memory_id = :memory_id
         ORDER BY t.term, t.form
        """,
        {
            "scope_id": scope_id,
            "memory_id": memory_id,
            "terms": json.dumps(sorted({term for term, _ in wanted}), ensure_ascii=False),
            "forms": json.dumps(sorted({form for _, form in wanted})),
        },
    )
    return [(a, b, c, d, e) for a, b, c, d, e in rows if (a, b) in wanted]


def listed(tx: Transaction, scope_id: int, memory_id: str) -> list[tuple[str, str]]:
    """List the keys that an entry is said to have in the keyword index, by key."""
    found = tx.value(
        """
        SELECT terms
          FROM memory_term_lists
         WHERE scope_id = :scope_id
           AND memory_id = :memory_id
        """,
        {"scope_id": scope_id, "memory_id": memory_id},
    )
    return sorted((term, form) for term, form in json.loads(found or "[]"))
