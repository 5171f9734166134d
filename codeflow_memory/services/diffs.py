"""Diffs: what changed between two revisions, field by field and word by word."""

import difflib
import re
from collections.abc import Mapping

from codeflow_memory.domain.access import Access, Reach
from codeflow_memory.domain.errors import InvalidRequestError, NotFoundError
from codeflow_memory.domain.memory import Memory, Pair
from codeflow_memory.services import access as accesses
from codeflow_memory.services import views
from codeflow_memory.services.store import Store
from codeflow_memory.storage.engine import Transaction

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_MOST_WORDS = 4_000
"""A word diff costs the product of its sides: longer texts are compared by lines."""


def compare(
    store: Store, access: Access, memory_id: str, from_revision: int, to_revision: int
) -> dict[str, object]:
    """Compare two revisions of a memory that the caller may read.

    Returns:
        ``{memory_id, from, to, fields: [{field, from, to, words?}]}``; only fields that differ,
        in the order of the wire; ``words`` for title and body, as ``[op, text]`` with op ``=``,
        ``-`` or ``+``.

    Raises:
        NotFoundError: No such memory or revision for the caller.
    """
    with store.engine.read() as tx:
        reach = accesses.reach_everywhere(tx, access)
        memory = views.seen(tx, reach, memory_id).memory
        old = views.as_it_was(tx, reach, memory, from_revision)
        new = views.as_it_was(tx, reach, memory, to_revision)
    return _compared(memory_id, old, new, _states(old), _states(new))


def against_superseded(store: Store, access: Access, memory_id: str) -> dict[str, object]:
    """Compare what a memory supersedes, as its author saw it, with the memory as it stands.

    Returns:
        As `compare`, of the content alone; ``memory_id`` is of the successor, ``from`` a revision
        of the other.

    Raises:
        NotFoundError: No such memory for the caller, or what it supersedes is none.
        InvalidRequestError: It supersedes nothing.
    """
    with store.engine.read() as tx:
        reach = accesses.reach_everywhere(tx, access)
        memory = views.seen(tx, reach, memory_id).memory
        if memory.supersedes is None:
            raise InvalidRequestError.at("/from", "required: the memory supersedes nothing")
        old = _superseded(tx, reach, memory.supersedes)
    return _compared(memory_id, old, memory, _contents(old), _contents(memory))


def of_successor(tx: Transaction, reach: Reach, memory: Memory) -> dict[str, object] | None:
    """Compare as `against_superseded`; ``None`` where there is nothing that the caller reads."""
    if memory.supersedes is None:
        return None
    try:
        old = _superseded(tx, reach, memory.supersedes)
    except NotFoundError:
        return None
    return _compared(memory.memory_id, old, memory, _contents(old), _contents(memory))


def _superseded(tx: Transaction, reach: Reach, old: Pair) -> Memory:
    return views.as_it_was(tx, reach, views.seen(tx, reach, old.memory_id).memory, old.revision)


def words(old: str, new: str) -> list[list[str]]:
    """Return *new* as runs of kept, removed and added text; joined without ``-`` it is *new*."""
    a, b = _WORDS.findall(old), _WORDS.findall(new)
    if len(a) > _MOST_WORDS or len(b) > _MOST_WORDS:
        a, b = old.splitlines(keepends=True), new.splitlines(keepends=True)
    runs: list[list[str]] = []
    for op, a1, a2, b1, b2 in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if op == "equal":
            runs.append(["=", "".join(a[a1:a2])])
            continue
        if a2 > a1:
            runs.append(["-", "".join(a[a1:a2])])
        if b2 > b1:
            runs.append(["+", "".join(b[b1:b2])])
    return runs


def _field(name: str, old: object, new: object) -> dict[str, object]:
    change: dict[str, object] = {"field": name, "from": old, "to": new}
    if name in {"title", "body"} and isinstance(old, str) and isinstance(new, str):
        change["words"] = words(old, new)
    return change


def _compared(
    memory_id: str,
    old: Memory,
    new: Memory,
    before: Mapping[str, object],
    after: Mapping[str, object],
) -> dict[str, object]:
    return {
        "memory_id": memory_id,
        "from": old.revision,
        "to": new.revision,
        "fields": [
            _field(name, before.get(name), after.get(name))
            for name in {**after, **before}
            if before.get(name) != after.get(name)
        ],
    }


def _states(memory: Memory) -> dict[str, object]:
    return {
        "status": str(memory.status),
        "superseded_by": memory.superseded_by,
    } | _contents(memory)


def _contents(memory: Memory) -> dict[str, object]:
    return {} if memory.content is None else memory.content.fields()
