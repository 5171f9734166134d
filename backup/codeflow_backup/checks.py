"""What is true of every sound database, whoever wrote it: its structure, and rows that agree.

What was derived from memories is compared with them as far as SQL can tell; the server's ``doctor``
recomputes the rest.
"""

import hashlib
from collections.abc import Mapping

import apsw

from codeflow_backup.errors import DamagedError


def check_integrity(connection: apsw.Connection, name: str) -> None:
    """Refuse a database whose pages, rows and indexes do not fit together.

    Raises:
        DamagedError: They do not.
    """
    found = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if found != ("ok",):
        raise DamagedError(f"{name} is damaged: SQLite's check of its structure fails")


def check_content(connection: apsw.Connection, name: str) -> None:
    """Refuse a database in which rows point nowhere or disagree with what they were made from.

    Raises:
        DamagedError: The first that is found.
    """
    if connection.execute("PRAGMA foreign_key_check").fetchone() is not None:
        raise DamagedError(f"{name} is damaged: a row belongs to another that is not there")
    for fault, statement in _FAULTS.items():
        if connection.execute(statement).fetchone() is not None:
            raise DamagedError(f"{name} is damaged: {fault}")
    _check_texts(connection, name)
    _check_audit(connection, name)


_FAULTS: Mapping[str, str] = {
    "a term belongs to no accepted memory": """
        SELECT 1
          FROM memory_terms AS t
         WHERE NOT EXISTS (SELECT 1
                             FROM memories AS m
                            WHERE m.scope_id = t.scope_id
                              AND m.memory_id = t.memory_id
                              AND m.status = 'accepted')
         LIMIT 1
    """,
    "a list of terms belongs to no accepted memory": """
        SELECT 1
          FROM memory_term_lists AS l
         WHERE NOT EXISTS (SELECT 1
                             FROM memories AS m
                            WHERE m.scope_id = l.scope_id
                              AND m.memory_id = l.memory_id
                              AND m.status = 'accepted')
         LIMIT 1
    """,
    "an accepted memory has no list of terms": """
        SELECT 1
          FROM memories AS m
         WHERE m.status = 'accepted'
           AND NOT EXISTS (SELECT 1
                             FROM memory_term_lists AS l
                            WHERE l.scope_id = m.scope_id
                              AND l.memory_id = m.memory_id)
         LIMIT 1
    """,
    "a listed term is missing": """
        SELECT 1
          FROM memory_term_lists AS l
          JOIN json_each(l.terms) AS k
         WHERE NOT EXISTS (SELECT 1
                             FROM memory_terms AS t
                            WHERE t.scope_id = l.scope_id
                              AND t.term = CAST(json_extract(k.value, '$[0]') AS TEXT)
                              AND t.form = CAST(json_extract(k.value, '$[1]') AS TEXT)
                              AND t.memory_id = l.memory_id)
         LIMIT 1
    """,
    "a term is in no list": """
        SELECT 1
         WHERE (SELECT COUNT(*) FROM memory_terms)
               <> (SELECT COALESCE(SUM(json_array_length(terms)), 0) FROM memory_term_lists)
    """,
    "an edge belongs to no memory at its revision": """
        SELECT 1
          FROM relationships AS r
         WHERE NOT EXISTS (SELECT 1
                             FROM memories AS m
                            WHERE m.scope_id = r.scope_id
                              AND m.memory_id = r.memory_id
                              AND m.revision = r.memory_revision)
         LIMIT 1
    """,
    "an edge leads nowhere": """
        SELECT 1
          FROM relationships AS r
         WHERE NOT EXISTS (SELECT 1 FROM entities AS e WHERE e.entity_id = r.target)
         LIMIT 1
    """,
    "an entity has no edge": """
        SELECT 1
          FROM entities
         WHERE entity_id NOT IN (SELECT target FROM relationships)
         LIMIT 1
    """,
    "the counters of a scope are not those of its memories": """
        SELECT 1
          FROM scopes AS s
          LEFT JOIN (SELECT scope_id,
                            SUM(status <> 'deleted' AND kind <> 'trace') AS live,
                            SUM(status = 'accepted') AS accepted,
                            SUM(canonical_bytes) AS bytes
                       FROM memories
                      GROUP BY scope_id) AS m
            ON m.scope_id = s.scope_id
         WHERE s.live_entries <> COALESCE(m.live, 0)
            OR s.accepted_entries <> COALESCE(m.accepted, 0)
            OR s.canonical_bytes <> COALESCE(m.bytes, 0)
         LIMIT 1
    """,
}
"""What would be wrong, and a statement that finds a row exactly when it is."""


def _check_texts(connection: apsw.Connection, name: str) -> None:
    """Compare the text of every memory and revision with the hash that was stored beside it."""
    for table in ("memories", "memory_revisions"):
        rows = connection.execute(
            f"SELECT content, content_sha256 FROM {table} WHERE content IS NOT NULL"  # noqa: S608 - one of two literals
        )
        for content, sha256 in rows:
            if hashlib.sha256(str(content).encode()).hexdigest() != sha256:
                raise DamagedError(f"{name} is damaged: a text is not the one that was stored")


def _check_audit(connection: apsw.Connection, name: str) -> None:
    """Follow the audit's chain from its first row to the head that the store names.

    Whether a row was signed with the home's key is for the server's ``audit verify``.
    """
    count, head = 0, ""
    rows = connection.execute("SELECT sequence, previous_hash, hash FROM audit ORDER BY sequence")
    for sequence, previous, digest in rows:
        count += 1
        if sequence != count or previous != head:
            raise DamagedError(f"{name} is damaged: the audit breaks at row {count}")
        head = str(digest)
    stored = connection.execute(
        "SELECT audit_count, audit_head FROM store WHERE singleton = 1"
    ).fetchone()
    if stored != (count, head):
        raise DamagedError(f"{name} is damaged: the audit's last rows are missing")
