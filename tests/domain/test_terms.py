"""Terms of documents and queries."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeflow_memory.adapters.stems import SnowballStems
from codeflow_memory.domain import terms as terms_of
from codeflow_memory.domain.stop_words import STOP_WORDS
from codeflow_memory.domain.terms import (
    MAX_QUERY_TERMS,
    MAX_TERM_CHARACTERS,
    WEIGHT,
    Form,
    document_terms,
    query_terms,
)
from codeflow_memory.storage.words import UnicodeWords

WORDS = UnicodeWords()
STEMS = SnowballStems()

texts = st.text(
    alphabet=st.sampled_from("abceginrsuyABRU019_-./:' \n\u00e9\u00eb\u6570\u636e\u5e93\u30ab"),
    max_size=60,
)


def terms(body: str, title: str = "", tags: tuple[str, ...] = ()):
    return document_terms(title, tags, body, WORDS, STEMS)


def query(text: str, *, literal: bool = False):
    return query_terms(text, WORDS, STEMS, literal=literal)


def names(text: str, *, literal: bool = False) -> list[str]:
    return [token.text for token in query(text, literal=literal).tokens]


def weight(text: str, body: str, *, literal: bool = False) -> float:
    """The best weight by which a one-word query finds a document."""
    stored = terms(body)
    return max(
        (
            at.weight
            for token in query(text, literal=literal).tokens
            for at in token.lookups
            if (at.term, at.form) in stored
        ),
        default=0.0,
    )


@pytest.mark.parametrize(
    ("text", "body", "expected"),
    [
        ("connection", "a connection fails", 1.0),
        ("Connection", "a CONNECTION fails", 1.0),
        ("user", "call getUserById", 0.7),
        ("user", "call get_user_by_id", 0.7),
        ("py", "see login.py", 0.7),
        ("server", "HTTPServer", 0.7),
        ("cafe", "the caf\u00e9", 0.9),
        ("caf\u00e9", "the cafe", 0.9),
        ("connections", "it connected", 0.6),
        ("connections", "connect it", 0.6),
        ("connect", "connections", 0.6),
        ("users", "getUserById", 0.6),
        ("user", "findUsers", 0.6),
        ("\u6570\u636e", "\u4f7f\u7528\u6570\u636e\u5e93", 0.8),
        ("\u5e93", "\u4f7f\u7528\u6570\u636e\u5e93", 1.0),
        ("\u30c7\u30fc\u30bf", "\u30c7\u30fc\u30bf\u30d9\u30fc\u30b9", 0.8),
        ("src/auth/login.py", "in src/auth/login.py.", 1.0),
        ("apple", "banana", 0.0),
    ],
)
def test_each_form_is_found_with_its_weight(text, body, expected):
    assert weight(text, body) == expected


def test_a_form_weighs_what_the_contract_says():
    assert WEIGHT == {
        Form.EXACT: 1.0,
        Form.PART: 0.7,
        Form.PLAIN: 0.9,
        Form.STEM: 0.6,
        Form.PAIR: 0.8,
    }


@pytest.mark.parametrize(
    ("run", "pairs"),
    [
        ("数据库", ["数据", "据库"]),
        ("ひらがな", ["ひら", "らが", "がな"]),
        ("データ", ["デー", "ータ"]),
        ("ภาษา", ["ภา", "าษ", "ษา"]),
        ("ພາສາ", ["ພາ", "າສ", "ສາ"]),
        ("ភាសា", ["ភា", "ាស", "សា"]),
        ("မြန်", ["မြ", "ြန", "န်"]),
    ],
    ids=["Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"],
)
def test_a_script_without_spaces_is_stored_and_looked_for_by_overlapping_pairs(run, pairs):
    stored = [term for term, form in terms(f"the {run} ends") if form is Form.PAIR]

    assert sorted(stored) == sorted(pairs)
    assert names(run) == pairs
    assert weight(pairs[1], f"the {run} ends") == 0.8


def test_a_stem_is_not_found_through_a_word_that_only_looks_like_it():
    """``accident`` is the stem of ``accidental``, but the word has another: ``accid``."""
    assert STEMS.stem("accidentally") == STEMS.stem("accidental") == "accident"
    assert STEMS.stem("accident") == "accid"

    assert weight("accidentally", "accidental") == WEIGHT[Form.STEM]
    assert weight("accidentally", "accident") == 0.0


@settings(max_examples=60)
@given(texts, texts)
def test_a_word_finds_another_by_stem_exactly_when_their_stems_are_equal(one, other):
    """The rows that are not stored for economy change nothing of what is found."""
    first, second = (next(iter(WORDS.words(text)), "") for text in (one, other))
    first, second = WORDS.fold(first), WORDS.fold(second)
    if not (first.isascii() and second.isascii() and first.isalpha() and second.isalpha()):
        return
    if first in STOP_WORDS:
        return

    assert (weight(first, second) > 0) == (STEMS.stem(first) == STEMS.stem(second))


@settings(max_examples=60)
@given(texts)
def test_a_text_is_found_by_each_of_its_own_words(text):
    stored = terms(text)

    for token in query(text).tokens:
        assert any((at.term, at.form) in stored for at in token.lookups)
    for token in query(text, literal=True).tokens:
        assert [(token.text, Form.EXACT) in stored] == [True]


@settings(max_examples=60)
@given(texts, texts, texts)
def test_rows_hold_what_their_fields_hold(title, tag, body):
    rows = document_terms(title, [tag], body, WORDS, STEMS)

    assert all(1 <= len(term) <= MAX_TERM_CHARACTERS for term, _ in rows)
    assert all(any(times) and min(times) >= 0 for times in rows.values())
    for field, alone in ((0, (title, [], "")), (2, ("", [], body))):
        held = {key for key, times in rows.items() if times[field]}
        own = document_terms(*alone, WORDS, STEMS).keys()
        # A stem that another field brings counts the words that are that stem already.
        unchanged = {(term, Form.STEM) for term, form in own if form in {Form.EXACT, Form.PART}}
        assert own <= held <= own | unchanged


def test_occurrences_are_counted_by_field():
    rows = terms("Cache the cache; caches.", title="Cache", tags=("cache", "other"))

    assert rows[("cache", Form.EXACT)] == (1, 1, 2)
    assert rows[("cach", Form.STEM)] == (1, 1, 3)
    assert ("the", Form.EXACT) in rows


def test_a_derived_term_that_equals_its_word_is_not_stored_twice():
    assert terms("connect").keys() == {("connect", Form.EXACT)}
    assert terms("connect connects")[("connect", Form.STEM)] == (0, 0, 2)


@given(st.from_regex(r"[A-Z]?[a-z]{1,20}|[A-Z]", fullmatch=True))
def test_a_word_of_one_part_and_without_accents_has_no_rows_of_those(word):
    """What is spared for the common word: each of the longer ways leads to nothing."""
    assert terms_of._parts(word, WORDS) == []
    assert terms_of._simpler(word.lower(), WORDS, STEMS) == (
        word.lower(),
        STEMS.stem(word.lower()),
    )
    assert {form for _, form in terms(word)} <= {Form.EXACT, Form.STEM}


@pytest.mark.parametrize("name", ["_next", "__next__", "next_"])
def test_a_name_of_one_word_within_underscores_is_found_by_the_word(name):
    assert ("next", Form.PART) in terms(name)
    assert names(name) == [name, "next"]


def test_terms_longer_than_64_characters_are_left_out():
    long = "x" * 65

    assert terms(f"{long} ok").keys() == {("ok", Form.EXACT)}
    assert names(f"{long} ok") == ["ok"]


@pytest.mark.parametrize(
    "text", ['"token"', "token*", "NOT token", "-token", "(token", "token:", "'token'--"]
)
def test_operators_are_text(text):
    assert "token" in names(text)
    assert set(names(text)) <= {"token", "not"}


def test_stop_words_go_unless_there_is_nothing_else():
    assert names("the token of it") == ["token"]
    assert names("to be or not to be") == ["to", "be", "or", "not"]
    assert names("the token", literal=True) == ["the", "token"]


def test_a_literal_query_has_exact_forms_only():
    tokens = query("Connections getUserById \u6570\u636e", literal=True).tokens

    assert {at.form for token in tokens for at in token.lookups} == {Form.EXACT}
    assert [t.text for t in tokens] == ["connections", "getuserbyid", "\u6570", "\u636e"]


def test_at_most_32_terms_are_looked_for_and_the_others_reported():
    words = [f"word{chr(97 + i)}{chr(97 + j)}" for i in range(6) for j in range(6)]

    found = query(" ".join([*words, *words]))

    assert [token.text for token in found.tokens] == words[:MAX_QUERY_TERMS]
    assert list(found.dropped) == words[MAX_QUERY_TERMS:]


def test_adjacent_words_of_a_query_are_known_by_their_places():
    assert query("retry the queue, then retry").adjacent == ((0, 1), (1, 0))
    assert query("retry").adjacent == ()


def test_lookups_come_best_first_and_once():
    (token,) = query("connections").tokens

    keys = [(at.term, at.form) for at in token.lookups]
    assert len(keys) == len(set(keys))
    assert [at.weight for at in token.lookups] == sorted(
        (a.weight for a in token.lookups), reverse=True
    )


@pytest.mark.parametrize(
    "text",
    [
        "_" + "a" * 16_000,
        "a.b," * 4_000,
        "\u00e9" * 16_000,
        "aB" * 8_000,
        "\u6570" * 16_000,
        "-a" * 8_000,
    ],
)
def test_no_text_of_an_entry_is_slow_to_index(text):
    """Each took under 50 ms; a pattern that goes back would take minutes."""
    assert len(terms(text)) < 20
