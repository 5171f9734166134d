"""The keyword index."""

from codeflow_memory.adapters.stems import SnowballStems
from codeflow_memory.domain.ranking import MAX_FREQUENCY, pack
from codeflow_memory.domain.terms import Form, document_terms, query_terms
from codeflow_memory.storage import terms
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.words import UnicodeWords

WORDS = UnicodeWords()
STEMS = SnowballStems()


def add(tx: Transaction, scope_id: int, memory_id: str, body: str) -> None:
    terms.insert(tx, scope_id, memory_id, document_terms("", (), body, WORDS, STEMS))


def find(tx: Transaction, scopes: list[int], text: str):
    return terms.find(tx, scopes, query_terms(text, WORDS, STEMS, literal=False))


def test_nothing_of_another_scope_is_found(tx):
    add(tx, 1, "mine", "queue")
    add(tx, 2, "theirs", "queue")

    assert find(tx, [1, 3], "queue") == {("queue", Form.EXACT): [("mine", pack(0, 0, 1))]}
    assert find(tx, [], "queue") == {}


def test_a_deleted_memory_leaves_no_row_and_others_stay(tx):
    add(tx, 1, "a", "retries of the queue: getUserById caf\u00e9 \u6570\u636e\u5e93")
    add(tx, 1, "b", "queue")

    terms.delete(tx, 1, "a")

    assert tx.rows("SELECT memory_id FROM memory_terms") == [("b",)]
    assert tx.rows("SELECT memory_id FROM memory_term_lists") == [("b",)]
    terms.delete(tx, 1, "never there")


def test_the_stored_rows_are_those_of_the_document(tx):
    rows = document_terms("Retry", ["net"], "retries, retry", WORDS, STEMS)

    terms.insert(tx, 1, "a", rows)

    stored = tx.rows(
        "SELECT term, form, title_tf, tag_tf, body_tf FROM memory_terms WHERE scope_id = 1"
    )
    assert {(term, form): tuple(tf) for term, form, *tf in stored} == rows


def test_a_frequency_beyond_what_can_be_packed_is_the_greatest_that_can(tx):
    terms.insert(tx, 1, "a", {("x", Form.EXACT): (0, 0, MAX_FREQUENCY + 5)})

    assert find(tx, [1], "x") == {("x", Form.EXACT): [("a", MAX_FREQUENCY)]}


def test_a_lookup_is_a_search_of_the_key_from_its_scope_on(asked, plan):
    """Never a scan, so that time tells nothing of other scopes."""
    find(asked, [1], "12")

    steps = plan(*asked.statements[0])

    assert steps.startswith("SEARCH memory_terms USING ")
    assert steps.endswith("(scope_id=? AND term=? AND form=?)")
