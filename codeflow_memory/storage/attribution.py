"""Attribution: every place that names a principal, put under another one.

The audit is left out: its rows are signed, and hold ids and no names.
"""

import json

from codeflow_memory.storage.engine import Transaction


def count(tx: Transaction, repository_id: str, names: list[str]) -> int:
    """Count the entries, decisions and judgements in a repository that name any of *names*."""
    return int(
        tx.value(
            """
            SELECT (SELECT COUNT(*)
                      FROM memories
                     WHERE repository_id = :repository_id
                       AND collection <> 'private'
                       AND (owner IN (SELECT CAST(value AS TEXT) FROM json_each(:names))
                            OR author IN (SELECT CAST(value AS TEXT) FROM json_each(:names))
                            OR editor IN (SELECT CAST(value AS TEXT) FROM json_each(:names))))
                   + (SELECT COUNT(*)
                        FROM approvals
                       WHERE repository_id = :repository_id
                         AND principal IN (SELECT CAST(value AS TEXT) FROM json_each(:names)))
                   + (SELECT COUNT(*)
                        FROM feedback
                       WHERE repository_id = :repository_id
                         AND principal IN (SELECT CAST(value AS TEXT) FROM json_each(:names)))
            """,
            {"repository_id": repository_id, "names": json.dumps(names)},
        )
    )


def move(tx: Transaction, repository_id: str, names: list[str], to: str) -> None:
    """Put what is said of *names* in a repository under the principal *to*.

    Args:
        tx: The transaction.
        repository_id: The repository.
        names: The ids, and names, that stand for one principal; an import keeps names.
        to: A principal's id.
    """
    values = {"repository_id": repository_id, "names": json.dumps(names), "to": to}
    for sql in _OF_REPOSITORY:
        tx.execute(sql, values)


def move_in_tenant(tx: Transaction, principal_id: str, to: str) -> None:
    """Put what is said of a principal outside of repositories under the principal *to*."""
    for sql in _OF_TENANT:
        tx.execute(sql, {"principal_id": principal_id, "to": to})


def delete(tx: Transaction, principal_id: str) -> None:
    """Delete a principal that nothing names any more, with its tokens and receipts."""
    for sql in _OWN:
        tx.execute(sql, {"principal_id": principal_id})


_OF_REPOSITORY = (
    """
    UPDATE memories
       SET owner = CASE WHEN owner IN (SELECT CAST(value AS TEXT) FROM json_each(:names))
                        THEN :to ELSE owner END,
           author = CASE WHEN author IN (SELECT CAST(value AS TEXT) FROM json_each(:names))
                         THEN :to ELSE author END,
           editor = CASE WHEN editor IN (SELECT CAST(value AS TEXT) FROM json_each(:names))
                         THEN :to ELSE editor END
     WHERE repository_id = :repository_id
       AND (owner IN (SELECT CAST(value AS TEXT) FROM json_each(:names))
            OR author IN (SELECT CAST(value AS TEXT) FROM json_each(:names))
            OR editor IN (SELECT CAST(value AS TEXT) FROM json_each(:names)))
    """,
    """
    UPDATE memories
       SET text_hash = ''
     WHERE repository_id = :repository_id
       AND owner = :to
       AND status = 'deleted'
    """,
    """
    UPDATE approvals
       SET principal = :to
     WHERE repository_id = :repository_id
       AND principal IN (SELECT CAST(value AS TEXT) FROM json_each(:names))
    """,
    """
    UPDATE feedback
       SET principal = :to
     WHERE repository_id = :repository_id
       AND principal IN (SELECT CAST(value AS TEXT) FROM json_each(:names))
    """,
    """
    UPDATE memory_revisions
       SET actor = :to
     WHERE repository_id = :repository_id
       AND actor IN (SELECT CAST(value AS TEXT) FROM json_each(:names))
    """,
    """
    UPDATE sightings
       SET source = 'principal:' || :to
     WHERE repository_id = :repository_id
       AND source IN (SELECT 'principal:' || CAST(value AS TEXT) FROM json_each(:names))
    """,
    """
    UPDATE verifications
       SET principal = :to
     WHERE repository_id = :repository_id
       AND principal IN (SELECT CAST(value AS TEXT) FROM json_each(:names))
    """,
    """
    UPDATE runs
       SET principal_id = :to, branch = NULL
     WHERE repository_id = :repository_id
       AND principal_id IN (SELECT CAST(value AS TEXT) FROM json_each(:names))
    """,
    """
    UPDATE legal_holds
       SET placed_by = :to
     WHERE repository_id = :repository_id
       AND placed_by IN (SELECT CAST(value AS TEXT) FROM json_each(:names))
    """,
    """
    UPDATE repositories
       SET created_by = :to
     WHERE repository_id = :repository_id
       AND created_by IN (SELECT CAST(value AS TEXT) FROM json_each(:names))
    """,
    """
    UPDATE scopes
       SET audience = 'private:' || :to
     WHERE repository_id = :repository_id
       AND audience IN (SELECT 'private:' || CAST(value AS TEXT) FROM json_each(:names))
    """,
    """
    UPDATE scopes
       SET generation = generation + 1
     WHERE repository_id = :repository_id
    """,
)
"""In this order: first an entry gets its new owner.

Of a deleted text its hash goes as well, which would still tell whether a guess is right. The last
lets every process read the entries anew: whose they are has changed.
"""

_OF_TENANT = (
    "UPDATE grants SET granted_by = :to WHERE granted_by = :principal_id",
    "UPDATE tokens SET created_by = :to WHERE created_by = :principal_id",
    "UPDATE principals SET sponsor_id = :to WHERE sponsor_id = :principal_id",
    "UPDATE erasures SET erased_by = :to WHERE erased_by = :principal_id",
    """
    UPDATE receipts
       SET target_id = REPLACE(target_id, :principal_id, :to),
           outcome = REPLACE(outcome, :principal_id, :to)
     WHERE principal_id <> :principal_id
       AND (target_id = :principal_id OR outcome <> REPLACE(outcome, :principal_id, :to))
    """,
)

_OWN = (
    "DELETE FROM receipts WHERE principal_id = :principal_id",
    """
    DELETE FROM token_grants
     WHERE token_id IN (SELECT token_id FROM tokens WHERE principal_id = :principal_id)
    """,
    "DELETE FROM tokens WHERE principal_id = :principal_id",
    "DELETE FROM principals WHERE principal_id = :principal_id",
)
