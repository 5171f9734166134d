"""Outcomes: whether what a run was given helped it."""

from codeflow_memory.domain.access import Access
from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.services import access as accesses
from codeflow_memory.services import feedback, replay, views
from codeflow_memory.services.feedback import Judgement, Standing
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.store import Store
from codeflow_memory.storage.receipts import Receipt


def give(  # noqa: PLR0913, PLR0917 - the parts of one request
    store: Store,
    access: Access,
    project_id: str,
    repo: str | None,
    memory_id: str,
    judgement: Judgement,
    operation: Operation,
) -> Standing:
    """Record whether an entry of a selection helped.

    Raises:
        NotFoundError: No such selection for the caller, or the memory is gone from its sight.
        InvalidRequestError: The selection does not hold this memory.
    """

    def work(mutation: Mutation) -> Receipt:
        tx = mutation.tx
        project = accesses.get_project(tx, mutation.access, project_id, repo)
        reach = accesses.reach(tx, mutation.access, project)
        manifest = replay.seen(tx, reach, project, judgement.selection_id or "")
        if memory_id not in replay.served(manifest):
            raise InvalidRequestError.at("/memory_id", "no entry of this selection")
        return feedback.judge(mutation, views.seen(tx, reach, memory_id), judgement)

    return mutate(store, access, operation, work, feedback.render)
