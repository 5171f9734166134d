"""Scores and their order."""

from math import fsum, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.ranking import (
    MAX_FREQUENCY,
    MAX_SEEDS,
    PATH_SHARE,
    PIVOT,
    RECENCY_HALF_LIFE,
    SHORT,
    Hit,
    best,
    inverse_frequency,
    lengths,
    matched,
    order,
    pack,
    raised,
    score,
    with_closeness,
    without_words,
)
from codeflow_memory.domain.terms import Form, Lookup, Query, QueryToken

ids = st.sampled_from([f"m{n}" for n in range(8)])
counts = st.integers(0, 9)
frequencies = st.tuples(counts, counts, counts).filter(any)


def token(text: str) -> QueryToken:
    return QueryToken(text, (Lookup(text, Form.EXACT, 1.0), Lookup(text, Form.STEM, 0.6)))


def query(*texts: str) -> Query:
    return Query(tuple(map(token, texts)), (), ())


def covering(worth: float) -> float:
    return worth / (worth + 0.5)


def saturating(body: int, characters: int = SHORT) -> float:
    return body / (body + 1.2 * characters / PIVOT)


@st.composite
def indexes(draw):
    keys = [(text, form) for text in ("a", "b", "c") for form in (Form.EXACT, Form.STEM)]
    return {
        key: [(m, pack(*tf)) for m, tf in draw(st.dictionaries(ids, frequencies)).items()]
        for key in keys
    }


def test_at_most_512_memories_are_seeds():
    assert MAX_SEEDS == 512


def test_a_score_is_idf_times_weighted_saturating_fields():
    postings = {
        ("a", Form.EXACT): [("m1", pack(1, 2, 3))],
        ("a", Form.STEM): [("m2", pack(0, 0, 1))],
    }

    found = score(query("a"), postings, 10, {})

    idf = log(1 + (10 - 2 + 0.5) / (2 + 0.5))
    assert found.rarity == (pytest.approx(idf),)
    assert found.totals["m1"] == pytest.approx(idf * covering(4 / 2.2 + 6 / 3.2 + saturating(3)))
    assert found.totals["m2"] == pytest.approx(idf * covering(0.6 * saturating(1)))


def test_a_token_counts_once_by_its_best_form_with_the_occurrences_of_all():
    """A stem's row has what the word's own row has; only the weight tells them apart."""
    postings = {
        ("a", Form.EXACT): [("m1", pack(0, 0, 1)), ("m2", pack(1, 0, 0))],
        ("a", Form.STEM): [("m1", pack(1, 0, 3)), ("m2", pack(1, 0, 0)), ("m3", pack(1, 0, 0))],
    }

    found = score(query("a"), postings, 3, {}).totals

    idf = log(1 + (3 - 3 + 0.5) / (3 + 0.5))
    assert found["m1"] == pytest.approx(idf * covering(4 / 2.2 + saturating(3)))
    assert found["m2"] == pytest.approx(idf * covering(4 / 2.2))
    assert found["m3"] == pytest.approx(idf * covering(0.6 * 4 / 2.2))


@pytest.mark.parametrize(("word", "part"), [(1, 2), (MAX_FREQUENCY, MAX_FREQUENCY)])
def test_a_word_and_the_same_word_within_names_add_up(word, part):
    lookups = (Lookup("a", Form.EXACT, 1.0), Lookup("a", Form.PART, 0.7))
    postings = {
        ("a", Form.EXACT): [("both", pack(0, 0, word))],
        ("a", Form.PART): [("both", pack(0, 0, part)), ("part", pack(0, 0, part))],
    }

    found = score(Query((QueryToken("a", lookups),), (), ()), postings, 2, {}).totals

    idf = log(1 + (2 - 2 + 0.5) / (2 + 0.5))
    assert found["both"] == pytest.approx(idf * covering(saturating(word + part)))
    assert found["part"] == pytest.approx(idf * covering(0.7 * saturating(part)))


@pytest.mark.parametrize("times", [1, 9, MAX_FREQUENCY])
def test_a_title_weighs_more_than_a_tag_and_a_tag_more_than_any_body(times):
    postings = {
        ("a", Form.EXACT): [("t", pack(1, 0, 0)), ("g", pack(0, 1, 0)), ("b", pack(0, 0, times))]
    }

    totals = score(query("a"), postings, 9, {}).totals

    assert totals["t"] > totals["g"] > totals["b"] > 0


def test_two_words_in_a_body_outweigh_one_of_them_in_a_title():
    """Without it, whichever of five words is in a title decides what the other four find."""
    postings = {
        (word, Form.EXACT): [("both", pack(0, 0, 1)), *others]
        for word, others in (("a", [("titled", pack(1, 0, 0))]), ("b", []))
    }

    totals = score(query("a", "b"), postings, 9, {}).totals

    assert totals["both"] > totals["titled"]


def test_a_body_counts_less_the_longer_its_entry_is_and_a_title_does_not():
    rows = [(m, pack(0, 0, 1)) for m in ("short", "middling", "long")]
    titled = [(m, pack(1, 0, 0)) for m in ("short", "long")]
    characters = {"short": SHORT, "middling": SHORT + 100, "long": 20 * PIVOT}
    long = lengths(characters)

    bodies = score(query("a"), {("a", Form.EXACT): rows}, 9, long).totals
    titles = score(query("a"), {("a", Form.EXACT): titled}, 9, long).totals

    assert long.keys() == {"middling", "long"}
    assert bodies["short"] > bodies["middling"] > bodies["long"] > 0
    assert titles["short"] == titles["long"]
    idf = log(1 + (9 - 3 + 0.5) / (3 + 0.5))
    assert bodies["long"] == pytest.approx(idf * covering(saturating(1, 20 * PIVOT)))
    assert bodies["short"] == pytest.approx(idf * covering(saturating(1)))


def test_what_others_write_moves_no_score_by_its_length():
    postings = {("a", Form.EXACT): [("m", pack(0, 0, 1)), ("other", pack(0, 0, 1))]}

    alone = score(query("a"), postings, 2, {}).totals["m"]

    assert score(query("a"), postings, 2, lengths({"other": 16_384})).totals["m"] == alone


@given(indexes(), st.permutations(["a", "b", "c"]))
def test_the_order_of_the_words_makes_no_difference(postings, words):
    found = score(query(*words), postings, 8, {})

    assert found.totals == score(query("a", "b", "c"), postings, 8, {}).totals
    assert [found.rarity[words.index(text)] for text in "abc"] == list(
        score(query("a", "b", "c"), postings, 8, {}).rarity
    )


@given(indexes())
def test_scores_are_positive_for_exactly_the_memories_that_have_a_term(postings):
    totals = score(query("a", "b"), postings, 8, {}).totals

    having = {m for (text, _), found in postings.items() if text in {"a", "b"} for m, _ in found}
    assert totals.keys() == having
    assert all(value > 0 for value in totals.values())


def test_a_rarer_term_is_worth_more():
    values = [inverse_frequency(having, 100) for having in range(101)]

    assert values == sorted(values, reverse=True)
    assert values[-1] > 0


@given(st.dictionaries(st.uuids().map(str), st.floats(0.001, 2), max_size=40), st.integers(1, 10))
def test_the_best_are_never_cut_off_before_their_order_is_known(scores, limit):
    """The cut alone gives what ordering everything would."""
    updated = dict.fromkeys(scores, 0)
    everything = {m: round(value, 6) for m, value in scores.items()}

    assert order(best(scores, limit), updated, limit) == order(everything, updated, limit)


def test_equal_scores_come_by_later_update_then_id():
    scores = {"c": 1.0, "b": 1.0, "a": 1.0, "z": 2.0}
    updated = {"a": 5, "b": 9, "c": 5, "z": 0}

    assert [hit.memory_id for hit in order(scores, updated, 9)] == ["z", "b", "a", "c"]


def test_scores_that_differ_in_the_seventh_decimal_are_equal():
    scores = best({"a": 1.00000001, "b": 1.00000002}, 1)

    assert order(scores, {"a": 2, "b": 1}, 1) == [Hit("a", 1.0)]


def test_memories_of_which_no_update_is_known_are_left_out():
    assert order({"a": 1.0, "b": 2.0}, {"a": 1}, 9) == [Hit("a", 1.0)]


@given(st.integers(0, MAX_FREQUENCY), st.integers(0, MAX_FREQUENCY), st.integers(0, MAX_FREQUENCY))
def test_packed_frequencies_keep_their_fields_apart(title, tag, body):
    postings = {("a", Form.EXACT): [("m", pack(title, tag, body))]}

    fields = matched(query("a"), postings, ["m"])["m"].get("a", [])

    present = zip(("title", "tags", "body"), (title, tag, body), strict=True)
    assert fields == [name for name, times in present if times]


def test_matched_names_terms_in_the_querys_order_for_the_asked_memories_only():
    postings = {
        ("b", Form.EXACT): [("m1", pack(1, 0, 0)), ("m2", pack(1, 0, 0))],
        ("b", Form.STEM): [("m1", pack(0, 0, 1))],
        ("a", Form.STEM): [("m1", pack(0, 1, 0))],
    }

    found = matched(query("b", "a", "c"), postings, ["m1", "m9"])

    assert found == {"m1": {"b": ["title", "body"], "a": ["tags"]}, "m9": {}}
    assert list(found["m1"]) == ["b", "a"]


def test_closeness_adds_its_share_of_the_top_score():
    assert with_closeness({"a": 10.0, "b": 1.0}, {"b": 1.0, "c": 0.5, "d": 0.0}) == {
        "a": 10.0,
        "b": 1.0 + PATH_SHARE * 10,
        "c": PATH_SHARE * 5,
    }
    assert with_closeness({}, {"c": 1.0}) == {"c": PATH_SHARE}


def test_gains_are_added():
    assert raised({"a": 1.0, "b": 2.0}, {"b": 0.5, "c": 3.0}) == {"a": 1.0, "b": 2.5, "c": 3.0}


def test_without_words_paths_come_before_trust_and_trust_before_recency():
    near = fsum(without_words(1.0, 0, 0, RECENCY_HALF_LIFE * 99))
    trusted = fsum(without_words(0.0, 10_000, 0, RECENCY_HALF_LIFE * 99))
    fresh = fsum(without_words(0.0, 0, 7, 7))
    older = fsum(without_words(0.0, 0, 7, 7 + RECENCY_HALF_LIFE))

    assert near > trusted > fresh > older > 0
    assert older == pytest.approx(fresh / 2)
