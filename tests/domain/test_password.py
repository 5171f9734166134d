import pytest

from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.domain.password import MAX_BYTES, MIN_CHARACTERS, canonical, parse_new_password


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x" * (MIN_CHARACTERS - 1),
        "e\u0301" * (MIN_CHARACTERS - 1),
        "x" * (MAX_BYTES + 1),
        "é" * (MAX_BYTES // 2 + 1),
        "a long enough one \ud800",
    ],
    ids=["empty", "short", "short-composed", "long", "long-bytes", "no-encoding"],
)
def test_a_password_that_is_too_short_too_long_or_no_text_is_refused_without_being_told(text):
    with pytest.raises(InvalidRequestError) as refusal:
        parse_new_password("/password", text)

    assert [fault.pointer for fault in refusal.value.faults] == ["/password"]
    assert len(text) < 2 or text not in str(refusal.value)


@pytest.mark.parametrize(
    "text",
    [
        "x" * MIN_CHARACTERS,
        "x" * MAX_BYTES,
        "记忆" * 6,
        " spaces at both ends ",
        "line\nbreak\ttab.",
    ],
)
def test_length_is_all_that_is_asked_for(text):
    assert parse_new_password("/password", text) == text.encode()


def test_one_password_is_the_same_from_every_keyboard():
    assert canonical("cafe\u0301 au lait") == canonical("caf\u00e9 au lait")


@pytest.mark.parametrize("text", ["x" * (MAX_BYTES + 1), "\udfff"])
def test_what_can_be_no_password_has_no_canonical_form(text):
    assert canonical(text) is None
