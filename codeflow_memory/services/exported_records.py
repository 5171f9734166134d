"""What the lines of a JSONL export say of a memory, and the fingerprint of a project's lines."""

import hashlib
from collections.abc import Iterable, Iterator
from itertools import groupby

from codeflow_memory.domain.access import Reach
from codeflow_memory.domain.memory import Content, Memory, Pair, canonical_json
from codeflow_memory.domain.times import to_rfc3339
from codeflow_memory.services import views
from codeflow_memory.storage import approvals, citations, feedback, memories, revisions
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.memories import Stored

Record = dict[str, object]

_CHUNK = 250
"""Entries read at once."""


def of_memories(
    tx: Transaction,
    where: Iterable[tuple[int, str]],
    *,
    whole: bool,
    reach: Reach | None = None,
) -> Iterator[Record]:
    """Yield the record of each memory ``(scope_id, memory_id)``.

    Args:
        tx: A transaction.
        where: Entries of any scopes; the caller may see them.
        whole: Also what others than its readers said of it: judgements with their authors.
        reach: The text of a revision that its caller may not read is left out; ``None``: none is.
    """
    for scope_id, group in groupby(sorted(where), key=lambda pair: pair[0]):
        ids = [memory_id for _, memory_id in group]
        for start in range(0, len(ids), _CHUNK):
            for stored in memories.find_all(tx, [scope_id], ids[start : start + _CHUNK]):
                yield of_memory(tx, stored, whole=whole, reach=reach)


def of_memory(tx: Transaction, stored: Stored, *, whole: bool, reach: Reach | None) -> Record:
    """Return the record of one memory; see `of_memories`."""
    memory = stored.memory
    closed = set() if reach is None else _closed(tx, reach, memory)
    where = memory.repository_id, memory.memory_id
    return {
        "record": "memory",
        **_own_fields(memory),
        "editor": stored.editor,
        "content": _fields(memory.content),
        "revisions": [
            {
                "revision": r.revision,
                "status": str(r.status),
                "superseded_by": r.superseded_by,
                "action": r.action,
                "actor": r.actor,
                "at": to_rfc3339(r.at),
                "operation_id": r.operation_id,
                "reason": r.reason,
                "content_sha256": None if r.revision in closed else r.content_sha256,
                "content": None if r.revision in closed else _fields(r.content),
                # Not known of revisions from before it was kept.
                **({} if r.trust is None else {"trust": r.trust}),
            }
            for r in revisions.find_all(tx, *where)
        ],
        "approvals": [
            {
                "revision": a.revision,
                "principal": a.principal,
                "decision": a.decision,
                "own": a.own,
                "withdrawn": a.withdrawn,
                "at": to_rfc3339(a.at),
                "comment": a.comment,
            }
            for a in approvals.find_all(tx, *where)
        ],
        "feedback": _feedback(tx, memory) if whole else [],
        "citations": [
            {
                "source": c.source,
                "blob_hash": c.blob_hash,
                "lines_hash": c.lines_hash,
                "result": c.result,
                "new_place": c.new_place,
                "checked_at": to_rfc3339(c.checked_at),
            }
            for c in citations.find_all(tx, memory.repository_id, [memory.memory_id])
        ],
    }


def fingerprint(records: Iterable[Record]) -> str:
    """Return the SHA-256 of memories' records, whatever their order."""
    digest = hashlib.sha256()
    for line in sorted(canonical_json(record) for record in records):
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def _closed(tx: Transaction, reach: Reach, memory: Memory) -> set[int]:
    """Return the revisions of *memory* that the caller may not read."""
    return set(range(1, memory.revision + 1)) - {
        r.revision for r in views.readable(tx, reach, memory)
    }


def _own_fields(memory: Memory) -> Record:
    check = memory.verification
    return {
        "id": memory.memory_id,
        "revision": memory.revision,
        "status": str(memory.status),
        "content_sha256": memory.content_sha256,
        "repository_id": memory.repository_id,
        "project_id": memory.project_id,
        "collection": str(memory.collection),
        "owner": memory.owner,
        "team_id": memory.team_id,
        "run_id": memory.run_id,
        "author": memory.author,
        "origin": memory.origin,
        "trust": memory.trust,
        **_standing(memory),
        "supersedes": _pair(memory.supersedes),
        "superseded_by": memory.superseded_by,
        "review_reason": memory.review_reason,
        "conflicts_with": list(memory.conflicts_with),
        "extractor": memory.extractor,
        "self_approved": memory.self_approved,
        "created_at": to_rfc3339(memory.created_at),
        "updated_at": to_rfc3339(memory.updated_at),
        "verification": (
            None
            if check is None
            else {
                "commit": check.commit,
                "at": to_rfc3339(check.at),
                "principal": check.principal,
                "result": check.result,
            }
        ),
    }


def _standing(memory: Memory) -> Record:
    """Return what the trust is made of, where that is not the trust itself."""
    found: Record = {}
    if memory.standing not in {None, memory.trust}:
        found["standing"] = memory.standing
    if memory.judged_at is not None and memory.judged_at != memory.created_at:
        found["judged_at"] = to_rfc3339(memory.judged_at)
    return found


def _feedback(tx: Transaction, memory: Memory) -> list[Record]:
    return [
        {
            "revision": f.revision,
            "principal": f.principal,
            "helpful": f.helpful,
            "at": to_rfc3339(f.at),
            "selection_id": f.selection_id,
            "run_id": f.run_id,
            "note": f.note,
        }
        for f in feedback.find_all(tx, memory.repository_id, memory.memory_id)
    ]


def _pair(pair: Pair | None) -> Record | None:
    return None if pair is None else {"memory_id": pair.memory_id, "revision": pair.revision}


def _fields(content: Content | None) -> Record | None:
    return None if content is None else content.fields()
