"""Why an entry waits, and in which order."""

import pytest

from codeflow_memory.domain.queue import NEW, RANKS, rank, reasons_of, risk, word


@pytest.mark.parametrize(
    ("stored", "conflicts", "supersedes", "reasons"),
    [
        (None, False, False, (NEW,)),
        ("trust", False, False, ("trust",)),
        (None, True, True, ("conflict", "successor")),
        ("similar:mem_1", False, True, ("successor", "similar:mem_1")),
        ("conflict:mem_1", True, False, ("conflict:mem_1",)),
        ("flagged:order,role", True, False, ("flagged:order,role", "conflict")),
    ],
)
def test_reasons_come_with_the_riskiest_first(stored, conflicts, supersedes, reasons):
    assert reasons_of(stored, conflicts=conflicts, supersedes=supersedes) == reasons


def test_an_unknown_reason_is_the_least_risky_but_shown():
    assert rank("something:else") > max(RANKS.values())
    assert risk("something:else") == "low"
    assert reasons_of("something:else", conflicts=False, supersedes=False) == ("something:else",)


def test_risk_falls_with_the_rank():
    risks = [risk(reason) for reason in sorted(RANKS, key=rank)]

    assert risks == sorted(risks, key=["high", "medium", "low"].index)
    assert {risk(r) for r in ("flagged:x", "conflict", "citation:missing", "secret")} == {"high"}


def test_a_queue_is_counted_by_words():
    assert word("flagged:a,b") == "flagged"
    assert word("new") == "new"
