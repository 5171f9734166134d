"""Many statements at once give what they give one by one, on each engine."""

import pytest

from codeflow_memory.domain.terms import Form
from codeflow_memory.storage import bulk, terms

FIND = """
SELECT term, title_tf + CAST(:more AS INTEGER)
  FROM memory_terms
 WHERE scope_id = :scope_id
   AND term = :term
 ORDER BY term, memory_id
 LIMIT :limit
"""
WORDS = ("caf\u00e9", "it's", "100%", "a::b", ":term", "\u6570\u636e", "\\u0041")


@pytest.fixture
def indexed(tx):
    """Two memories with every word, in the order of neither their ids nor their words."""
    for memory_id in ("b", "a"):
        terms.insert(tx, 1, memory_id, {(word, Form.EXACT): (1, 0, 2) for word in WORDS})
    return tx


def asked(*words: str, limit: int = 9) -> list[dict[str, object]]:
    return [{"scope_id": 1, "term": word, "more": 5, "limit": limit} for word in words]


@pytest.mark.parametrize(
    "words", [(), WORDS[:1], WORDS, ("none", "caf\u00e9", "none", "caf\u00e9")]
)
def test_the_rows_of_each_are_those_that_it_finds_alone(indexed, words):
    assert indexed.each(FIND, asked(*words)) == [indexed.rows(FIND, one) for one in asked(*words)]


def test_a_limit_holds_for_each_and_not_for_all(indexed):
    assert indexed.each(FIND, asked(*WORDS, limit=1)) == [[(word, 6)] for word in WORDS]


def test_parameters_of_unlike_or_no_type_are_asked_one_by_one(indexed):
    given = [*asked("it's"), asked("it's")[0] | {"more": None}]

    assert indexed.each(FIND, given) == [[("it's", 6)] * 2, [("it's", None)] * 2]


def test_what_many_inserts_wrote_many_deletes_take_back(indexed):
    terms.delete(indexed, 1, "a")

    assert indexed.rows("SELECT DISTINCT memory_id FROM memory_terms") == [("b",)]
    assert indexed.value("SELECT COUNT(*) FROM memory_terms") == len(WORDS)


def test_of_inserts_of_which_one_fails_none_is_written(indexed, constraint_error):
    before = indexed.value("SELECT COUNT(*) FROM memory_terms")

    with pytest.raises(constraint_error), indexed.attempt():
        terms.insert(indexed, 1, "a", {(word, Form.EXACT): (1, 0, 0) for word in ("new", *WORDS)})

    assert indexed.value("SELECT COUNT(*) FROM memory_terms") == before


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO a (b) VALUES (:b) ON CONFLICT DO NOTHING",
        "INSERT INTO a (b) SELECT :b",
        "INSERT INTO a (b) VALUES (COALESCE(:b, 1))",
        "UPDATE a SET b = :b",
        "DELETE FROM a WHERE EXISTS (SELECT 1 FROM c WHERE c.b = :b)",
    ],
)
def test_only_plain_inserts_and_deletes_are_put_together(sql):
    assert bulk.of(sql, [{"b": 1}, {"b": 2}], bulk.writing) is None


@pytest.mark.parametrize(
    "values", [[1], [], [1, "a"], [None, None], [b"a", b"b"], [True, False]], ids=str
)
def test_one_alone_and_what_json_has_no_type_for_are_not_put_together(values):
    assert (
        bulk.of("INSERT INTO a (b) VALUES (:b)", [{"b": v} for v in values], bulk.writing) is None
    )


def test_the_values_are_no_part_of_the_statement():
    given = ([{"b": "'; --"}, {"b": other}] for other in ("y", "z"))
    first, second = (bulk.of("DELETE FROM a WHERE b = :b", rows, bulk.writing) for rows in given)

    assert first is not None
    assert second is not None
    assert first.statement == second.statement
    assert b"--" not in first.statement
