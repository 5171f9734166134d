"""The table of statuses, cell by cell."""

from itertools import product

import pytest

from codeflow_memory.domain.errors import IllegalTransitionError
from codeflow_memory.domain.lifecycle import MOVES, TARGET, Action, allows, move
from codeflow_memory.domain.memory import Status

TABLE = """
proposed    accepted rejected superseded outdated deleted
accepted    superseded outdated archived rejected proposed deleted
outdated    accepted superseded rejected deleted
superseded  accepted deleted
archived    accepted deleted
rejected    deleted
deleted
"""
"""Contract 01 §4, word for word."""


def test_the_table_is_the_contracts():
    rows = [line.split() for line in TABLE.split("\n") if line]

    assert {row[0]: set(row[1:]) for row in rows} == MOVES


@pytest.mark.parametrize(("action", "status"), list(product(Action, Status)))
def test_an_action_moves_as_the_table_says_or_names_both_states(action, status):
    target = TARGET[action]
    starts = {
        Action.APPROVE: {Status.PROPOSED},
        Action.RESTORE: {Status.SUPERSEDED, Status.ARCHIVED, Status.OUTDATED},
    }.get(action, set(Status))
    if status is target:
        assert move(action, status) is None
        assert not allows(action, status)
        return
    assert allows(action, status) is (target in MOVES[status] and status in starts)
    if allows(action, status):
        assert move(action, status) is target
        return

    with pytest.raises(IllegalTransitionError) as refused:
        move(action, status)

    assert refused.value.facts == {"from": status, "to": target}
    assert str(refused.value) == f"a memory that is {status} cannot become {target}"


def test_every_move_of_the_table_has_an_action():
    reached = {
        (status, TARGET[action])
        for action, status in product(Action, Status)
        if TARGET[action] in MOVES[status]
    }

    assert reached == {(source, target) for source in MOVES for target in MOVES[source]}
