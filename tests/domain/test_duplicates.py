import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.duplicates import (
    NEAR,
    family,
    overlap,
    text_key,
    trigrams,
)
from codeflow_memory.domain.memory import Kind


def similarity(a, b):
    return overlap(trigrams(a), trigrams(b))


def test_a_trace_is_compared_with_nothing():
    assert family(Kind.TRACE) is None


def test_every_kind_but_a_trace_has_a_family():
    assert {kind for kind in Kind if family(kind) is None} == {Kind.TRACE}


def test_kinds_like_guidance_are_compared_together_and_layers_apart():
    alike = {family(kind) for kind in Kind} - {None}

    assert family(Kind.FACT) == family(Kind.GUIDANCE) == family(Kind.TEMPORAL)
    assert alike == {"guidance", "policy", "world_model", "skill"}


def test_case_space_and_compatibility_forms_make_no_difference():
    assert text_key("A  Title", "One\n\n two ") == text_key("a title", "one two")
    assert text_key("Ｆｕｌｌ", "ﬁne") == text_key("full", "fine")  # noqa: RUF001 - full width
    assert text_key("Straße", "x") == text_key("STRASSE", "x")


def test_where_the_title_ends_makes_a_difference():
    assert text_key("a b", "c") != text_key("a", "b c")


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("I like tea", "I like tee", 0.778),
        ("Deploy on port 8080", "Deploy on port 8081", 0.889),
        ("My name is Ada", "My name is Bob", 0.6),
        ("ab", "abc", 0.0),
        ("", "", 1.0),
    ],
)
def test_similarities_are_those_measured_in_flowly(a, b, expected):
    assert similarity(a, b) == pytest.approx(expected, abs=0.001)
    assert (similarity(a, b) >= NEAR) is (expected >= 0.75)


@given(st.text(max_size=40), st.text(max_size=40))
def test_similarity_is_symmetric_and_bounded(a, b):
    assert similarity(a, b) == similarity(b, a)
    assert 0 <= similarity(a, b) <= 1
    assert similarity(a, a) == 1


@given(st.text(max_size=40))
def test_folding_is_done_once_for_all(text):
    assert similarity(text, text.upper().lower().upper()) <= 1
    assert text_key(text_key(text, "").strip(), "") == text_key(text, "")
