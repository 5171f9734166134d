"""Lights: the parts of entries that filters, lists and searches read instead of whole entries."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from codeflow_memory.domain.findings import is_flagged
from codeflow_memory.domain.memory import Collection, Content, Status
from codeflow_memory.storage import contents
from codeflow_memory.storage.engine import Row, Transaction


class Light(NamedTuple):
    """The part of an entry that filters and lists read.

    A tuple, because 5,000 are made at once: a dataclass took three times as long.
    """

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
    flagged: bool


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
               m.tags, m.paths, m.branches, m.cited, m.characters, m.review_reason
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
    lists = _Lists()
    return [_light(row, lists) for row in rows]


def find_all(tx: Transaction, scope_ids: Iterable[int], memory_ids: Iterable[str]) -> list[Light]:
    """Like `in_statuses`, for these ids only, whatever their status; by id."""
    rows = tx.rows(
        """
        SELECT m.memory_id, m.scope_id, m.revision, m.status, m.kind, m.collection,
               m.sensitivity, m.owner, m.updated_at, m.valid_to, m.trust,
               m.tags, m.paths, m.branches, m.cited, m.characters, m.review_reason
          FROM json_each(:scopes) AS s
         CROSS JOIN json_each(:memory_ids) AS i
         CROSS JOIN memories AS m
         WHERE m.scope_id = CAST(s.value AS INTEGER)
           AND m.memory_id = CAST(i.value AS TEXT)
         ORDER BY m.memory_id
        """,
        {"scopes": json.dumps(sorted(scope_ids)), "memory_ids": json.dumps(sorted(memory_ids))},
    )
    lists = _Lists()
    return [_light(row, lists) for row in rows]


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


@dataclass(frozen=True, slots=True)
class Whole:
    """All that a context shows of an entry: a third of what `memories.find_all` reads of it."""

    memory_id: str
    revision: int
    collection: Collection
    trust: int
    review_reason: str | None
    content_sha256: str
    content: Content


def wholes(tx: Transaction, scope_ids: Iterable[int], memory_ids: Iterable[str]) -> list[Whole]:
    """Find what a context shows of *memory_ids* within *scope_ids*, by id; tombstones have none."""
    rows = tx.rows(
        """
        SELECT m.memory_id, m.revision, m.collection, m.trust, m.review_reason,
               m.content_sha256, m.content
          FROM json_each(:scopes) AS s
         CROSS JOIN json_each(:memory_ids) AS i
         CROSS JOIN memories AS m
         WHERE m.scope_id = CAST(s.value AS INTEGER)
           AND m.memory_id = CAST(i.value AS TEXT)
           AND m.content IS NOT NULL
         ORDER BY m.memory_id
        """,
        {"scopes": json.dumps(sorted(scope_ids)), "memory_ids": json.dumps(sorted(memory_ids))},
    )
    found = []
    for memory_id, revision, collection, trust, reason, sha256, text in rows:
        content = contents.read(memory_id, text, sha256)
        if content is not None:
            of = Collection(collection)
            found.append(Whole(memory_id, revision, of, trust, reason, sha256, content))
    return found


def titles(tx: Transaction, scope_ids: Iterable[int], memory_ids: Iterable[str]) -> dict[str, str]:
    """Return the titles of the entries of *memory_ids* within *scope_ids*; tombstones have none."""
    rows = tx.rows(
        """
        SELECT m.memory_id, m.title
          FROM json_each(:scopes) AS s
         CROSS JOIN json_each(:memory_ids) AS i
          JOIN memories AS m
            ON m.scope_id = CAST(s.value AS INTEGER)
           AND m.memory_id = CAST(i.value AS TEXT)
         WHERE m.title IS NOT NULL
         ORDER BY m.memory_id
        """,
        {"scopes": json.dumps(sorted(scope_ids)), "memory_ids": json.dumps(sorted(memory_ids))},
    )
    return dict(rows)


_STATUSES = {str(status): status for status in Status}
_COLLECTIONS = {str(collection): collection for collection in Collection}


class _Lists(dict[str, tuple[str, ...]]):
    """Stored lists of text to what they say; equal ones are read once and are one tuple."""

    def __missing__(self, stored: str) -> tuple[str, ...]:
        texts = self[stored] = tuple(json.loads(stored))
        return texts


def _light(row: Row, lists: _Lists) -> Light:
    (
        memory_id, scope_id, revision, status, kind, collection, sensitivity, owner, updated_at,
        valid_to, trust, tags, paths, branches, cited, characters, review_reason,
    ) = row  # fmt: skip
    return Light(
        memory_id,
        scope_id,
        revision,
        _STATUSES[status],
        kind,
        _COLLECTIONS[collection],
        sensitivity,
        owner,
        updated_at,
        valid_to,
        trust,
        lists[tags],
        lists[paths],
        lists[branches],
        lists[cited],
        characters,
        is_flagged(review_reason),
    )
