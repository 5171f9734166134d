"""Marks: a quicker way to the answer that searching for each of them gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain import scan_rules, secret_forms, secret_rules
from codeflow_memory.domain.marks import Marks

CATALOGUES = {
    "issued": [rule.marks for rule in secret_rules.RULES],
    "surroundings": [form.marks for form in secret_forms._FORMS],
    "orders": [rule.marks for rule in scan_rules.RULES],
    "orders beside": [rule.also for rule in scan_rules.RULES if rule.also],
}


def one_by_one(rows, text):
    return [at for at, marks in enumerate(rows) if any(mark in text for mark in marks)]


@pytest.mark.parametrize("rows", CATALOGUES.values(), ids=CATALOGUES)
def test_each_mark_of_a_catalogue_leads_to_its_rows(rows):
    marks = Marks(rows)

    for mark in {mark for row in rows for mark in row}:
        for text in (mark, f"words before {mark} and after"):
            assert marks.rows(text) == one_by_one(rows, text)


@given(
    st.lists(st.lists(st.text("ab_.1\u5bc6", min_size=1, max_size=3), min_size=1), max_size=8),
    st.text("ab_.1\u5bc6", max_size=12),
)
def test_the_rows_of_a_text_are_those_that_searching_for_each_mark_finds(rows, text):
    assert Marks(rows).rows(text) == one_by_one(rows, text)


@pytest.mark.parametrize("rules", [secret_rules.RULES, scan_rules.RULES], ids=["issued", "orders"])
def test_each_row_of_a_catalogue_has_a_pattern_that_can_be_compiled(rules):
    """Nothing compiles them before a text has their marks."""
    assert all(rule.pattern.pattern == rule.expression for rule in rules)
