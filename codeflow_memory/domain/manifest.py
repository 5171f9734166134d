"""A manifest: the record of one selection, from which its context can be rebuilt for ever.

It has two parts with a hash each. The *record* holds ids, revisions, numbers and hashes; the *free
text* holds what could repeat words of an entry (the query, its terms, the reasons), and goes when
an entry that the manifest lists is deleted. The manifest's own hash covers the record, the hash of
the free text and the hash of the context, so it verifies with or without the free text.
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from codeflow_memory.domain.memory import canonical_json

_NOT_HASHED = ("id", "created_at")


@dataclass(frozen=True, slots=True)
class Manifest:
    """One selection.

    Args:
        record: Canonical JSON of ids, revisions, numbers and hashes.
        free_text: Canonical JSON of query, terms and reasons; ``None`` once a memory that it
            lists was deleted.
        free_sha256: The hash of the free text as it was.
    """

    manifest_id: str
    repository_id: str
    project_id: str
    principal_id: str
    run_id: str | None
    created_at: int
    record: str
    free_text: str | None
    free_sha256: str
    context_sha256: str
    manifest_sha256: str


@dataclass(frozen=True, slots=True)
class Hashes:
    """SHA-256 of the free text, the context and the whole, 64 hex digits each."""

    free: str
    context: str
    manifest: str


@dataclass(frozen=True, slots=True)
class Sealed:
    """The canonical JSON of a manifest's record and free text, with the hashes of all."""

    record: str
    free: str
    hashes: Hashes


def seal(record: Mapping[str, object], free: Mapping[str, object], context: str) -> Sealed:
    """Write and hash the parts of a manifest; equal selections of equal states hash alike."""
    # Each value is written once, though the record is stored whole and hashed in part.
    values = _written(record)
    text = canonical_json(free)
    hashed = {name: value for name, value in values.items() if name not in _NOT_HASHED}
    free_sha256, context_sha256 = sha256(text), sha256(context)
    manifest_sha256 = _whole(_joined(hashed), free_sha256, context_sha256)
    return Sealed(_joined(values), text, Hashes(free_sha256, context_sha256, manifest_sha256))


def whole(record: Mapping[str, object], free_sha256: str, context_sha256: str) -> str:
    """Return the manifest's own hash; ``id`` and ``created_at`` are left out of it."""
    hashed = {name: value for name, value in record.items() if name not in _NOT_HASHED}
    return _whole(canonical_json(hashed), free_sha256, context_sha256)


def _whole(hashed: str, free_sha256: str, context_sha256: str) -> str:
    hashes = {"free_sha256": free_sha256, "context_sha256": context_sha256}
    return sha256(_joined(_written(hashes) | {"record": hashed}))


def _written(values: Mapping[str, object]) -> dict[str, str]:
    return {name: canonical_json(value) for name, value in values.items()}


def _joined(values: Mapping[str, str]) -> str:
    """Return the canonical JSON of an object whose values are written already."""
    return f"{{{','.join(f'{canonical_json(name)}:{values[name]}' for name in sorted(values))}}}"


def sha256(text: str) -> str:
    """Return the hash of *text* in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def for_others(record: Mapping[str, Any], free: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """Return record and free text as somebody else than their caller may read them.

    Who may see every entry of a manifest may still not see all that the caller did. Scores, counts
    and flags rest on all of it, so they are left out; a connection stays only if each memory on its
    way is listed.
    """
    listed = {entry["memory_id"] for entry in (*record["entries"], *record["omitted"])}
    public = dict(record) | {
        "filters": {n: v for n, v in record["filters"].items() if n != "removed"},
        "entries": [dict(entry) | {"score": None} for entry in record["entries"]],
        "omitted": [
            {"memory_id": omitted["memory_id"], "reason": omitted["reason"]}
            for omitted in record["omitted"]
        ],
        "truncated": {},
    }
    reasons = {
        memory_id: [_without_numbers(r) for r in found if _is_listed(r, listed)]
        for memory_id, found in free["reasons"].items()
    }
    return public, dict(free) | {"reasons": reasons}


def _without_numbers(reason: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in reason.items() if name != "boost"}


def _is_listed(reason: Mapping[str, Any], listed: Collection[str]) -> bool:
    if reason["type"] != "connection":
        return True
    way = {reason["seed"], *(hop["entity"] for hop in reason["hops"])}
    return {entity for entity in way if entity.startswith("mem_")} <= set(listed)
