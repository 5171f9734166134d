"""The maintained detector: what it adds to our own rules, and what it leaves alone."""

import os

import pytest

from benchmarks.credentials.benign import notes
from benchmarks.credentials.held_out import HELD_OUT
from benchmarks.credentials.kinds import Draw
from benchmarks.credentials.measure import found, share
from benchmarks.credentials.surroundings import samples
from codeflow_memory.adapters.detector import detect, is_present
from codeflow_memory.domain import secrets
from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.domain.memory import Content, Kind
from codeflow_memory.services import redaction

pytestmark = pytest.mark.skipif(not is_present(), reason="no package for this platform")

SEED = 20_261_206
UNKNOWN = "root" + "ly_" + Draw(SEED).hex(64)
"""A token that no rule of ours knows by its form."""


def own(text):
    return secrets.redact(text)[0]


@pytest.mark.parametrize("text", ["", "Run every test.", "a" * 16_384, "\u5bc6\u7801", "\n" * 99])
def test_nothing_is_found_where_nothing_is(text):
    assert list(detect(text)) == []


def test_each_place_of_a_value_is_found_in_code_points():
    text = f"\u5bc6 {UNKNOWN} und \U0001f511 {UNKNOWN}."

    found_at = [(start, end) for _, start, end in detect(text)]

    assert [text[start:end] for start, end in found_at] == [UNKNOWN, UNKNOWN]


def test_what_our_rules_do_not_know_is_replaced_all_the_same():
    text = f"The answer was {UNKNOWN} and we went on."

    assert own(text) == text
    assert redaction.redact(text) == "The answer was [redacted:credential] and we went on."
    assert [text[s.start : s.end] for s in redaction.find(text)] == [UNKNOWN]


def test_a_text_that_is_nothing_else_is_refused():
    with pytest.raises(InvalidRequestError, match="/body"):
        redaction.redact_content(Content(kind=Kind.FACT, title="A title", body=UNKNOWN))


def test_it_adds_to_what_our_rules_find():
    made = samples(SEED, HELD_OUT)

    assert share(found(made, redaction.redact)) >= share(found(made, own)) + 0.05


def test_it_leaves_notes_without_a_secret_alone():
    made = notes(SEED)

    touched = [note.text for note in made if redaction.redact(note.text) != note.text]

    assert len(touched) <= len(made) // 100, touched


def test_what_it_left_is_stable():
    for sample in samples(SEED, HELD_OUT)[::7]:
        once = redaction.redact(sample.text)

        assert redaction.redact(once) == once


def test_a_forked_process_does_without():
    assert list(detect(UNKNOWN))
    child = os.fork()
    if child == 0:
        os._exit(3 if is_present() or list(detect(UNKNOWN)) else 0)

    assert os.waitpid(child, 0)[1] == 0
