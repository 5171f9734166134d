"""Adjacent words of a query, found adjacent in a text."""

import pytest

from codeflow_memory.adapters.stems import SnowballStems
from codeflow_memory.domain.adjacency import BONUS, DEPTH, bonuses
from codeflow_memory.domain.terms import query_terms
from codeflow_memory.storage.words import UnicodeWords

WORDS = UnicodeWords()
STEMS = SnowballStems()


def gain(text: str, *fields: str, literal: bool = False) -> float:
    query = query_terms(text, WORDS, STEMS, literal=literal)
    rarity = [0.5] * len(query.tokens)
    found = bonuses(query, rarity, {"m": fields}, WORDS, None if literal else STEMS)
    return round(found.get("m", 0.0) / BONUS, 6)


def test_the_texts_of_the_best_50_are_read():
    assert DEPTH == 50


@pytest.mark.parametrize(
    ("query", "text", "pairs"),
    [
        ("retry queue", "the retry queue is slow", 1),
        ("retry queue", "Retry, QUEUE!", 1),
        ("retry queue", "retries of the queues", 1),
        ("retry queue", "queue retry", 0),
        ("retry queue", "retry the slow queue", 0),
        ("retry queue", "xretry queue, retry queuex", 0),
        ("retry queue", "retry retry queue", 1),
        ("retry of the queue", "retry queue", 1),
        ("retry queue size", "retry queue size", 2),
        ("happy path", "happiness path", 1),
        ("run tests", "runtime tests", 0),
        ("retry", "retry retry", 0),
        ("naïve café", "a NAÏVE CAFÉ", 1),
    ],
)
def test_pairs_are_found_by_stem_over_stop_words(query, text, pairs):
    assert gain(query, "", text) == pairs


@pytest.mark.parametrize(
    ("query", "text", "pairs"),
    [
        ("the queue", "the queue", 1),
        ("retry queue", "retry queues", 0),
        ("retry queue", "retry the queue", 0),
    ],
)
def test_a_literal_search_wants_the_same_words(query, text, pairs):
    assert gain(query, "", text, literal=True) == pairs


def test_a_pair_of_rare_words_is_worth_more():
    query = query_terms("retry queue size", WORDS, STEMS, literal=False)
    texts = {"first": ("retry queue",), "second": ("queue size",), "both": ("retry queue size",)}

    found = bonuses(query, [5.0, 2.0, 1.0], texts, WORDS, STEMS)

    assert found == pytest.approx({"first": 0.3 * 7, "second": 0.3 * 3, "both": 0.3 * 10})


def test_the_end_of_one_field_is_not_beside_the_start_of_the_next():
    assert gain("retry queue", "retry", "queue") == 0
    assert gain("retry queue", "retry queue", "") == 1


def test_nothing_is_gained_without_adjacent_words():
    assert gain("queue", "queue", "queue") == 0


def test_a_text_of_one_word_costs_no_more_than_another():
    assert gain("a1 b1", "a1 " * 5_000 + "b1", literal=True) == 0
    assert gain("a1 b1", "a1 b1 " * 2_000, literal=True) == 1
