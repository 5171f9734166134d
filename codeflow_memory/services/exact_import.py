"""The exact import of a JSONL export: the same ids, revisions, statuses, hashes and owners.

Each project goes into one that is empty, or that already holds exactly this; all of a file in one
transaction, proven record by record before it commits.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from codeflow_memory.adapters.exported_lines import Export, parse_export
from codeflow_memory.adapters.exported_shapes import MemoryLine
from codeflow_memory.domain.access import Access
from codeflow_memory.domain.errors import ImportConflictError, InvalidRequestError
from codeflow_memory.domain.ports import Watch, unwatched
from codeflow_memory.services import access as accesses
from codeflow_memory.services import exact_places, exact_rows
from codeflow_memory.services.administration import require_owner
from codeflow_memory.services.exported_records import fingerprint, of_memories
from codeflow_memory.services.exported_tables import visible
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.store import Store
from codeflow_memory.storage import (
    imports,
    projects,
)
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.receipts import Receipt


@dataclass(frozen=True, slots=True)
class Result:
    """How many projects were filled or were there already, and how many memories written."""

    filled: int
    unchanged: int
    memories: int


def run(
    store: Store,
    access: Access,
    data: bytes,
    operation_id: str | None = None,
    watch: Watch = unwatched,
) -> Result:
    """Import a JSONL export exactly.

    Nobody is given a role or becomes a member of a team that is there: what a file says of people
    only names them.

    Args:
        store: The tenant.
        access: Its owner.
        data: The file.
        operation_id: The caller's.
        watch: Is shown how far it has come.

    Raises:
        ForbiddenError: The caller does not own the tenant.
        InvalidRequestError: With the first 100 faults; a pointer begins with the line, from 0.
        ImportConflictError: A project holds something else.
        LimitExceededError: A project or scope would hold too much.
    """
    file = parse_export(data)

    def work(mutation: Mutation) -> Receipt:
        require_owner(mutation.access, "import exactly")
        result = _fill(mutation, file, watch)
        facts: dict[str, object] = {"filled": result.filled, "unchanged": result.unchanged}
        return Receipt("import-exact", file.sha256, result.memories, facts)

    return mutate(
        store, access, Operation(operation_id, ("import-exact", file.sha256)), work, _render
    )


def _render(_tx: Transaction, _access: Access, receipt: Receipt) -> Result:
    facts = receipt.facts
    return Result(int(str(facts["filled"])), int(str(facts["unchanged"])), receipt.revision)


def _fill(mutation: Mutation, file: Export, watch: Watch) -> Result:
    known = {line.id for _, line in file.projects}
    for number, line in file.memories:
        if line.project_id not in known:
            raise InvalidRequestError.at(f"/{number}/project_id", "names no project of the file")
    raw = dict(file.raw)
    of_project: defaultdict[str, list[tuple[int, MemoryLine]]] = defaultdict(list)
    for number, line in file.memories:
        of_project[line.project_id].append((number, line))
    exact_places.make(mutation, file)
    mutation.store.guard.within(mutation.tx)
    filled, written = 0, 0
    for _, project in file.projects:
        lines = of_project[project.id]
        for at, line in lines:
            if line.repository_id != project.repository_id:
                detail = "is not that of the memory's project"
                raise InvalidRequestError.at(f"/{at}/repository_id", detail)
        if _holds(mutation, project.repository_id, project.id, [raw[n] for n, _ in lines]):
            continue
        _check_new(mutation.tx, lines)
        exact_rows.write(mutation, lines, watch)
        exact_rows.prove(mutation.tx, lines, raw)
        mutation.record(
            "import", project.id, repository_id=project.repository_id, reason=file.sha256
        )
        filled, written = filled + 1, written + len(lines)
    return Result(filled, len(file.projects) - filled, written)


def _holds(
    mutation: Mutation, repository_id: str, project_id: str, lines: Iterable[Mapping[str, Any]]
) -> bool:
    """Tell whether a project holds exactly these lines already; else it is empty.

    Raises:
        ImportConflictError: It holds something else.
    """
    tx = mutation.tx
    if not imports.has_memories_of(tx, repository_id, project_id):
        return False
    project = projects.get(tx, repository_id, project_id)
    seen = visible(tx, accesses.reach(tx, mutation.access, project))
    ours = fingerprint(of_memories(tx, seen, whole=True))
    if ours != fingerprint(dict(line) for line in lines):
        raise ImportConflictError(document="the file", database=f"project {project_id}")
    return True


def _check_new(tx: Transaction, lines: list[tuple[int, MemoryLine]]) -> None:
    """Refuse ids that the tenant or the file has elsewhere."""
    numbers: dict[str, int] = {}
    for number, line in lines:
        if line.id in numbers:
            raise InvalidRequestError.at(f"/{number}/id", "came before")
        numbers[line.id] = number
    for memory_id in imports.known_memories(tx, numbers):
        raise InvalidRequestError.at(
            f"/{numbers[memory_id]}/id", "belongs to a memory of another project"
        )
