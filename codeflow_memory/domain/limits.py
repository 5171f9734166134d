"""The product's limits on stored entries (01 §5.5)."""

from codeflow_memory.domain.memory import Collection, Kind, Memory, Status

PROJECT_ENTRIES = 5_000
"""Live project entries of one project."""

RUN_ENTRIES = 512
"""Live private and team entries of one run."""

SCOPE_BYTES = 32 * 1024 * 1024
"""Canonical JSON of one scope: live entries and tombstones."""

TOMBSTONE_BYTES = 256
"""What a tombstone counts toward the bytes of its scope: its ids, times, reason and hash."""


def counts_as_live(memory: Memory) -> bool:
    """Tell whether an entry counts toward the limits: all but the deleted, traces never."""
    if memory.content is None:
        return False
    return memory.status is not Status.DELETED and memory.content.kind is not Kind.TRACE


def counted_bytes(memory: Memory) -> int:
    """Return what an entry counts toward the bytes of its scope; a live trace counts nothing."""
    if memory.content is None:
        return TOMBSTONE_BYTES
    if memory.content.kind is Kind.TRACE:
        return 0
    return len(memory.content.canonical().encode())


def counts_for_run(memory: Memory) -> bool:
    """Tell whether an entry counts toward the limit of the run that wrote it."""
    return (
        memory.run_id is not None
        and memory.collection is not Collection.PROJECT
        and counts_as_live(memory)
    )
