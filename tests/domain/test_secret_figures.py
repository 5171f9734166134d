"""How many secrets the product's own rules find, plain and disguised, and which notes they leave.

The maintained detector is not asked: what is promised holds where it is not installed.
"""

import json

import pytest

from benchmarks.credentials.benign import ANCHORS, SENTENCES, notes
from benchmarks.credentials.disguises import DISGUISES
from benchmarks.credentials.held_out import HELD_OUT
from benchmarks.credentials.kinds import Draw
from benchmarks.credentials.measure import found, found_disguised, remains, share
from benchmarks.credentials.surroundings import samples
from codeflow_memory.domain.secrets import find, redact

SEED = 20_261_204
EACH = 6
"""Samples of each kind that are disguised."""


def redacted(text):
    return redact(text)[0]


@pytest.fixture(scope="module")
def made():
    return samples(SEED)


@pytest.fixture(scope="module")
def few(made):
    by_kind = {}
    for sample in made:
        by_kind.setdefault(sample.kind, []).append(sample)
    return [sample for several in by_kind.values() for sample in several[:EACH]]


@pytest.mark.parametrize("nothing", [lambda text: text, lambda text: text.replace("a", "b")])
def test_a_redaction_that_leaves_secrets_finds_none(few, nothing):
    assert share(found(few, nothing)) < 0.2
    assert all(remains(sample.text, sample.secret, sample.form) for sample in few)


def test_secrets_of_at_least_sixty_kinds_are_found(made):
    by_kind = found(made, redacted)

    assert len(by_kind) >= 120
    assert share(by_kind) >= 0.98
    assert [kind for kind, hits in by_kind.items() if share({kind: hits}) < 0.8] == []


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_disguise_saves_few_of_them(few, disguise):
    assert share(found_disguised(few, disguise, redacted)) >= 0.85


def test_of_kinds_and_forms_that_no_rule_was_written_for_most_are_found():
    assert share(found(samples(SEED, HELD_OUT), redacted)) >= 0.55


def test_of_a_thousand_notes_without_a_secret_hardly_one_is_touched():
    made = notes(SEED)

    touched = [note.text for note in made if redacted(note.text) != note.text]

    assert len(made) >= 1_000
    assert len(touched) <= len(made) // 200, touched


@pytest.mark.parametrize("anchor", ANCHORS)
def test_an_anchor_survives_in_every_sentence(anchor):
    draw = Draw(SEED)
    for sentence in SENTENCES:
        text = sentence.replace("{}", ANCHORS[anchor](draw))

        assert redacted(text) == text


def test_a_lock_file_survives():
    draw = Draw(SEED)
    lines = [
        line
        for number in range(40)
        for line in (
            f"package-{number}==1.{number}.0 \\",
            f"    --hash=sha256:{draw.hex(64)} \\",
            f"    --hash=sha256:{draw.hex(64)}",
        )
    ]
    entries = {f"node_modules/p{n}": {"integrity": f"sha512-{draw.bytes64(64)}"} for n in range(40)}
    for text in ("\n".join(lines), json.dumps(entries, indent=2)):
        assert redacted(text) == text


def test_wrapped_data_in_base64_survives():
    draw = Draw(SEED)
    data = draw.bytes64(3_000)
    text = "\n".join(data[at : at + 76] for at in range(0, len(data), 76))

    assert redacted(f"The fixture:\n\n{text}\n") == f"The fixture:\n\n{text}\n"


def test_what_follows_a_secret_on_the_next_line_stays():
    token = "np" + "m_" + Draw(SEED)(36)

    for behind in ("After it comes prose.", "handler_v2 is next", "2026-03-01 is the date"):
        assert redacted(f"Use {token}\n{behind}") == f"Use [redacted:npm-token]\n{behind}"


UNITS = (
    *("a1", "aB3 ", "a\n", "a1B2\n", "%41", "%41\n", "&#65;", "\\x41", "\\u0041", "&amp;", "a b "),
    *("password ", "token ", "\u5bc6\u7801", "secret_key", '"a" + "b"', "',\n'", '", "a1', "\\\n"),
    *("passwd: a1\n", "x=password&", "cookie: a=b; ", "login -p ", "mysql -p", "echo a |", "Zm9v"),
    *("Z2hwXw", "6768705f", "ghp_A1b2\n", "=", "?a=", "psk=", "as the password ", "\u00a0a"),
)


@pytest.mark.parametrize("unit", UNITS)
def test_four_times_the_text_takes_no_sixteen_times_as_long(unit, least_seconds):
    short = (unit * 4_096)[:4_096]
    long = (unit * 16_384)[:16_384]
    find(long)

    assert least_seconds(lambda: find(long)) < 10 * least_seconds(lambda: find(short)) + 0.01
