"""Whether a text that nearly repeats another changes what it means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.corrections import corrects

WORDS = st.sampled_from(["deploy", "the", "server", "at", "noon", "and", "then", "rest"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Keys rotate every 30 days.", "Keys rotate every 90 days."),
        ("The build takes 3 minutes.", "The build takes three minutes."),
        ("Use version 1.2.3 of it.", "Use version 1.2.4 of it."),
        ("Retry the request.", "Never retry the request."),
        ("You should squash it.", "You shouldn't squash it."),
        ("Commit with a message.", "Commit without a message."),
        ("Read src/a.py first.", "Read src/b.py first."),
        ("Ask Ada about it.", "Ask Bob about it."),
        ("Redis holds the sessions.", "Postgres holds the sessions."),
        ("Call getUser there.", "Call setUser there."),
        ("Mail to a@example.org.", "Mail to b@example.org."),
        ("提交前要运行测试", "提交前不要运行测试"),
    ],
)
def test_a_number_name_negation_path_or_version_tells(old, new):
    assert corrects(new, old)
    assert corrects(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I like tea", "I like tee"),
        ("Run the suite before each release.", "run the suite before every release"),
        ("The tests need git to run.", "The tests need git to run here."),
        ("Ask Ada about the keys.", "about the keys ask ADA"),
    ],
)
def test_other_words_are_a_paraphrase(old, new):
    assert not corrects(new, old)


@given(st.lists(WORDS, min_size=1).map(" ".join), st.lists(WORDS, min_size=1).map(" ".join))
def test_plain_words_alone_never_tell(one, other):
    assert not corrects(one, other)


@given(st.text(max_size=200), st.text(max_size=200))
def test_it_is_symmetrical_and_no_text_corrects_itself(one, other):
    assert corrects(one, other) == corrects(other, one)
    assert not corrects(one, one)
