"""Lights: the parts of entries that filters, lists and searches read instead of whole entries."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from codeflow_memory.domain.memory import Collection, Status
from codeflow_memory.storage import contents
from codeflow_memory.storage.engine import Row, Transaction


@dataclass(frozen=True, slots=True)
class Light:
    """The part of an entry that filters and lists read."""

    memory_id: str
    scope_id: int
    revision: int
    status: Status
    kind: str
    collection: Collection
    sensitivity: str
    owner: str
    updated_at: int
    valid_to: int | None
    trust: int
    tags: tuple[str, ...]
    paths: tuple[str, ...]
    branches: tuple[str, ...]
    cited: tuple[str, ...]
    characters: int


def in_statuses(
    tx: Transaction, scope_ids: Iterable[int], statuses: Iterable[Status]
) -> list[Light]:
    """List the entries of *scope_ids* in these statuses, newest change first, then by id.

    Bounded by the limits on live entries; text stays on its pages.
    """
    # CROSS JOIN: with JOIN, SQLite goes through the whole scope, whatever the statuses.
    rows = tx.rows(
        """
        SELECT m.memory_id, m.scope_id, m.revision, m.status, m.kind, m.collection,
               m.sensitivity, m.owner, m.updated_at, m.valid_to, m.trust,
               m.tags, m.paths, m.branches, m.cited, m.characters
          FROM json_each(:scopes) AS s
         CROSS JOIN json_each(:statuses) AS t
         CROSS JOIN memories AS m
         WHERE m.scope_id = CAST(s.value AS INTEGER)
           AND m.status = CAST(t.value AS TEXT)
         ORDER BY m.updated_at DESC, m.memory_id
        """,
        {
            "scopes": json.dumps(sorted(scope_ids)),
            "statuses": json.dumps(sorted(str(s) for s in statuses)),
        },
    )
    return [_light(row) for row in rows]


def find_all(tx: Transaction, scope_ids: Iterable[int], memory_ids: Iterable[str]) -> list[Light]:
    """Like `in_statuses`, for these ids only, whatever their status; by id."""
    rows = tx.rows(
        """
        SELECT m.memory_id, m.scope_id, m.revision, m.status, m.kind, m.collection,
               m.sensitivity, m.owner, m.updated_at, m.valid_to, m.trust,
               m.tags, m.paths, m.branches, m.cited, m.characters
          FROM json_each(:scopes) AS s
         CROSS JOIN json_each(:memory_ids) AS i
         CROSS JOIN memories AS m
         WHERE m.scope_id = CAST(s.value AS INTEGER)
           AND m.memory_id = CAST(i.value AS TEXT)
         ORDER BY m.memory_id
        """,
        {"scopes": json.dumps(sorted(scope_ids)), "memory_ids": json.dumps(sorted(memory_ids))},
    )
    return [_light(row) for row in rows]


@dataclass(frozen=True, slots=True)
class Text:
    """What is shown and read of an entry besides its facts."""

    revision: int
    title: str
    body: str


def texts(tx: Transaction, scope_ids: Iterable[int], memory_ids: Iterable[str]) -> dict[str, Text]:
    """Return the texts of the entries of *memory_ids* within *scope_ids*; tombstones have none."""
    found: dict[str, Text] = {}
    ids = json.dumps(sorted(memory_ids))
    for scope_id in sorted(scope_ids):
        rows = tx.rows(
            """
            SELECT m.memory_id, m.revision, m.content, m.content_sha256
              FROM json_each(:memory_ids) AS i
             CROSS JOIN memories AS m
             WHERE m.scope_id = :scope_id
               AND m.memory_id = CAST(i.value AS TEXT)
             ORDER BY m.memory_id
            """,
            {"scope_id": scope_id, "memory_ids": ids},
        )
        for memory_id, revision, content, sha256 in rows:
            if content is not None:
                fields = contents.fields(memory_id, content, sha256)
                found[memory_id] = Text(revision, fields["title"], fields["body"])
    return found


def titles(tx: Transaction, scope_ids: Iterable[int], memory_ids: Iterable[str]) -> dict[str, str]:
    """Return the titles of the entries of *memory_ids* within *scope_ids*; tombstones have none."""
    rows = tx.rows(
        """
        SELECT m.memory_id, m.title
          FROM json_each(:scopes) AS s
          JOIN json_each(:memory_ids) AS i
          JOIN memories AS m
            ON m.scope_id = CAST(s.value AS INTEGER)
           AND m.memory_id = CAST(i.value AS TEXT)
         WHERE m.title IS NOT NULL
         ORDER BY m.memory_id
        """,
        {"scopes": json.dumps(sorted(scope_ids)), "memory_ids": json.dumps(sorted(memory_ids))},
    )
    return dict(rows)


def _light(row: Row) -> Light:
    (
        memory_id, scope_id, revision, status, kind, collection, sensitivity, owner, updated_at,
        valid_to, trust, tags, paths, branches, cited, characters,
    ) = row  # fmt: skip
    return Light(
        memory_id,
        scope_id,
        revision,
        Status(status),
        kind,
        Collection(collection),
        sensitivity,
        owner,
        updated_at,
        valid_to,
        trust,
        tuple(json.loads(tags)) if tags != "[]" else (),
        tuple(json.loads(paths)) if paths != "[]" else (),
        tuple(json.loads(branches)) if branches != "[]" else (),
        tuple(json.loads(cited)) if cited != "[]" else (),
        characters,
    )
