"""Every refusal has a status, an exit code and a stable word, and no table has more."""

import re

import pytest

from codeflow_memory.cli.exits import EXIT
from codeflow_memory.domain import errors
from codeflow_memory.domain.errors import CodeflowError
from codeflow_memory.http.problems import STATUS

CODES = {
    "unauthenticated": 401,
    "forbidden": 403,
    "not-found": 404,
    "invalid-request": 422,
    "revision-required": 428,
    "limit-exceeded": 413,
    "rate-limited": 429,
    "busy": 503,
    "storage-full": 507,
    "revision-conflict": 412,
    "operation-reused": 409,
    "import-conflict": 409,
    "illegal-transition": 409,
    "previously-rejected": 409,
    "legal-hold": 409,
    "stale-plan": 409,
    "undo-conflict": 409,
    "provenance-invalid": 422,
    "publication-refused": 422,
    "store-unusable": 503,
    "internal": 500,
    "method-not-allowed": 405,
    "unsupported-media-type": 415,
    "misdirected-request": 421,
    "deadline-exceeded": 504,
}
"""What clients rely on: a word that is here never changes."""


def kinds(root):
    below = set(root.__subclasses__())
    return below.union(*map(kinds, below))


def differences(table, root):
    """List what *table* lacks of the tree, and what it has beside it."""
    wanted = {kind for kind in kinds(root) if kind.__module__ == root.__module__}
    return sorted(kind.__name__ for kind in wanted ^ table.keys())


@pytest.mark.parametrize("table", [STATUS, EXIT], ids=["status", "exit code"])
def test_the_table_has_every_error_and_no_other(table):
    assert differences(table, CodeflowError) == []


@pytest.mark.parametrize("table", [STATUS, EXIT], ids=["status", "exit code"])
def test_the_check_sees_one_too_few_and_one_too_many(table):
    fewer = {kind: value for kind, value in table.items() if kind is not errors.BusyError}

    assert differences(fewer, CodeflowError) == ["BusyError"]
    assert differences({**table, KeyError: 1}, CodeflowError) == ["KeyError"]


def test_each_code_stands_for_one_error_with_the_documented_status():
    assert {kind.code: int(STATUS[kind]) for kind in kinds(CodeflowError)} == CODES


def test_the_docstring_draws_the_whole_tree():
    drawn = set(re.findall(r"``(\w+Error)``", errors.__doc__)) - {"CodeflowError"}

    assert drawn == {kind.__name__ for kind in kinds(CodeflowError)}
